package window

import (
	"errors"
	"fmt"
	"image"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/godbus/dbus/v5"

	"wiebelt/internal/native/desktopbus"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/xtest"
)

// examplePortal is the test's own desktop portal.
type examplePortal struct {
	t *testing.T
	c *dbus.Conn

	mu      sync.Mutex
	values  map[string]uint32
	refuse  bool
	bound   chan string // triggers
	closed  chan struct{}
	session dbus.ObjectPath // the latest one
	made    int
	ids     []string // of the bound shortcuts
	slow    map[string]func()
	asked   []string // in order
}

func startExamplePortal(t *testing.T, address string, shortcuts bool) *examplePortal {
	t.Helper()
	p := newExamplePortal(t, address, shortcuts)
	xtest.Own(t, p.c, portalName)
	return p
}

// newExamplePortal returns a portal that does not own its name yet.
func newExamplePortal(t *testing.T, address string, shortcuts bool) *examplePortal {
	t.Helper()
	c := xtest.Connect(t, address)
	p := &examplePortal{t: t, c: c, values: map[string]uint32{}, bound: make(chan string, 10), closed: make(chan struct{}, 10)}
	must.Do(t, c.ExportMethodTable(map[string]any{"Read": p.read}, portalPath, portalSettings))
	must.Do(t, c.ExportMethodTable(map[string]any{"Register": p.register}, portalPath, portalRegistry))
	if shortcuts {
		must.Do(t, c.ExportMethodTable(map[string]any{"CreateSession": p.create, "BindShortcuts": p.bind}, portalPath, portalShortcuts))
	}
	return p
}

// take delays a method that is set to be slow.
func (p *examplePortal) take(method string) {
	p.mu.Lock()
	wait := p.slow[method]
	p.mu.Unlock()
	if wait != nil {
		wait()
	}
}

func (p *examplePortal) register(id string, _ map[string]dbus.Variant) *dbus.Error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, "register "+id)
	return nil
}

func (p *examplePortal) read(space, key string) (dbus.Variant, *dbus.Error) {
	p.take("read")
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, key)
	v, ok := p.values[key]
	if space != appearance || !ok {
		return dbus.Variant{}, dbus.NewError("org.freedesktop.portal.Error.NotFound", nil)
	}
	return dbus.MakeVariant(dbus.MakeVariant(v)), nil
}

func (p *examplePortal) set(key string, v uint32) {
	p.mu.Lock()
	p.values[key] = v
	p.mu.Unlock()
	must.Do(p.t, p.c.Emit(portalPath, portalSettings+".SettingChanged", appearance, key, dbus.MakeVariant(v)))
}

// respond sends the response to a request before the call has returned, as portals may.
func (p *examplePortal) respond(from dbus.Sender, options map[string]dbus.Variant, code uint32, results map[string]dbus.Variant) dbus.ObjectPath {
	token, _ := options["handle_token"].Value().(string)
	path := dbus.ObjectPath(fmt.Sprintf("/org/freedesktop/portal/desktop/request/%s/%s", strings.ReplaceAll(strings.TrimPrefix(string(from), ":"), ".", "_"), token))
	_ = p.c.Emit(path, portalRequest+".Response", code, results)
	return path
}

func (p *examplePortal) create(from dbus.Sender, options map[string]dbus.Variant) (dbus.ObjectPath, *dbus.Error) {
	p.take("create")
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.refuse {
		return p.respond(from, options, 2, nil), nil
	}
	p.made++
	p.session = dbus.ObjectPath(fmt.Sprint("/org/freedesktop/portal/desktop/session/x/y", p.made))
	_ = p.c.ExportMethodTable(map[string]any{"Close": func() *dbus.Error { p.closed <- struct{}{}; return nil }}, p.session, portalSession)
	return p.respond(from, options, 0, map[string]dbus.Variant{"session_handle": dbus.MakeVariant(string(p.session))}), nil
}

// current returns the latest session.
func (p *examplePortal) current() dbus.ObjectPath {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.session
}

type boundShortcut struct {
	ID      string
	Details map[string]dbus.Variant
}

func (p *examplePortal) bind(from dbus.Sender, session dbus.ObjectPath, list []boundShortcut, _ string, options map[string]dbus.Variant) (dbus.ObjectPath, *dbus.Error) {
	p.mu.Lock()
	p.ids = append(p.ids, list[0].ID)
	p.mu.Unlock()
	trigger, _ := list[0].Details["preferred_trigger"].Value().(string)
	does, _ := list[0].Details["description"].Value().(string)
	p.bound <- string(session) + " " + trigger + " " + does
	return p.respond(from, options, 0, nil), nil
}

