//go:build linux

package settings

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"wiebelt/internal/testutil/must"
)

func pipe(path string) error { return syscall.Mkfifo(path, 0o600) }

func linkNowhere(path string) error { return os.Symlink("/nowhere", path) }

func TestSetThroughALink(t *testing.T) {
	real := filepath.Join(t.TempDir(), "mine.toml")
	must.Do(t, os.WriteFile(real, []byte("[ui]\n"), 0o640))
	d := dirs(t, "")
	must.Do(t, os.Symlink(real, Path(d)))
	must.Do(t, Set(d, map[string]any{"ui.theme": "dark"}))
	if got := read(t, real); got != "[ui]\ntheme = \"dark\"\n" {
		t.Errorf("%q", got)
	}
	if info, _ := os.Lstat(Path(d)); info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link is gone")
	}
}

// TestFingerprintOfWhatCounts checks that a policy whose owner becomes an
// administrator counts from then on, although neither its time nor its size
// changes, and that a file that the settings name may appear after them.
func TestFingerprintOfWhatCounts(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Fatal("only root owns what an administrator owns; run this test as root")
	}
	d, dir := dirs(t, ""), t.TempDir()
	path, ca := filepath.Join(dir, PolicyFile), filepath.Join(dir, "ca.pem")
	before := policyPath
	t.Cleanup(func() { policyPath = before })
	policyPath = func() string { return path }
	must.Do(t, os.WriteFile(path, []byte("[ui]\n"), 0o644), os.Chown(path, 65534, -1))
	print := Fingerprint(d, ca)
	for name, change := range map[string]func() error{
		"an owner": func() error { return os.Chown(path, 0, -1) },
		"a file":   func() error { return os.WriteFile(ca, nil, 0o600) },
	} {
		must.Do(t, change())
		if now := Fingerprint(d, ca); now == print {
			t.Errorf("%s: nothing is seen of it", name)
		} else {
			print = now
		}
	}
}
