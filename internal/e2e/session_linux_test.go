package e2e

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/godbus/dbus/v5"
	"github.com/godbus/dbus/v5/prop"

	"wiebelt/internal/simulate"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/xtest"
)

// logind is the machine's session manager on the test's own bus.
type logind struct {
	c     *dbus.Conn
	props *prop.Properties
}

const (
	loginName    = "org.freedesktop.login1"
	loginSession = loginName + ".Session"
	loginPath    = "/org/freedesktop/login1"
	sessionPath  = loginPath + "/session/c7"
)

// GetSession implements the manager.
func (l *logind) GetSession(string) (dbus.ObjectPath, *dbus.Error) { return sessionPath, nil }

// GetSessionByPID implements the manager.
func (l *logind) GetSessionByPID(uint32) (dbus.ObjectPath, *dbus.Error) { return sessionPath, nil }

func (l *logind) lock(on bool) { l.props.SetMust(loginSession, "LockedHint", on) }

// withLogind returns a session manager for a session that can be
// locked, and the command prefix that makes the resident use it.
func withLogind(t *testing.T, locked bool) (*logind, []string) {
	t.Helper()
	address := xtest.NoScreen(t).PlainBus() // the machine's
	l := &logind{c: xtest.Connect(t, address)}
	must.Do(t, l.c.Export(l, loginPath, loginName+".Manager"))
	l.props = must.Get(prop.Export(l.c, sessionPath, prop.Map{loginSession: {
		"LockedHint": {Value: locked, Emit: prop.EmitTrue}, "Remote": {Value: false, Emit: prop.EmitTrue}}}))(t)
	xtest.Own(t, l.c, loginName)
	return l, []string{"env", "--default-signal=HUP", "DBUS_SYSTEM_BUS_ADDRESS=" + address, "XDG_SESSION_ID=c7"}
}

// ended waits until the resident has exited on its own.
func (o *office) ended(what string) {
	o.t.Helper()
	o.Until(what, func() bool {
		b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(o.resident.Process.Pid), "stat"))
		_, rest, _ := strings.Cut(string(b), ") ")
		return err != nil || strings.HasPrefix(rest, "Z")
	})
}

// TestSessionEnds checks that however a session ends during a call, everything known about the
// call is stored, and nothing is left in the runtime folder.
func TestSessionEnds(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(t *testing.T, o *office, l *logind){
		"logged off": func(t *testing.T, o *office, _ *logind) {
			must.Do(t, o.resident.Process.Signal(syscall.SIGHUP))
		},
		"the screen has gone": func(_ *testing.T, o *office, _ *logind) { o.Kill() },
		"the machine is shut down": func(t *testing.T, o *office, l *logind) {
			must.Do(t, l.c.Emit(loginPath, loginName+".Manager.PrepareForShutdown", true))
			must.Do(t, o.resident.Process.Signal(syscall.SIGTERM))
			o.Kill()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := prepare(t, "")
			l, env := withLogind(t, false)
			o.start(env...)
			// A cancelled shutdown changes nothing.
			for _, on := range []bool{true, false} {
				must.Do(t, l.c.Emit(loginPath, loginName+".Manager.PrepareForShutdown", on))
			}
			p := dial(o)
			must.Do(t, p.Ring(t.Context(), simulate.Call{ID: "1", Number: "+31698760011"}))
			must.Do(t, p.Answer(t.Context(), simulate.Call{ID: "1", Number: "+31698760011"}))
			o.Until("the call with its name", func() bool {
				all := callsOf(t, o)
				return len(all) == 1 && all[0].Name == vries.Contact.Name() && !all[0].Answered.IsZero()
			})
			end(t, o, l)
			o.ended(name)
			if left, _ := filepath.Glob(filepath.Join(o.profile, "run", "*.json")); len(left) != 0 {
				t.Errorf("left behind: %v", left)
			}
			all := callsOf(t, o)
			if len(all) != 1 || all[0].Name != vries.Contact.Name() || all[0].Answered.IsZero() {
				t.Fatalf("kept %d calls: %+v", len(all), all)
			}
		})
	}
}

// TestHubOpenedAtStart: with hub.open_at_start, the hub's page is opened at the first
// unlock of the day, and not again that day.
func TestHubOpenedAtStart(t *testing.T) {
	t.Parallel()
	o := prepare(t, "")
	o.set("hub.open_at_start", true)
	l, env := withLogind(t, true)
	notes := o.opener()
	i := onBus(t, o)
	o.start(env...)
	locked := func() {
		o.Until("the lock is known", func() bool {
			all := i.titles()
			return len(all) > 0 && strings.HasSuffix(all[0], "Het scherm is vergrendeld: kaarten wachten.")
		})
	}
	locked()
	if n := len(opened(notes)); n != 0 {
		t.Fatalf("opened %d times behind a locked screen", n)
	}
	for _, round := range []string{"the first unlock", "locked for lunch"} {
		l.lock(true)
		locked()
		l.lock(false)
		o.Until(round, func() bool { return len(opened(notes)) > 0 })
		// Whatever comes after it in the same stream has been received by then.
		p := dial(o)
		must.Do(t, p.Ring(t.Context(), simulate.Call{ID: round, Number: "0698760012"}))
		o.Until("a card once unlocked", func() bool { return !o.empty() })
		must.Do(t, p.End(t.Context(), simulate.Call{ID: round}, "missed"))
		o.Until("no card", o.empty)
		if got := opened(notes); len(got) != 1 || got[0] != o.hub.HubURL() {
			t.Errorf("%s: opened %q", round, got)
		}
	}
}
