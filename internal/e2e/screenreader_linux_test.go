package e2e

import (
	"encoding/json"
	"image"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"wiebelt/internal/simulate"
	"wiebelt/internal/testutil/must"
)

// explorer writes what our programs expose to assistive technology, one object per
// line, and presses the named one. It restarts if the objects change meanwhile.
const explorer = `
import json, sys, pyatspi
from gi.repository import GLib
def walk(n, depth):
    names = pyatspi.listInterfaces(n)
    c = n.queryComponent().getExtents(pyatspi.DESKTOP_COORDS) if depth else None
    found.append((n, dict(Depth=depth, Role=n.getRoleName(), Name=n.name, About=n.description,
        Acts="Action" in names and n.queryAction().nActions > 0,
        States=[pyatspi.stateToString(s) for s in n.getState().getStates()],
        Text=n.queryText().getText(0, -1) if "Text" in names else "",
        Set=dict(a.split(":", 1) for a in n.getAttributes()), At=[c.x, c.y, c.width, c.height] if c else None)))
    for c in n:
        walk(c, depth + 1)
for left in reversed(range(100)):
    found = []
    try:
        for app in pyatspi.Registry.getDesktop(0):
            if app and app.name == "Wiebelt":
                walk(app, 0)
        break
    except (GLib.GError, NotImplementedError): # as what has gone answers
        if not left:
            raise
for n, said in found:
    print(json.dumps(said))
for name in sys.argv[1:]:
    next(n for n, said in found if said["Name"] == name and said["Acts"]).queryAction().doAction(0)
`

// part is something on screen as found by pyatspi; a program has depth 0.
type part struct {
	Depth                   int
	Role, Name, About, Text string
	Acts                    bool
	States                  []string
	Set                     map[string]string
	At                      [4]int
}

func (p part) is(state string) bool { return slices.Contains(p.States, state) }

func (o *office) explore(press ...string) (all []part) {
	o.t.Helper()
	for line := range strings.Lines(o.Run("/usr/bin/python3", append([]string{"-c", explorer}, press...)...)) {
		var p part
		if json.Unmarshal([]byte(line), &p) == nil {
			all = append(all, p)
		}
	}
	return all
}

// oneOrca allows one Orca at a time: a second one of the same user does not start.
var oneOrca sync.Mutex

// orca starts Debian's screen reader on this screen and bus, with a voice that
// writes down what it says.
func (o *office) orca() (said func() string) {
	o.t.Helper()
	oneOrca.Lock()
	o.t.Cleanup(oneOrca.Unlock)
	dir := filepath.Join(o.Dir, "speech")
	socket, notes := filepath.Join(dir, "socket"), filepath.Join(dir, "said")
	must.Do(o.t, os.MkdirAll(filepath.Join(dir, "modules"), 0o700))
	for name, content := range map[string]string{
		"speechd.conf": `AudioOutputMethod "libao"` + "\n" + `AddModule "notes" "sd_generic" "notes.conf"` + "\nDefaultModule notes\n",
		"modules/notes.conf": `GenericExecuteSynth "echo '$DATA' >> ` + notes + `"` + "\nGenericMaxChunkLength 10000\nGenericDelimiters \"\\n\"\n" +
			`GenericLanguage "en" "en" "utf-8"` + "\n" + `AddVoice "en" "MALE1" "notes"` + "\n",
		"../.libao": "default_driver=null\n",
	} {
		must.Do(o.t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	o.Spawn("env", "LC_ALL=C.UTF-8", "speech-dispatcher", "--run-single", "--config-dir", dir, "--communication-method", "unix_socket",
		"--socket-path", socket, "--log-dir", dir, "--pid-file", filepath.Join(dir, "pid"), "--timeout", "0")
	o.Until("somebody speaks for Orca", func() bool { return exists(socket) })
	o.Spawn("env", "LC_ALL=C.UTF-8", "SPEECHD_ADDRESS=unix_socket:"+socket, "/usr/bin/python3", "/usr/bin/orca")
	said = func() string {
		b, _ := os.ReadFile(notes)
		return strings.Join(strings.Fields(string(b)), " ") // it gets a sentence in pieces
	}
	o.Until("Orca speaks", func() bool { return strings.Contains(said(), "Screen reader on.") }, func() []any { return []any{said()} })
	return said
}

// TestScreenReader: real Orca announces the caller once, and again when the contact
// arrives or the user asks; everything on the card has a name and its buttons can be
// pressed, and the focus stays where it was. Orca starts when Wiebelt is already running.
func TestScreenReader(t *testing.T) {
	t.Parallel()
	o := prepare(t, "[ui]\nlanguage = \"nl\"\n[card]\nhotkey_hear = \"Ctrl+Alt+Shift+H\"")
	o.Bus()
	notes := o.opener()
	o.start()
	term := o.Terminal(image.Rect(40, 40, 600, 400))
	was := o.FocusedWindow()
	said := o.orca()
	o.Until("Wiebelt can be explored", func() bool { return len(o.explore()) > 0 })

	p := dial(o)
	must.Do(t, p.Ring(t.Context(), simulate.Call{ID: "1", Number: "+31698760011"}))
	const who = "notification Inkomend: J. de Vries, 06 98 76 00 11."
	o.Until("Orca names the contact", func() bool { return strings.Contains(said(), who) }, func() []any { return []any{said()} })
	o.Key("ctrl+alt+shift+h")
	o.Until("Orca names the contact again", func() bool { return strings.Count(said(), who) == 2 }, func() []any { return []any{said()} })
	meant()
	all := o.explore("Relatie openen")
	for _, f := range all {
		if f.Name == "" || f.Depth > 0 && f.At[2]*f.At[3] == 0 {
			t.Errorf("without a name or a place: %+v", f)
		}
	}
	if !slices.ContainsFunc(all, func(f part) bool { return f.Name == "Kaart sluiten" && f.Role == "push button" && f.Acts }) {
		t.Errorf("nothing closes the card: %+v", all)
	}
	o.Until("the contact is opened", func() bool { return len(opened(notes)) == 1 })
	if got, want := opened(notes)[0], o.hub.HubURL()+"/contacts/viewcontact/c-vries"; got != want {
		t.Errorf("opened %q, want %q", got, want)
	}
	o.Type("gewoon door", 4)
	term.WaitText("gewoon door")
	if now := o.FocusedWindow(); now != was {
		t.Errorf("the keyboard went from %x to %x", was, now)
	}
	if n := strings.Count(said(), "J. de Vries"); n != 2 {
		t.Errorf("said %d times: %q", n, said())
	}
	o.Key("ctrl+alt+w") // the card gets the focus, and the reader follows
	const alert = "alert Inkomend: J. de Vries, 06 98 76 00 11."
	o.Until("Orca reads the card", func() bool { return strings.Contains(said(), alert) }, func() []any { return []any{said()} })
	o.Key("Escape")
	o.Until("the keyboard is back", func() bool { return o.FocusedWindow() == was })
}
