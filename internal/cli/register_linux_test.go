package cli

import (
	"errors"
	"maps"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"wiebelt/internal/instance"
	"wiebelt/internal/native/register"
	"wiebelt/internal/testutil/instancetest"
	"wiebelt/internal/testutil/must"
)

// desktop is a user's folder that is empty, with the desktop's variables set.
func desktop(t *testing.T) (home, profile string) {
	t.Helper()
	home = t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_DATA_HOME", filepath.Join(home, "share"))
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(home, "config"))
	t.Setenv("XDG_DATA_DIRS", filepath.Join(home, "system"))
	return home, filepath.Join(home, "profile")
}

// TestUnregister: what register wrote is gone, the list of defaults too where
// nothing else stands in it, and it is said.
func TestUnregister(t *testing.T) {
	home, profile := desktop(t)
	for _, others := range []string{"", "[Default Applications]\ntext/html=firefox.desktop;\n"} {
		list := filepath.Join(home, "config", "mimeapps.list")
		if others != "" {
			must.Do(t, os.WriteFile(list, []byte(others), 0o644))
		}
		for _, command := range []string{"register", "unregister"} {
			if exits(t, 0, "", command, "--profile", profile).out == "" {
				t.Fatalf("%s: nothing is said", command)
			}
		}
		if b, _ := os.ReadFile(list); string(b) != others {
			t.Errorf("of %q is left %q", others, b)
		}
		if _, err := os.Stat(list); (err == nil) != (others != "") {
			t.Errorf("the list: %v", err)
		}
	}
}

// TestForgetEverything: nothing of a user's Wiebelt is left, and nothing of others is
// touched; not while it runs, and not for a folder that somebody named.
func TestForgetEverything(t *testing.T) {
	home, profile := desktop(t)
	run := t.TempDir()
	t.Setenv("XDG_STATE_HOME", "")
	t.Setenv("XDG_RUNTIME_DIR", run)
	config := filepath.Join(home, "config")
	for name, body := range map[string]string{"mimeapps.list": "[Default Applications]\ntext/html=firefox.desktop;\n", "other.toml": "x"} {
		must.Do(t, errors.Join(os.MkdirAll(config, 0o755), os.WriteFile(filepath.Join(config, name), []byte(body), 0o600)))
	}
	before := snapshot(t, home)
	for _, args := range [][]string{{"register"}, {"provision", "--base-url", "https://hub.example", "--hub-url", "https://hub.example", "--client-id", "a",
		"--organisation-code", "1", "--secret-store", "file", "--secret-stdin"}} {
		exits(t, 0, "a secret", args...)
	}
	if len(snapshot(t, home)) < len(before)+5 {
		t.Fatal("there is nothing to forget")
	}
	stop := instancetest.Serve(t, instance.Config{RunDir: filepath.Join(run, "wiebelt")}, nil)
	if s := exits(t, 1, "", "forget", "--everything"); s.out != "" {
		t.Errorf("while it runs: %s", s.out)
	}
	stop()
	exits(t, 2, "", "forget", "--everything", "--profile", profile)
	exits(t, 0, "", "forget", "--everything").says(filepath.Join(config, "wiebelt"))
	if after := snapshot(t, home); !maps.Equal(after, before) {
		t.Errorf("left %v of %v", after, before)
	}
}

// TestForgetEverythingInTheVault: what the vault may have of a user is not left in
// silence, whichever store the settings name now.
func TestForgetEverythingInTheVault(t *testing.T) {
	home, _ := desktop(t)
	t.Setenv("XDG_STATE_HOME", "")
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	exits(t, 0, "a secret", "provision", "--base-url", "https://hub.example", "--client-id", "a", "--secret-store", "file", "--secret-stdin").hides("relay")
	silent := must.Get(net.Listen("unix", filepath.Join(home, "bus")))(t)
	defer silent.Close()
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path="+silent.Addr().String())
	exits(t, 1, "", "forget", "--everything").says("secret-tool clear service ")
}

