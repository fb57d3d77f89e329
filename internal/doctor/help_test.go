package doctor

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/secret"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/instance"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/native/register"
	"wiebelt/internal/native/window"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/processtest"
	"wiebelt/internal/text"
)

func TestMain(m *testing.M) {
	processtest.Main(crashes)
	goleak.VerifyTestMain(m)
}

// given returns a future whose value is already there.
func given[T any](v T) *future[T] {
	l := &future[T]{done: make(chan struct{}), value: v}
	close(l.done)
	return l
}

const setUp = `[hub]
base_url = "https://hub.example"
hub_url = "https://hub.example"
client_id = "office"
organisation_code = "1234"
`

// configured is a profile with these settings.
func configured(t testing.TB, toml string) Config {
	t.Helper()
	d := must.Get(profile.Find(t.TempDir()))(t)
	must.Do(t, d.Make())
	must.Do(t, os.Chmod(d.State, 0o700))
	if toml != "" {
		write(t, settings.Path(d), toml)
	}
	s, _ := settings.Load(d)
	return Config{Dirs: d, Settings: s, Version: "1.2.0", Commit: "abc", Language: text.Dutch, Exe: filepath.Join(t.TempDir(), "wiebelt")}
}

func write(t testing.TB, path, s string) {
	t.Helper()
	must.Do(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must.Do(t, os.WriteFile(path, []byte(s), 0o600))
}

// calm is a computer on which all is well.
func calm() system {
	return system{
		store: secret.Open,
		register: func(register.Options) (register.Status, error) {
			return register.Status{Scheme: "x", Ours: true, Autostart: true}, nil
		},
		policy:      func() (bool, bool) { return true, false },
		desktop:     func() bool { return true },
		loggedOn:    func(context.Context) bool { return true },
		screen:      func(context.Context) string { return string(window.X11) },
		trayHost:    func(context.Context) bool { return true },
		player:      func() string { return "aplay" },
		lockSources: func(context.Context) []string { return []string{"logind"} },
		writable:    func(string) bool { return true },
		browser:     func(context.Context) bool { return true },
		audit:       func() error { return nil },
		microSIP:    func() string { return "" },
		free:        func(string) (uint64, error) { return 5000 << 20, nil },
		folder:      func(string) error { return nil },
		installed:   func(string) error { return nil },
	}
}

// server is calm without a desktop, where a missing resident is not a fault.
func server() system {
	s := calm()
	s.desktop, s.loggedOn = func() bool { return false }, func(context.Context) bool { return false }
	return s
}

// examined is an exam on a calm computer, with a healthy resident and a hub that issues tokens.
func examined(t testing.TB, toml string) *exam {
	e := &exam{Config: configured(t, toml), sys: calm(), now: time.Date(2026, 10, 1, 10, 0, 0, 0, time.Local)}
	e.fromResident = given(residentState{presence: residentPresent, hello: instance.Hello{Version: "1.2.0", Build: "abc"}, facts: windowapi.DoctorFacts{SetUp: true, Port: 27471}})
	e.fromStore = given(storedSecret{value: "s"})
	e.fromHub = given(well())
	return e
}

func keepSecret(t testing.TB, d profile.Dirs, base, value string) {
	t.Helper()
	store, ref := storeOf(t, d, base, "office")
	must.Do(t, store.Set(t.Context(), ref, value))
}

// storeOf returns a profile's secret store and the reference to look up in it.
func storeOf(t testing.TB, d profile.Dirs, base, client string) (secret.Store, secret.Ref) {
	t.Helper()
	store := secret.Open(secret.KindFile, d)
	return store, must.Get(secret.HubRef(base, client))(t)
}
