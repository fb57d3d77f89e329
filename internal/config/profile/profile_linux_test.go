package profile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"wiebelt/internal/filetrust"
	"wiebelt/internal/testutil/must"
)

func checkModes(t *testing.T, d Dirs) {
	t.Helper()
	for _, dir := range []string{d.Config, d.State, d.Run} {
		info := must.Get(os.Stat(dir))(t)
		if info.Mode().Perm() != 0o700 {
			t.Errorf("%s has mode %o", dir, info.Mode().Perm())
		}
	}
}

// TestPlatformDirs: every program of a user, cron jobs included, finds the same runtime
// folder, and none uses another user's.
func TestPlatformDirs(t *testing.T) {
	run, others := t.TempDir(), "/"
	if os.Getuid() == 0 {
		others = t.TempDir()
		must.Do(t, os.Chown(others, 65534, -1))
	}
	before := runtimeRoot
	t.Cleanup(func() { runtimeRoot = before })
	runtimeRoot = t.TempDir()
	made := filepath.Join(runtimeRoot, strconv.Itoa(os.Getuid()))
	for _, c := range []struct {
		name     string
		env      map[string]string
		loggedOn bool
		want     Dirs
		err      error
	}{
		{"nothing but home", map[string]string{"HOME": "/h"}, false, Dirs{"/h/.config/wiebelt", "/h/.local/state/wiebelt", "/h/.local/state/wiebelt/run"}, nil},
		{"all set", map[string]string{"HOME": "/h", "XDG_CONFIG_HOME": "/c", "XDG_STATE_HOME": "/s", "XDG_RUNTIME_DIR": run}, true, Dirs{"/c/wiebelt", "/s/wiebelt", run + "/wiebelt"}, nil},
		{"relative is unset", map[string]string{"HOME": "/h", "XDG_CONFIG_HOME": "c", "XDG_STATE_HOME": "s", "XDG_RUNTIME_DIR": "."}, false, Dirs{"/h/.config/wiebelt", "/h/.local/state/wiebelt", "/h/.local/state/wiebelt/run"}, nil},
		{"runtime folder gone", map[string]string{"HOME": "/h", "XDG_RUNTIME_DIR": run + "/gone"}, false, Dirs{"/h/.config/wiebelt", "/h/.local/state/wiebelt", "/h/.local/state/wiebelt/run"}, nil},
		{"runtime folder is none", map[string]string{"HOME": "/h", "XDG_RUNTIME_DIR": "/dev/null"}, false, Dirs{"/h/.config/wiebelt", "/h/.local/state/wiebelt", "/h/.local/state/wiebelt/run"}, nil},
		{"no home, but all set", map[string]string{"XDG_CONFIG_HOME": "/c", "XDG_STATE_HOME": "/s"}, false, Dirs{"/c/wiebelt", "/s/wiebelt", "/s/wiebelt/run"}, nil},
		{"a cron job", map[string]string{"HOME": "/h"}, true, Dirs{"/h/.config/wiebelt", "/h/.local/state/wiebelt", made + "/wiebelt"}, nil},
		{"from another user's session", map[string]string{"HOME": "/h", "XDG_RUNTIME_DIR": others}, true, Dirs{"/h/.config/wiebelt", "/h/.local/state/wiebelt", made + "/wiebelt"}, nil},
		{"and not logged on", map[string]string{"HOME": "/h", "XDG_RUNTIME_DIR": others}, false, Dirs{"/h/.config/wiebelt", "/h/.local/state/wiebelt", "/h/.local/state/wiebelt/run"}, nil},
		{"no home", map[string]string{}, true, Dirs{}, ErrNoHome},
		{"half a home", map[string]string{"XDG_CONFIG_HOME": "/c"}, true, Dirs{}, ErrNoHome},
	} {
		must.Do(t, os.RemoveAll(made))
		if c.loggedOn {
			must.Do(t, os.Mkdir(made, 0o700))
		}
		got, err := platformDirs(func(k string) string { return c.env[k] })
		if got != c.want || !errors.Is(err, c.err) {
			t.Errorf("%s: %+v, %v", c.name, got, err)
		}
	}
}

// TestPlanted checks that nothing somebody else could have created is trusted.
func TestPlanted(t *testing.T) {
	root := t.TempDir()
	must.Do(t, os.Symlink(t.TempDir(), filepath.Join(root, "run")))
	d := must.Get(Find(root))(t)
	if err := d.Make(); !errors.Is(err, filetrust.ErrUntrusted) {
		t.Errorf("Make: %v", err)
	}
}

// TestLockWaits: Lock waits while another part of the program holds the lock.
func TestLockWaits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	release := must.Get(Lock(path))(t)
	locked := make(chan error, 1)
	go func() {
		again, err := Lock(path)
		if err == nil {
			again()
		}
		locked <- err
	}()
	waiter := regexp.MustCompile(fmt.Sprintf(`-> FLOCK +ADVISORY +WRITE %d `, os.Getpid()))
	must.Soon(t, func() (bool, any) {
		if len(locked) > 0 {
			t.Fatal("it does not wait: ", <-locked)
		}
		waiting := must.Get(os.ReadFile("/proc/locks"))(t)
		return waiter.Match(waiting), "nobody who waits"
	})
	release()
	must.Do(t, <-locked)
}