// TestAppearance checks that the appearance is read from the settings manager and from
// the portal, each of which may start later.
func TestAppearance(t *testing.T) {
	s := xtest.Start(t, "", xtest.Options{DPI: 96})
	address := s.PlainBus()
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", address)
	d := open(t, s)
	rec := newRecorder()
	newWindow(t, d, rec)
	if d.Appearance().Dark || d.Appearance().HighContrast || d.Monitors()[0].Scale != 1 {
		t.Error("dark, in contrast or scaled without a reason")
	}
	m := exampleWindow(t, s, image.Rect(0, 0, 1, 1))
	for i, c := range []struct {
		theme          string
		dpi            int32
		dark, contrast bool
		scale          float32
	}{
		{"HighContrastInverse", 120 * 1024, true, true, 1.25}, {"Adwaita", -1, false, false, 1}, {"Adwaita-dark", 96 * 1024, true, false, 1},
	} {
		m.setSettings(map[string]any{"Net/ThemeName": c.theme, "Xft/DPI": c.dpi})
		if i == 0 {
			m.ownSettings(t)
		}
		rec.wait(t, "changed")
		if scale := d.Monitors()[0].Scale; d.Appearance().Dark != c.dark || d.Appearance().HighContrast != c.contrast || scale != c.scale {
			t.Errorf("%s: dark %v contrast %v scale %v", c.theme, d.Appearance().Dark, d.Appearance().HighContrast, scale)
		}
	}
	// A portal that appears later is asked, and wins.
	p := startExamplePortal(t, address, false)
	p.set("color-scheme", preferLight)
	s.Until("light by the portal", func() bool { return !d.Appearance().Dark })
	rec.wait(t, "changed")
	p.set("contrast", 1)
	rec.wait(t, "changed")
	if !d.Appearance().HighContrast || d.Appearance().Dark {
		t.Errorf("by the portal: dark %v contrast %v", d.Appearance().Dark, d.Appearance().HighContrast)
	}
	p.set("color-scheme", preferDark)
	rec.wait(t, "changed")
	if !d.Appearance().Dark {
		t.Error("not dark by the portal")
	}
	// Reduced motion, first through the portal, then through the settings manager.
	p.set("reduced-motion", 1)
	rec.wait(t, "changed")
	byPortal := d.Appearance().LessMotion
	p.set("reduced-motion", 0)
	rec.wait(t, "changed")
	before := d.Appearance().LessMotion
	m.setSettings(map[string]any{"Net/ThemeName": "Adwaita-dark", "Gtk/EnableAnimations": int32(0)})
	rec.wait(t, "changed")
	if !byPortal || before || !d.Appearance().LessMotion {
		t.Errorf("less motion: by the portal %v, without %v, by the settings %v", byPortal, before, d.Appearance().LessMotion)
	}
	// Without a preference the theme decides again.
	p.set("contrast", 0)
	rec.wait(t, "changed")
	p.set("color-scheme", 0)
	rec.wait(t, "changed")
	if !d.Appearance().Dark || d.Appearance().HighContrast {
		t.Errorf("without a preference: dark %v contrast %v", d.Appearance().Dark, d.Appearance().HighContrast)
	}
}

// onXWayland imitates a desktop with its own bus whose hotkeys are up to the portal.
func onXWayland(t *testing.T) (s *xtest.Server, d *x11, bus string) {
	s = xtest.Start(t, "", xtest.Options{})
	bus = s.PlainBus()
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", bus)
	d = open(t, s)
	d.xwayland = true
	return s, d, bus
}

// TestSlowPortal checks that a portal that is slow at first
// neither loses hotkeys nor changes colours.
func TestSlowPortal(t *testing.T) {
	s, d, address := onXWayland(t)
	p := newExamplePortal(t, address, true)
	p.values["color-scheme"] = preferDark
	xtest.Own(t, p.c, portalName)
	s.Until("dark by the portal", func() bool { return d.Appearance().Dark })
	p.mu.Lock()
	p.slow = map[string]func(){"read": xtest.AtFirst(), "create": xtest.AtFirst()}
	p.mu.Unlock()
	told := make(chan error, 10)
	must.Get(d.Hotkey("Ctrl+Alt+W", "", nil, func(err error) { told <- err }))(t)
	p.set("contrast", 1)
	s.Until("contrast by the portal", func() bool { return d.Appearance().HighContrast })
	if !d.Appearance().Dark {
		t.Error("an answer that came late was no")
	}
	if err := must.Receive(t, told, "word of the hotkey"); !desktopbus.TimedOut(err) {
		t.Errorf("told of a portal that is slow: %v", err)
	}
	if err := must.Receive(t, told, "word of the hotkey"); err != nil {
		t.Errorf("told in the end: %v", err)
	}
}

