package session

import (
	"context"
	"fmt"
	"image"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/godbus/dbus/v5"
	"github.com/godbus/dbus/v5/prop"
	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"
	"go.uber.org/goleak"

	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/winetest"
	"wiebelt/internal/testutil/xtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// example is a program on the test's own bus.
type example struct {
	t *testing.T
	c *dbus.Conn
}

func newExample(t *testing.T, address string) *example {
	t.Helper()
	return &example{t, xtest.Connect(t, address)}
}

func (e *example) emit(path dbus.ObjectPath, name string, args ...any) {
	e.t.Helper()
	must.Do(e.t, e.c.Emit(path, name, args...))
}

type saver struct {
	*example
	path dbus.ObjectPath
	name string

	mu     sync.Mutex
	active bool
}

func newSaver(t *testing.T, address string, path dbus.ObjectPath, name string, active bool) *saver {
	t.Helper()
	s := &saver{example: newExample(t, address), path: path, name: name, active: active}
	must.Do(t, s.c.Export(s, path, name))
	xtest.Own(t, s.c, name)
	return s
}

func (s *saver) GetActive() (bool, *dbus.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.active, nil
}

func (s *saver) set(active bool) {
	s.t.Helper()
	s.mu.Lock()
	s.active = active
	s.mu.Unlock()
	s.emit(s.path, s.name+".ActiveChanged", active)
}

// object exports an object with properties that can be changed.
func (e *example) object(path dbus.ObjectPath, iface string, values map[string]any) *prop.Properties {
	e.t.Helper()
	all := map[string]*prop.Prop{}
	for name, v := range values {
		all[name] = &prop.Prop{Value: v, Emit: prop.EmitTrue}
	}
	p := must.Get(prop.Export(e.c, path, prop.Map{iface: all}))(e.t)
	return p
}

type manager struct{ byID, byPID, user dbus.ObjectPath }

func answer(p dbus.ObjectPath) (dbus.ObjectPath, *dbus.Error) {
	if p == "" {
		return "", dbus.NewError(login+".NoSuchSession", nil)
	}
	return p, nil
}

func (m *manager) GetSession(id string) (dbus.ObjectPath, *dbus.Error) {
	if id != "c7" {
		return answer("")
	}
	return answer(m.byID)
}
func (m *manager) GetSessionByPID(uint32) (dbus.ObjectPath, *dbus.Error) { return answer(m.byPID) }
func (m *manager) GetUser(uid uint32) (dbus.ObjectPath, *dbus.Error) {
	if int(uid) != os.Getuid() {
		return answer("")
	}
	return answer(m.user)
}

// watch starts a watcher with the given display and buses; an empty address means none.
func watch(t *testing.T, display, user, system string) *Watcher {
	t.Helper()
	none := func(a string) string {
		if a == "" {
			return "unix:path=/nowhere"
		}
		return a
	}
	t.Setenv("DISPLAY", display)
	t.Setenv("XAUTHORITY", os.DevNull)
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", none(user))
	t.Setenv("DBUS_SYSTEM_BUS_ADDRESS", none(system))
	w := must.Get(Watch(context.Background(), slog.New(slog.DiscardHandler)))(t)
	t.Cleanup(w.Close)
	return w
}

// becomes waits until the state satisfies ok.
func becomes(t *testing.T, w *Watcher, what string, ok func(State) bool) {
	t.Helper()
	must.When(t, w.Changed(), what, func() (bool, any) { return ok(w.State()), w.State() })
}

func locked(s State) bool   { return s.Locked }
func unlocked(s State) bool { return !s.Locked }
func quiet(s State) bool    { return s.Quiet }
func loud(s State) bool     { return !s.Quiet }

func TestNobodyToAsk(t *testing.T) {
	w := watch(t, "", "", "")
	if s := w.State(); s != (State{}) || len(w.Sources()) != 0 {
		t.Errorf("%+v %v", s, w.Sources())
	}
}

func TestScreenSavers(t *testing.T) {
	for name, paths := range savers {
		for _, path := range paths {
			t.Run(name+string(path), func(t *testing.T) {
				address := xtest.NoScreen(t).PlainBus()
				locker := newSaver(t, address, path, name, true)
				w := watch(t, "", address, "")
				if s := w.State(); !s.Locked {
					t.Errorf("locked at the start: %+v", s)
				}
				if got := w.Sources(); !slices.Equal(got, []string{name}) {
					t.Errorf("sources %v", got)
				}
				locker.set(false)
				becomes(t, w, "unlocked", unlocked)
				locker.set(false)
				locker.set(true)
				becomes(t, w, "locked", locked)
				// A locker that is gone cannot be asked any more.
				locker.c.Close()
				becomes(t, w, "unknown", func(s State) bool { return !s.Locked && len(w.Sources()) == 0 })
				// Another one appears.
				again := newSaver(t, address, path, name, true)
				becomes(t, w, "locked", locked)
				again.set(false)
				becomes(t, w, "unlocked", unlocked)
			})
		}
	}
}

// TestLiar checks that signals that another program sends in a locker's name change nothing.
func TestLiar(t *testing.T) {
	x := xtest.NoScreen(t)
	address := x.PlainBus()
	locker := newSaver(t, address, "/org/gnome/ScreenSaver", "org.gnome.ScreenSaver", false)
	w := watch(t, "", address, "")
	liar := &saver{example: newExample(t, address)}
	xtest.SignalAll(t, liar.c, "/org/gnome/ScreenSaver", "org.gnome.ScreenSaver", "ActiveChanged", true)
	// Once a later event from this sender has arrived, so has its signal.
	must.Do(t, liar.c.Export(liar, "/org/mate/ScreenSaver", "org.mate.ScreenSaver"))
	xtest.Own(t, liar.c, "org.mate.ScreenSaver")
	x.Until("the liar is known", func() bool { return slices.Contains(w.Sources(), "org.mate.ScreenSaver") })
	if w.State().Locked {
		t.Error("a liar was believed")
	}
	locker.set(true)
	becomes(t, w, "locked", locked)
}

// loginDisplay is the session on a user's screen.
type loginDisplay struct {
	ID   string
	Path dbus.ObjectPath
}

func TestLogind(t *testing.T) {
	const path, userPath = "/org/freedesktop/login1/session/c7", "/org/freedesktop/login1/user/_0"
	for name, m := range map[string]*manager{
		"by id": {byID: path}, "by process": {byPID: path}, "by user": {user: userPath},
	} {
		t.Run(name, func(t *testing.T) {
			address := xtest.NoScreen(t).PlainBus()
			e := newExample(t, address)
			must.Do(t, e.c.Export(m, loginPath, loginManager))
			e.object(userPath, loginUser, map[string]any{"Display": loginDisplay{"c7", path}})
			props := e.object(path, loginSession, map[string]any{"LockedHint": false})
			xtest.Own(t, e.c, login)
			t.Setenv("XDG_SESSION_ID", "c7")
			w := watch(t, "", "", address)
			if s := w.State(); s != (State{}) || !slices.Equal(w.Sources(), []string{"logind"}) {
				t.Errorf("%+v %v", s, w.Sources())
			}
			props.SetMust(loginSession, "LockedHint", true)
			becomes(t, w, "locked", locked)
			props.SetMust(loginSession, "LockedHint", false)
			becomes(t, w, "unlocked", unlocked)
			e.c.Close()
			becomes(t, w, "unknown", func(s State) bool { return s == State{} })
		})
	}
}

// TestSessionLater checks that a program that starts before the user's
// screen does finds the session once it exists.
func TestSessionLater(t *testing.T) {
	const path, userPath = "/org/freedesktop/login1/session/c7", "/org/freedesktop/login1/user/_0"
	address := xtest.NoScreen(t).PlainBus()
	e := newExample(t, address)
	must.Do(t, e.c.Export(&manager{user: userPath}, loginPath, loginManager))
	user := e.object(userPath, loginUser, map[string]any{"Display": loginDisplay{"", "/"}})
	props := e.object(path, loginSession, map[string]any{"LockedHint": false})
	xtest.Own(t, e.c, login)
	w := watch(t, "", "", address)
	if got := w.Sources(); len(got) != 0 {
		t.Errorf("sources %v", got)
	}
	user.SetMust(loginUser, "Display", loginDisplay{"c7", path})
	props.SetMust(loginSession, "LockedHint", true)
	becomes(t, w, "locked", locked)
}

// TestAtScreen checks, from inside a session or without one,
// whether the user has a session at a screen.
func TestAtScreen(t *testing.T) {
	const path, userPath = "/org/freedesktop/login1/session/c7", "/org/freedesktop/login1/user/_0"
	t.Setenv("DBUS_SYSTEM_BUS_ADDRESS", "unix:path="+filepath.Join(t.TempDir(), "none"))
	if AtScreen(t.Context()) {
		t.Error("at a screen, and there is no bus")
	}
	for kind, want := range map[string]bool{"x11": true, "wayland": true, "tty": false, "": false} {
		address := xtest.NoScreen(t).PlainBus()
		t.Setenv("DBUS_SYSTEM_BUS_ADDRESS", address)
		if AtScreen(t.Context()) {
			t.Error("at a screen, and nobody says so")
		}
		e := newExample(t, address)
		must.Do(t, e.c.Export(&manager{byID: "/cron", byPID: "/cron", user: userPath}, loginPath, loginManager))
		display := loginDisplay{"c7", path}
		if kind == "" {
			display = loginDisplay{"", "/"}
		}
		e.object(userPath, loginUser, map[string]any{"Display": display})
		e.object(path, loginSession, map[string]any{"Type": kind})
		xtest.Own(t, e.c, login)
		if got := AtScreen(t.Context()); got != want {
			t.Errorf("%q: %v", kind, got)
		}
	}
}

func TestAnyOfThem(t *testing.T) {
	x := xtest.Start(t, "openbox", xtest.Options{})
	address := x.PlainBus()
	one := newSaver(t, address, "/ScreenSaver", "org.freedesktop.ScreenSaver", false)
	two := newSaver(t, address, "/org/gnome/ScreenSaver", "org.gnome.ScreenSaver", true)
	w := watch(t, x.Display, address, "")
	want := []string{"org.freedesktop.ScreenSaver", "org.gnome.ScreenSaver", "MIT-SCREEN-SAVER"}
	if got := w.Sources(); !slices.Equal(got, want) || !w.State().Locked {
		t.Errorf("%v %+v", got, w.State())
	}
	two.set(false)
	becomes(t, w, "unlocked", unlocked)
	one.set(true)
	becomes(t, w, "locked", locked)
	one.set(false)
	becomes(t, w, "unlocked", unlocked)
	x.Run("xset", "s", "activate")
	becomes(t, w, "locked by the X server", locked)
	x.Run("xset", "s", "reset")
	becomes(t, w, "unlocked", unlocked)
}

func TestQuietKDE(t *testing.T) {
	address := xtest.NoScreen(t).PlainBus()
	e := newExample(t, address)
	props := e.object("/org/freedesktop/Notifications", notifications, map[string]any{"Inhibited": true})
	xtest.Own(t, e.c, notifications)
	w := watch(t, "", address, "")
	if s := w.State(); !s.Quiet || len(w.Sources()) != 0 {
		t.Errorf("%+v", s)
	}
	props.SetMust(notifications, "Inhibited", false)
	becomes(t, w, "loud", loud)
	props.SetMust(notifications, "Inhibited", true)
	becomes(t, w, "quiet", quiet)
	e.c.Close()
	becomes(t, w, "loud", loud)
}

// TestReader checks that a screen reader is noticed when it starts, whichever
// way it announces itself, and when it ends.
func TestReader(t *testing.T) {
	address := xtest.NoScreen(t).PlainBus()
	e := newExample(t, address)
	const status = "org.a11y.Status"
	props := e.object("/org/a11y/bus", status, map[string]any{"IsEnabled": false, "ScreenReaderEnabled": false})
	xtest.Own(t, e.c, accessibility)
	w := watch(t, "", address, "")
	if w.State().Reader {
		t.Error("a reader at the start")
	}
	there := func(s State) bool { return s.Reader }
	gone := func(s State) bool { return !s.Reader }
	for _, name := range []string{"IsEnabled", "ScreenReaderEnabled"} {
		props.SetMust(status, name, true)
		becomes(t, w, "read", there)
		props.SetMust(status, name, false)
		becomes(t, w, "unread", gone)
	}
	props.SetMust(status, "IsEnabled", true)
	becomes(t, w, "read", there)
	e.c.Close()
	becomes(t, w, "unread", gone)
}

// TestSlowAtFirst checks that programs that are too busy to answer
// at first, as at log-on, are asked again.
func TestSlowAtFirst(t *testing.T) {
	x := xtest.NoScreen(t)
	address := x.PlainBus()
	e := newExample(t, address)
	const path, gnome = "/org/freedesktop/login1/session/c7", "org.gnome.ScreenSaver"
	session, reader, active := xtest.AtFirst(), xtest.AtFirst(), xtest.AtFirst()
	must.Do(t,
		e.c.ExportMethodTable(map[string]any{"GetSession": func(string) (dbus.ObjectPath, *dbus.Error) {
			session()
			return path, nil
		}}, loginPath, loginManager),
		e.c.ExportMethodTable(map[string]any{"Get": func(string, string) (dbus.Variant, *dbus.Error) {
			reader()
			return dbus.MakeVariant(true), nil
		}}, "/org/a11y/bus", properties),
		e.c.ExportMethodTable(map[string]any{"GetActive": func() (bool, *dbus.Error) {
			active()
			return false, nil
		}}, "/org/gnome/ScreenSaver", gnome))
	props := e.object(path, loginSession, map[string]any{"LockedHint": false})
	xtest.Own(t, e.c, login, accessibility, gnome)
	t.Setenv("XDG_SESSION_ID", "c7")
	w := watch(t, "", address, address)
	becomes(t, w, "read", func(s State) bool { return s.Reader })
	x.Until("all can be asked about the lock", func() bool { return slices.Equal(w.Sources(), []string{"logind", gnome}) })
	props.SetMust(loginSession, "LockedHint", true)
	becomes(t, w, "locked", locked)
}

// TestQuietGNOME changes the real setting with GNOME's own tool.
func TestQuietGNOME(t *testing.T) {
	x := xtest.NoScreen(t)
	address := x.Bus() // starts dconf
	x.Enter()
	set := func(v string) {
		t.Helper()
		x.Run("gsettings", "set", "org.gnome.desktop.notifications", "show-banners", v)
	}
	set("false")
	w := watch(t, "", address, "")
	if w.State().Quiet {
		t.Error("quiet without GNOME, where nobody obeys the setting")
	}
	e := newExample(t, address)
	xtest.Own(t, e.c, shell)
	becomes(t, w, "quiet", quiet)
	set("true")
	becomes(t, w, "loud", loud)
	set("false")
	becomes(t, w, "quiet", quiet)
	x.Run("gsettings", "reset", "org.gnome.desktop.notifications", "show-banners")
	becomes(t, w, "loud", loud)
	set("false")
	becomes(t, w, "quiet", quiet)
	x.Run("gsettings", "reset-recursively", "org.gnome.desktop.notifications")
	becomes(t, w, "loud", loud)
}

// card opens a window like a card's; focus gives it the keyboard.
func card(t *testing.T, x *xtest.Server) (id xproto.Window, focus func()) {
	t.Helper()
	c := must.Get(xgb.NewConnDisplay(x.Display))(t)
	t.Cleanup(c.Close)
	id = must.Get(xproto.NewWindowId(c))(t)
	screen := xproto.Setup(c).DefaultScreen(c)
	xproto.CreateWindow(c, screen.RootDepth, id, screen.Root, 600, 400, 100, 100, 0, xproto.WindowClassInputOutput,
		screen.RootVisual, xproto.CwOverrideRedirect, []uint32{1})
	xproto.MapWindow(c, id)
	return id, func() {
		must.Do(t, xproto.SetInputFocusChecked(c, xproto.InputFocusPointerRoot, id, xproto.TimeCurrentTime).Check())
	}
}

func TestPresenting(t *testing.T) {
	for _, wm := range []string{"openbox", "xfwm4"} {
		t.Run(wm, func(t *testing.T) {
			x := xtest.Start(t, wm, xtest.Options{})
			w := watch(t, x.Display, "", "")
			x.Run("xsetroot", "-name", "x")
			presenting := func(s State) bool { return s.Presenting }
			not := func(s State) bool { return !s.Presenting }
			show := x.Terminal(image.Rect(20, 20, 420, 320))
			x.Run("wmctrl", "-i", "-r", show.ID, "-b", "add,fullscreen")
			becomes(t, w, "presenting", presenting)
			// A card that takes the keyboard does not end the
			// presentation, although no window is in front then.
			_, focus := card(t, x)
			x.Until("no window is in front", func() bool {
				focus() // the window manager may still be about to give the focus to the terminal
				front := x.Run("xprop", "-root", "_NET_ACTIVE_WINDOW")
				return strings.Contains(front, "0x0") || !strings.Contains(front, "#")
			})
			x.Run("xset", "s", "activate") // reported after the focus change
			becomes(t, w, "locked", locked)
			if !w.State().Presenting {
				t.Error("ended by a card")
			}
			x.Run("xset", "s", "reset")
			becomes(t, w, "unlocked", unlocked)
			other := x.Terminal(image.Rect(300, 300, 700, 600))
			becomes(t, w, "something else in front", not)
			show.Focus()
			becomes(t, w, "presenting", presenting)
			x.Run("wmctrl", "-i", "-r", show.ID, "-b", "remove,fullscreen")
			becomes(t, w, "over", not)
			other.Close()
			x.Run("wmctrl", "-i", "-r", show.ID, "-b", "add,fullscreen")
			becomes(t, w, "presenting", presenting)
			// Where it is not seen it presents nothing, although no other window is in front.
			x.Run("wmctrl", "-s", "1")
			becomes(t, w, "on another workspace", not)
			x.Run("wmctrl", "-s", "0")
			becomes(t, w, "presenting", presenting)
			show.Close()
			becomes(t, w, "over", not)
		})
	}
}

// TestPresentingElsewhere imitates mutter, which unmaps no window on another workspace.
func TestPresentingElsewhere(t *testing.T) {
	x := xtest.Start(t, "", xtest.Options{})
	w := watch(t, x.Display, "", "")
	id, _ := card(t, x)
	set := func(name, format, value string, of ...string) {
		x.Run("xprop", append(of, "-f", name, format, "-set", name, value)...)
	}
	of := func(workspace string) { set("_NET_WM_DESKTOP", "32c", workspace, "-id", fmt.Sprint(id)) }
	of("0")
	set("_NET_WM_STATE", "32a", "_NET_WM_STATE_FULLSCREEN", "-id", fmt.Sprint(id))
	set("_NET_ACTIVE_WINDOW", "32x", fmt.Sprint(id), "-root")
	becomes(t, w, "presenting", func(s State) bool { return s.Presenting })
	set("_NET_CURRENT_DESKTOP", "32c", "1", "-root")
	becomes(t, w, "on another workspace", func(s State) bool { return !s.Presenting })
	of(fmt.Sprint(uint32(1<<32 - 1)))
	becomes(t, w, "on every workspace", func(s State) bool { return s.Presenting })
}

// TestPresentingOnWayland checks that an X program that fills the screen presents nothing
// while a window that X does not know is in front, or none.
func TestPresentingOnWayland(t *testing.T) {
	x := xtest.Start(t, "", xtest.Options{})
	x.PlainBus()
	x.Compositor("sway", true)
	x.Enter()
	w := watch(t, os.Getenv("DISPLAY"), "", "")
	socket := must.Get(filepath.Glob(filepath.Join(os.Getenv("XDG_RUNTIME_DIR"), "sway-ipc.*.sock")))(t)[0]
	x.Spawn("xterm", "-fullscreen")
	becomes(t, w, "presenting", func(s State) bool { return s.Presenting })
	x.Run("swaymsg", "--socket", socket, "workspace", "2")
	becomes(t, w, "not seen", func(s State) bool { return !s.Presenting })
}

// TestDesktopGoes checks that a state that can no longer
// be reported is not held against the user.
func TestDesktopGoes(t *testing.T) {
	x := xtest.Start(t, "", xtest.Options{})
	w := watch(t, x.Display, "", "")
	x.Run("xset", "s", "activate")
	becomes(t, w, "locked", locked)
	x.Kill()
	becomes(t, w, "unknown", func(s State) bool { return s == State{} })
}

func TestTouches(t *testing.T) {
	for _, c := range []struct {
		prefix  string
		changes []string
		want    bool
	}{
		{showBanners, []string{""}, true},
		{"/org/gnome/desktop/notifications/", []string{"show-banners"}, true},
		{"/org/gnome/desktop/notifications/", []string{"application-children", "show-banners"}, true},
		{"/org/gnome/desktop/notifications/", []string{""}, true},
		{"/", []string{""}, true},
		{"/org/gnome/desktop/notifications/", []string{"show-in-lock-screen"}, false},
		{"/org/gnome/desktop/notifications/show", []string{""}, false},
		{"/org/gnome/desktop/interface/", []string{"gtk-theme"}, false},
		{showBanners, nil, false},
	} {
		if got := touches([]any{c.prefix, c.changes, "tag"}, showBanners); got != c.want {
			t.Errorf("%q %q: %v", c.prefix, c.changes, got)
		}
	}
	for _, broken := range [][]any{nil, {showBanners}, {1, 2}, {showBanners, "x"}} {
		if touches(broken, showBanners) {
			t.Errorf("%v", broken)
		}
	}
}

// TestWindows runs this package's Windows test under wine.
func TestWindows(t *testing.T) { winetest.New(t).Test(winetest.BuildTests(t), 1) }
