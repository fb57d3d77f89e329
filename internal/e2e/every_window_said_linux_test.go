package e2e

import (
	"image"
	"slices"
	"strings"
	"testing"

	"wiebelt/internal/instance/windowapi"
)

// readable makes the desktop report a screen reader.
func (o *office) readable() {
	o.t.Helper()
	o.Run("gdbus", "call", "--session", "--dest", "org.a11y.Bus", "--object-path", "/org/a11y/bus",
		"--method", "org.freedesktop.DBus.Properties.Set", "org.a11y.Status", "IsEnabled", "<true>")
}

// beyond has the pages of windows that have to be selected.
var beyond = map[string][]string{windowapi.WindowSettings: {"Hub", "Geavanceerd"}, windowapi.WindowRecipes: {"Bria"}, windowapi.WindowHelp: {"Storingen"}}

// isSaid checks that everything in a window is found over AT-SPI: no control lacks a name,
// and each is within its window.
func (o *office) isSaid(window, id string) {
	o.t.Helper()
	var all []part
	o.Until(window+" is said", func() bool {
		all = o.inWindow()
		return len(all) > 2 && all[0].is("active")
	}, func() []any { return []any{len(all), "parts"} })
	o.settled(window, id)
	for _, page := range beyond[window] {
		o.explore(page)
		o.settled(window+", "+page, id)
	}
}

// inWindow returns everything that pyatspi finds in windows.
func (o *office) inWindow() []part {
	return slices.DeleteFunc(o.explore(), func(p part) bool { return p.Depth == 0 })
}

// settled checks a window once nothing in it changes any more.
func (o *office) settled(window, id string) {
	o.t.Helper()
	var all []part
	o.Until(window+" stays as it is", func() bool {
		was := len(all)
		all = o.inWindow()
		return was > 0 && len(all) == was
	})
	said(o.t, window, all, o.placeOf(id))
}

// said checks everything found in a window.
func said(t testing.TB, window string, all []part, at image.Rectangle) {
	t.Helper()
	heading, controls := false, 0
	for _, p := range all {
		place := image.Rect(p.At[0], p.At[1], p.At[0]+p.At[2], p.At[1]+p.At[3])
		heading = heading || p.Role == "heading"
		switch {
		case p.Name == "" && p.Role != "list item" && p.Role != "menu":
			t.Errorf("%s: without a name: %+v", window, p)
		case p.is("showing") && (place.Empty() || !place.In(at)):
			t.Errorf("%s: not in the window, which is at %v: %+v", window, at, p)
		}
		if p.is("focusable") {
			controls++
			if p.Role == "" || p.Role == "label" || p.Role == "unknown" {
				t.Errorf("%s: without a role: %+v", window, p)
			}
		}
	}
	if !heading || controls == 0 && window != windowapi.WindowDemo {
		t.Errorf("%s: a heading %v, %d controls", window, heading, controls)
	}
	if testing.Verbose() {
		for _, p := range all {
			t.Logf("%s: %s%s %q %q %q %v %v", window, strings.Repeat("  ", p.Depth), p.Role, p.Name, p.About, p.Text, p.Set, p.At)
		}
	}
}
