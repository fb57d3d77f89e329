package e2e

import (
	"encoding/json"
	"image"
	"slices"
	"strings"
	"testing"

	"wiebelt/internal/instance/windowapi"
	windows "wiebelt/internal/ui/windowapp"
)

// saidExplorer writes all that stands in the window that is named, a line an object.
const saidExplorer = `
import json, sys, pyatspi
def walk(n, depth):
    c = n.queryComponent().getExtents(pyatspi.DESKTOP_COORDS)
    states = [pyatspi.stateToString(s) for s in n.getState().getStates()]
    names = pyatspi.listInterfaces(n)
    acts = n.queryAction().nActions if "Action" in names else 0
    text = n.queryText().getText(0, -1) if "Text" in names else ""
    print(json.dumps(dict(Depth=depth, Role=n.getRoleName(), Name=n.name, About=n.description, Acts=acts > 0, States=states,
        Text=text, Set=dict(a.split(":", 1) for a in n.getAttributes()), At=[c.x, c.y, c.width, c.height])))
    if len(sys.argv) > 2 and n.name == sys.argv[2]:
        n.queryAction().doAction(0)
        sys.exit() # what it stood among may be gone
    for c in n:
        walk(c, depth + 1)
for app in pyatspi.Registry.getDesktop(0):
    if app and app.name == "Wiebelt":
        for w in app:
            if w.getRole() == pyatspi.ROLE_FRAME and w.name.startswith(sys.argv[1]):
                walk(w, 0)
`

// part is something in a window as pyatspi finds it.
type part struct {
	found
	States []string
	Text   string
	Set    map[string]string
}

func (p part) is(state string) bool { return slices.Contains(p.States, state) }

// parts are all that pyatspi finds in the window with a title, pressing what is named.
func (o *office) parts(title string, press ...string) (all []part) {
	o.t.Helper()
	for line := range strings.Lines(o.Run("/usr/bin/python3", append([]string{"-c", saidExplorer, title}, press...)...)) {
		var p part
		if json.Unmarshal([]byte(line), &p) == nil {
			all = append(all, p)
		}
	}
	return all
}

// readable has the desktop say that a screen reader is there.
func (o *office) readable() {
	o.t.Helper()
	o.Run("gdbus", "call", "--session", "--dest", "org.a11y.Bus", "--object-path", "/org/a11y/bus",
		"--method", "org.freedesktop.DBus.Properties.Set", "org.a11y.Status", "IsEnabled", "<true>")
}

// beyond are the pages of windows that somebody has to choose.
var beyond = map[string][]string{windowapi.WindowSettings: {"Hub", "Geavanceerd"}, windowapi.WindowRecipes: {"Bria"}, windowapi.WindowHelp: {"Storingen"}}

// TestEveryWindowIsSaid: in every window all that stands there is found by who asks over
// AT-SPI: no control without a name, and each within its window.
func TestEveryWindowIsSaid(t *testing.T) {
	t.Parallel()
	o := prepare(t, "[ui]\nlanguage = \"nl\"")
	o.Bus()
	o.fill()
	o.start()
	o.readable()
	for _, window := range windows.Names() {
		cmd := o.wiebelt("window", window)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		id := o.FindWindow("– Wiebelt$")
		o.Run("xdotool", "windowactivate", "--sync", id)
		var all []part
		o.Until(window+" is said", func() bool {
			all = o.parts("")
			return len(all) > 2 && all[0].is("active")
		}, func() []any { return []any{len(all), "parts"} })
		o.settled(window, all, id)
		for _, page := range beyond[window] {
			o.settled(window+", "+page, o.parts("", page), id)
		}
		o.Run("wmctrl", "-i", "-c", id)
		if err := <-ended; err != nil {
			t.Errorf("%s: %v", window, err)
		}
	}
}

// settled looks at a window once nothing more comes in it.
func (o *office) settled(window string, all []part, id string) {
	o.t.Helper()
	o.Until(window+" stays as it is", func() bool {
		was := len(all)
		all = o.parts("")
		return len(all) == was
	})
	said(o.t, window, all, o.placeOf(id))
}

// said looks at all that was found in a window.
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