// TestPortalHotkey checks that hotkeys are requested from each portal that appears.
func TestPortalHotkey(t *testing.T) {
	s, d, address := onXWayland(t)
	if i := d.Active(); i != 0 {
		t.Errorf("active is %d", i)
	}
	told := make(chan error, 10)
	unsupported := func(what string) {
		t.Helper()
		if err := must.Receive(t, told, "word of the hotkey"); !errors.Is(err, ErrUnsupported) || err.Error() == ErrUnsupported.Error() {
			t.Errorf("%s: %v", what, err)
		}
	}
	pressed := make(chan struct{}, 10)
	release := must.Get(d.Hotkey("Ctrl+Alt+PageUp", "Wijst", func() { pressed <- struct{}{} }, func(err error) { told <- err }))(t)
	unsupported("no portal")
	p := startExamplePortal(t, address, false)
	unsupported("a portal without shortcuts")
	p.c.Close()
	unsupported("a portal that has gone")
	p = startExamplePortal(t, address, true)
	must.Do(t, must.Receive(t, told, "word of the hotkey"))
	if got := <-p.bound; got != string(p.current())+" CTRL+ALT+Page_Up Wijst" {
		t.Errorf("asked for %q", got)
	}
	refuse := func(is bool) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.refuse = is
	}
	refuse(true)
	refused := must.Get(d.Hotkey("Ctrl+Alt+W", "", nil, func(err error) { told <- err }))(t)
	unsupported("a portal that refuses")
	refused()
	refuse(false)

	liar := xtest.Connect(t, address)
	xtest.SignalAll(t, liar, portalPath, portalShortcuts, "Activated", p.current(), shortcutID, uint64(1), map[string]dbus.Variant{})
	must.Do(t, liar.BusObject().Call("org.freedesktop.DBus.GetId", 0).Err) // the bus has the signal
	must.Do(t, p.c.Emit(portalPath, portalShortcuts+".Activated", dbus.ObjectPath("/other"), shortcutID, uint64(1), map[string]dbus.Variant{}))
	must.Do(t, p.c.Emit(portalPath, portalShortcuts+".Activated", p.current(), shortcutID, uint64(1), map[string]dbus.Variant{}))
	must.Receive(t, pressed, "the hotkey")
	p.set("color-scheme", preferDark) // arrives after everything else
	s.Until("all was heard", func() bool { return d.Appearance().Dark })
	if len(pressed) != 0 {
		t.Errorf("%d presses too many", len(pressed))
	}
	// Another hotkey has its own session and name.
	first, others := p.current(), make(chan struct{}, 10)
	releaseOther := must.Get(d.Hotkey("Ctrl+Alt+F2", "", func() { others <- struct{}{} }, func(error) {}))(t)
	if got := <-p.bound; got != string(p.current())+" CTRL+ALT+F2 " || p.current() == first {
		t.Errorf("asked for %q", got)
	}
	must.Do(t, p.c.Emit(portalPath, portalShortcuts+".Activated", p.current(), shortcutID, uint64(1), map[string]dbus.Variant{}))
	must.Receive(t, others, "the other hotkey")
	releaseOther()
	must.Receive(t, p.closed, "the end of its session")
	must.Do(t, p.c.Emit(portalPath, portalShortcuts+".Activated", first, shortcutID, uint64(1), map[string]dbus.Variant{}))
	must.Receive(t, pressed, "the hotkey")
	p.mu.Lock()
	if slices.Sort(p.ids); len(slices.Compact(p.ids)) != 2 {
		t.Errorf("bound %q", p.ids)
	}
	if len(p.asked) < 2 || p.asked[0] != "register wiebelt" || slices.Contains(p.asked[1:], p.asked[0]) { // once, before all else
		t.Errorf("asked %q", p.asked)
	}
	p.mu.Unlock()
	// The next portal does not know what this one was asked for.
	p.c.Close()
	unsupported("a portal that has gone")
	p = startExamplePortal(t, address, true)
	must.Do(t, must.Receive(t, told, "word of the hotkey"))
	must.Do(t, p.c.Emit(portalPath, portalShortcuts+".Activated", p.current(), shortcutID, uint64(1), map[string]dbus.Variant{}))
	must.Receive(t, pressed, "the hotkey")
	release()
	release()
	must.Receive(t, p.closed, "the end of its session")
	for keys, want := range map[string]string{"Win+Shift+3": "SHIFT+LOGO+3", "F12": "F12", "Ctrl+Space": "CTRL+space", "alt+esc": "ALT+Escape"} {
		k, err := parseShortcut(keys)
		if got := k.trigger(); err != nil || got != want {
			t.Errorf("%s: %q, %v", keys, got, err)
		}
	}
}
