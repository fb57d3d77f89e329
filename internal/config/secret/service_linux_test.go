package secret

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"

	"wiebelt/internal/testutil/must"
)

// bus starts a private session bus and points this process at it. It can start only the
// services of its own folder, which is empty.
func bus(t *testing.T) {
	t.Helper()
	home := t.TempDir()
	for key, value := range map[string]string{"HOME": home, "XDG_DATA_HOME": filepath.Join(home, "data"), "XDG_CONFIG_HOME": filepath.Join(home, "config"),
		"XDG_CACHE_HOME": filepath.Join(home, "cache"), "XDG_RUNTIME_DIR": filepath.Join(home, "run"), "XDG_DATA_DIRS": home, "DISPLAY": "", "WAYLAND_DISPLAY": "", "GNOME_KEYRING_CONTROL": ""} {
		t.Setenv(key, value)
	}
	must.Do(t, os.Mkdir(filepath.Join(home, "run"), 0o700))
	config := filepath.Join(home, "bus.conf")
	must.Do(t, os.WriteFile(config, []byte(`<busconfig><type>session</type><listen>unix:dir=`+home+`</listen>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>`), 0o600))
	address := firstLine(t, start(t, "", "dbus-daemon", "--config-file="+config, "--nofork", "--print-address=1"))
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", address)
}

// start runs a program until the test ends.
func start(t *testing.T, stdin, name string, args ...string) *bufio.Reader {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Stdin = strings.NewReader(stdin)
	out := must.Get(cmd.StdoutPipe())(t)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	must.Do(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return bufio.NewReader(out)
}

func firstLine(t *testing.T, r *bufio.Reader) string {
	t.Helper()
	return strings.TrimSpace(must.Get(r.ReadString('\n'))(t))
}

// gnomeKeyring starts the real store and waits until it owns its name. With a password, its
// login collection is created and unlocked, as at log-on.
func gnomeKeyring(t *testing.T, password string) {
	t.Helper()
	args := []string{"--foreground", "--components=secrets"}
	if password != "" {
		args = append(args, "--unlock")
	}
	c := must.Get(dbus.SessionBusPrivateNoAutoStartup())(t)
	must.Do(t, c.Auth(nil))
	must.Do(t, c.Hello())
	defer c.Close()
	owned := make(chan *dbus.Signal, 16)
	c.Signal(owned)
	must.Do(t, c.AddMatchSignal(dbus.WithMatchInterface("org.freedesktop.DBus"), dbus.WithMatchMember("NameOwnerChanged")))
	start(t, password, "gnome-keyring-daemon", args...)
	must.Until(t, owned, "gnome-keyring", func(s *dbus.Signal) bool {
		return len(s.Body) > 0 && s.Body[0] == "org.freedesktop.secrets"
	})
}

// TestRealStore goes through the states of a real Secret Service.
func TestRealStore(t *testing.T) {
	t.Run("no bus", func(t *testing.T) {
		t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path="+filepath.Join(t.TempDir(), "none"))
		within(t, newOSStore(dirs(t)), ErrNoStore)
	})
	t.Run("no store on the bus", func(t *testing.T) {
		bus(t)
		within(t, newOSStore(dirs(t)), ErrNoStore)
	})
	t.Run("store without an open collection", func(t *testing.T) {
		bus(t)
		gnomeKeyring(t, "")
		within(t, newOSStore(dirs(t)), ErrLocked)
	})
	t.Run("locked and nobody answers the prompt", func(t *testing.T) {
		bus(t)
		gnomeKeyring(t, "pw")
		silentPrompter(t)
		d := dirs(t)
		ref := hub(t, "https://a.example", "c")
		must.Do(t, newOSStore(d).Set(t.Context(), ref, "x"))
		lockAll(t)
		within(t, newOSStore(d), ErrUnanswered)
	})
	t.Run("open store", func(t *testing.T) {
		bus(t)
		gnomeKeyring(t, "pw")
		s := Open(KindOS, dirs(t))
		everyStore(t, s)
		rotation(t, s)
	})
}

// session is a connection to the private bus.
func session(t *testing.T) *dbus.Conn {
	t.Helper()
	c := must.Get(dbus.ConnectSessionBus())(t)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// prompter replaces the program that asks for the keyring's
// password, as on a computer with no one in front of it.
type prompter struct{}

func (prompter) BeginPrompting(dbus.ObjectPath) *dbus.Error { return nil }
func (prompter) StopPrompting(dbus.ObjectPath) *dbus.Error  { return nil }
func (prompter) PerformPrompt(dbus.ObjectPath, string, map[string]dbus.Variant, string) *dbus.Error {
	return nil
}

func silentPrompter(t *testing.T) {
	t.Helper()
	c := session(t)
	must.Do(t, c.Export(prompter{}, "/org/gnome/keyring/Prompter", "org.gnome.keyring.internal.Prompter"))
	if got, err := c.RequestName("org.gnome.keyring.SystemPrompter", dbus.NameFlagDoNotQueue); err != nil || got != dbus.RequestNameReplyPrimaryOwner {
		t.Fatal(got, err)
	}
}

// lockAll locks every collection.
func lockAll(t *testing.T) {
	t.Helper()
	service := session(t).Object("org.freedesktop.secrets", "/org/freedesktop/secrets")
	all := must.Get(service.GetProperty("org.freedesktop.Secret.Service.Collections"))(t)
	var locked []dbus.ObjectPath
	var prompt dbus.ObjectPath
	if err := service.Call("org.freedesktop.Secret.Service.Lock", 0, all.Value()).Store(&locked, &prompt); err != nil || len(locked) == 0 {
		t.Fatal(locked, err)
	}
}

// within calls a store that cannot answer, and expects one state in time.
func within(t *testing.T, s Store, want error) {
	t.Helper()
	ref := hub(t, "https://a.example", "c")
	for name, call := range map[string]func() error{
		"get":    func() error { _, err := s.Get(t.Context(), ref); return err },
		"set":    func() error { return s.Set(t.Context(), ref, "x") },
		"delete": func() error { return s.Delete(t.Context(), ref) },
		"both":   func() error { _, err := newRotatingStore(s).Get(t.Context(), ref); return err },
	} {
		begin := time.Now()
		err := call()
		must.Within(t, begin, 2*time.Second)
		if !errors.Is(err, want) {
			t.Errorf("%s: %v", name, err)
		}
		if state := map[error]State{ErrNoStore: NoStore, ErrLocked: Locked, ErrUnanswered: Unanswered}[want]; StateOf(err) != state {
			t.Errorf("%s: told as %s, not as %s", name, StateOf(err), state)
		}
	}
}
