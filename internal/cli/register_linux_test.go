package cli

import (
	"context"
	"errors"
	"maps"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/gofrs/flock"

	"wiebelt/internal/delivery/outbox"
	"wiebelt/internal/instance"
	"wiebelt/internal/native/register"
	"wiebelt/internal/testutil/instancetest"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/processtest"
	"wiebelt/internal/text"
)

func desktop(t *testing.T) (home, profile string) {
	t.Helper()
	home = t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_DATA_HOME", filepath.Join(home, "share"))
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(home, "config"))
	t.Setenv("XDG_DATA_DIRS", filepath.Join(home, "system"))
	return home, filepath.Join(home, "profile")
}

// TestForgetEverything removes everything of a user's Wiebelt and nothing
// else, but not while it runs, and not for a folder named explicitly.
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
	box := must.Get(outbox.Open(t.Context(), outbox.Options{Dir: filepath.Join(home, ".local", "state", "wiebelt", "outbox")}))(t)
	ctx, end := context.WithCancel(t.Context())
	worked := make(chan error, 1)
	go func() { worked <- box.Work(ctx, nil) }()
	must.Soon(t, func() (bool, any) { return box.Busy(), "nobody delivers" })
	if s := exits(t, 1, "", "forget", "--everything"); s.out != "" {
		t.Errorf("while it delivers: %s", s.out)
	}
	end()
	must.Do(t, <-worked, box.Close())
	exits(t, 2, "", "forget", "--everything", "--profile", profile)
	exits(t, 0, "", "forget", "--everything").says(filepath.Join(config, "wiebelt"))
	if after := snapshot(t, home); !maps.Equal(after, before) {
		t.Errorf("left %v of %v", after, before)
	}
}

// TestForgetEverythingInTheVault checks that the secrets that the vault may
// still hold for a user are reported, whichever store the settings name now.
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

// TestForgetUser checks that an administrator can delete another user's Wiebelt, including
// autostart and link; where that user planted a link to somewhere else, nothing there is touched.
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

// TestForgetUserWhoRuns checks that a running Wiebelt, which would recreate what is
// deleted, is noticed, and that nothing a user puts in place of its lock blocks the check.
func TestForgetUserWhoRuns(t *testing.T) {
	home := t.TempDir()
	folders := []userFolder{{home, "gone"}, {home, "state/wiebelt"}}
	run := filepath.Join(home, "state", "wiebelt", "run")
	stop := instancetest.Serve(t, instance.Config{RunDir: run}, nil)
	if !runsIn(nil, folders) {
		t.Error("one that runs is not seen")
	}
	stop()
	if runsIn(nil, folders) {
		t.Error("one that ended is taken to run")
	}
	must.Do(t, os.Mkdir(filepath.Join(home, "state", "wiebelt", "outbox"), 0o700))
	delivers := flock.New(filepath.Join(home, "state", "wiebelt", "outbox", outbox.LockName))
	must.Do(t, delivers.Lock())
	if !runsIn(nil, folders) {
		t.Error("one that delivers is not seen")
	}
	must.Do(t, delivers.Unlock())
	lock := filepath.Join(run, instance.LockName)
	must.Do(t, errors.Join(os.Remove(lock), syscall.Mkfifo(lock, 0o600)))
	if runsIn(nil, folders) {
		t.Error("a pipe is taken for it")
	}
}

// TestRegisterRepair restores registrations that were lost, leaves out
// those never made, and does not touch tel:.
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
	exits(t, 0, "", "register", "--profile", profile).says(text.English.T(text.RegisterDone))
	repair("Nothing that was registered before is lost.\n")
	must.Do(t, os.WriteFile(list, []byte("[Default Applications]\nx-scheme-handler/wiebelt=other.desktop;\nx-scheme-handler/tel=phone.desktop;\n"), 0o600))
	must.Do(t, os.RemoveAll(filepath.Join(home, "share", "applications")))
	repair("registered again: Links (wiebelt:)\n")
	if b, _ := os.ReadFile(list); !strings.Contains(string(b), "x-scheme-handler/wiebelt=wiebelt-link.desktop") || !strings.Contains(string(b), "x-scheme-handler/tel=phone.desktop;\n") {
		t.Errorf("%s", b)
	}
	must.Do(t, os.Remove(start))
	repair("registered again: Start\n")
	// Registrations removed on purpose do not count as lost.
	exits(t, 0, "", "unregister", "--profile", profile).says(text.English.T(text.RegisterGone))
	repair("Nothing that was registered before is lost.\n")
	if _, err := os.Stat(start); err == nil {
		t.Error("what was taken back came back")
	}
	exits(t, exitUsage, "", "register", "--repair", "--all-users", "--profile", profile).complains("--all-users")
}

// TestRegisterWithoutHome: whatever sets up a computer for everybody may have no home folder.
func TestRegisterWithoutHome(t *testing.T) {
	for _, command := range []string{"register", "unregister"} {
		cmd := process(t, command, "--all-users")
		cmd.Env = []string{processtest.RoleEnv + "=wiebelt"}
		processtest.Inside(t, cmd, "unshare", "-Urm", "sh", "-c", `mount -t tmpfs none /etc && mount -t tmpfs none /usr/local/share && exec "$@"`, "sh")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", command, err, out)
		}
	}
}