// TestForgetUser: an administrator deletes another user's Wiebelt, the start at
// log-on and the link too; where that user put a link to somewhere else in the
// way, nothing there is touched.
func TestForgetUser(t *testing.T) {
	home, _ := desktop(t)
	t.Setenv("XDG_DATA_HOME", "")
	t.Setenv("XDG_CONFIG_HOME", "")
	exits(t, 0, "", "register", "--profile", filepath.Join(home, "p"))
	outside := filepath.Join(t.TempDir(), "autostart")
	must.Do(t, os.Rename(filepath.Join(home, ".config", "autostart"), outside))
	must.Do(t, os.Symlink(outside, filepath.Join(home, ".config", "autostart")))
	root := must.Get(os.OpenRoot(home))(t)
	defer root.Close()
	deleted, err := register.ForgetIn(root)
	if err == nil || len(deleted) < 9 {
		t.Errorf("%v, deleted %v", err, deleted)
	}
	if _, err := os.Stat(filepath.Join(outside, "wiebelt.desktop")); err != nil {
		t.Error("a file outside is gone")
	}
	for _, name := range []string{".config/mimeapps.list", ".local/share/applications/wiebelt-link.desktop", ".local/share/mime/packages/wiebelt.xml"} {
		if _, err := os.Lstat(filepath.Join(home, name)); err == nil {
			t.Errorf("%s is left", name)
		}
	}
}

// TestForgetUserWhoRuns: a Wiebelt that runs would make anew what is deleted; what a user
// put in the place of its lock holds nobody up.
func TestForgetUserWhoRuns(t *testing.T) {
	home := t.TempDir()
	folders := []userFolder{{home, "gone"}, {home, "state/wiebelt"}}
	run := filepath.Join(home, "state", "wiebelt", "run")
	stop := instancetest.Serve(t, instance.Config{RunDir: run}, nil)
	if !runsIn(folders) {
		t.Error("one that runs is not seen")
	}
	stop()
	if runsIn(folders) {
		t.Error("one that ended is taken to run")
	}
	lock := filepath.Join(run, instance.LockName)
	must.Do(t, errors.Join(os.Remove(lock), syscall.Mkfifo(lock, 0o600)))
	if runsIn(folders) {
		t.Error("a pipe is taken for it")
	}
}

// TestRegisterRepair: what was registered and is gone comes back, what never was
// stays away, and tel: is nobody's business.
func TestRegisterRepair(t *testing.T) {
	home, profile := desktop(t)
	start, list := filepath.Join(home, "config", "autostart", "wiebelt.desktop"), filepath.Join(home, "config", "mimeapps.list")
	repair := func(want string) {
		t.Helper()
		if s := exits(t, 0, "", "register", "--repair", "--profile", profile); s.out != want {
			t.Errorf("%q, want %q", s.out, want)
		}
	}
	repair("Nothing that was registered before is lost.\n")
	if _, err := os.Stat(list); err == nil {
		t.Fatal("repairing nothing registered something")
	}
	exits(t, 0, "", "register", "--profile", profile)
	repair("Nothing that was registered before is lost.\n")
	must.Do(t, os.WriteFile(list, []byte("[Default Applications]\nx-scheme-handler/wiebelt=other.desktop;\nx-scheme-handler/tel=phone.desktop;\n"), 0o600))
	must.Do(t, os.RemoveAll(filepath.Join(home, "share", "applications")))
	repair("registered again: Links (wiebelt:)\n")
	if b, _ := os.ReadFile(list); !strings.Contains(string(b), "x-scheme-handler/wiebelt=wiebelt-link.desktop") || !strings.Contains(string(b), "x-scheme-handler/tel=phone.desktop;\n") {
		t.Errorf("%s", b)
	}
	must.Do(t, os.Remove(start))
	repair("registered again: Start\n")
	// Taken back on purpose, nothing of it is lost.
	exits(t, 0, "", "unregister", "--profile", profile)
	repair("Nothing that was registered before is lost.\n")
	if _, err := os.Stat(start); err == nil {
		t.Error("what was taken back came back")
	}
	exits(t, exitUsage, "", "register", "--repair", "--all-users", "--profile", profile).complains("--all-users")
}
