package e2e

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"image"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/localhub"
	"wiebelt/internal/simulate"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/xtest"
)

// deliveryWindow is an office's delivery window, watched and used from outside.
type deliveryWindow struct {
	*office
	t  testing.TB
	id string
	at image.Point // of its content on the screen
	in string      // where the files to deliver are
}

func openDeliveryWindow(t testing.TB) *deliveryWindow {
	t.Helper()
	o := prepare(t, "[ui]\ntheme = \"light\"\nlanguage = \"nl\"")
	o.run("provision", "--intermediary", localhub.DefaultIntermediary)
	o.start()
	o.openWindow(windowapi.WindowDelivery)
	p := &deliveryWindow{office: o, t: t, in: t.TempDir()}
	p.id = o.FindWindow("^Berichten aanleveren")
	p.at = o.origin(p.id)
	return p
}

func (p *deliveryWindow) file(name string, n int) (path, sum string) {
	p.t.Helper()
	content := contractZIP(p.t, n)
	path = filepath.Join(p.in, name)
	must.Do(p.t, os.WriteFile(path, content, 0o600))
	s := sha256.Sum256(content)
	return path, hex.EncodeToString(s[:])
}

// listed returns the output of "wiebelt deliver list": the state of the outbox.
func (p *deliveryWindow) listed() (states map[string]string, notes string) {
	p.t.Helper()
	out, err := p.wiebelt("deliver", "list", "--all", "--json").Output()
	if err != nil {
		p.t.Fatalf("list: %v: %s", err, out)
	}
	var r struct {
		Items []struct{ File, Outcome, Note string }
	}
	must.Do(p.t, json.Unmarshal(out, &r))
	states = map[string]string{}
	for _, it := range r.Items {
		states[filepath.Base(it.File)] += it.Outcome + " "
		notes += it.Note
	}
	return states, notes
}

func (p *deliveryWindow) is(name, want string) {
	p.t.Helper()
	var states map[string]string
	p.Until(name+" is "+want, func() bool {
		states, _ = p.listed()
		return strings.TrimSpace(states[name]) == want
	}, func() []any { return []any{states} })
}

// arrived returns the checksums of what is in the message box, with counts.
func (p *deliveryWindow) arrived() map[string]int {
	p.t.Helper()
	all := must.Get(p.hub.Messages(p.t.Context(), "", 1000))(p.t)
	n := map[string]int{}
	for _, m := range all {
		n[m.SHA256]++
	}
	return n
}

func (p *deliveryWindow) click(x, y int) { p.Click(p.at.X+x, p.at.Y+y, 1) }

// part returns the share of a part of the window that has approximately a colour.
func (p *deliveryWindow) part(r image.Rectangle, rgb uint32) float64 {
	img := p.Crop(r.Add(p.at))
	return float64(4*xtest.Count(img, rgb, 7)) / float64(len(img.Pix))
}

// shows reports whether a part of the window contains a colour, button
// whether a button fills it.
func (p *deliveryWindow) shows(r image.Rectangle, rgb uint32) bool { return p.part(r, rgb) > 0 }
func (p *deliveryWindow) button(r image.Rectangle) bool            { return p.part(r, soft) == 1 }

// Places in the window's content.
var (
	askButton  = image.Rect(153, 138, 158, 164) // left of the words "send all the same"
	noteEntry  = image.Pt(300, 235)
	deliveredB = image.Pt(97, 282)
)

// rowMark returns the place of a row's mark while no question is shown.
func rowMark(n int) image.Rectangle { return image.Rect(514, 141+52*n, 536, 161+52*n) }

const soft = 0xF4F6F8

// TestDeliveryWindow tests the window from end to end: files dragged into it arrive
// unchanged; one that is not a message is refused with its reason; one that was delivered
// before causes a question; the user decides an uncertain one; and cards appear meanwhile.
func TestDeliveryWindow(t *testing.T) {
	t.Parallel()
	p := openDeliveryWindow(t)
	photo := filepath.Join(p.in, "vakantie foto é.zip")
	must.Do(t, os.WriteFile(photo, []byte("geen zip"), 0o600))
	one, sum := p.file("bericht één.zip", 1)
	p.Drop(p.at.X+300, p.at.Y+400, one, photo)
	p.is("bericht één.zip", "delivered")
	if n := p.arrived(); len(n) != 1 || n[sum] != 1 {
		t.Errorf("arrived: %v", n)
	}
	p.Until("a delivered row and a refused one", func() bool { return p.shows(rowMark(0), answeredGreen) && p.shows(rowMark(1), trouble) })

	p.Drop(p.at.X+100, p.at.Y+500, one)
	p.Until("a question", func() bool { return p.button(askButton) })
	if states, _ := p.listed(); strings.TrimSpace(states["bericht één.zip"]) != "delivered" {
		t.Errorf("sent before anybody said so: %v", states)
	}
	p.click(210, 151)
	p.is("bericht één.zip", "delivered delivered")
	if n := p.hub.Stats().Messages; n != 2 { // and the hub recognises it as the same
		t.Errorf("%d messages", n)
	}
	p.Until("no question", func() bool { return !p.button(askButton) && p.shows(rowMark(1), answeredGreen) })

	// A truncated answer: a user checks, and decides.
	p.hub.Faults().Set(localhub.EndpointTransaction, localhub.Fault{Body: localhub.BodyCut, Times: 1})
	two, _ := p.file("twee.zip", 2)
	p.Drop(p.at.X+300, p.at.Y+300, two)
	p.is("twee.zip", "uncertain")
	p.Until("a row that is maybe delivered", func() bool { return p.shows(rowMark(0), trouble) })
	p.Move(p.at.X+300, p.at.Y+160)
	p.Until("the page about it", func() bool { p.click(300, 160); return p.button(image.Rect(27, 270, 31, 294)) })
	p.click(noteEntry.X, noteEntry.Y)
	p.Type("gezien door Smit", 5)
	p.click(deliveredB.X, deliveredB.Y)
	p.is("twee.zip", "delivered")
	if _, notes := p.listed(); notes != "gezien door Smit" {
		t.Errorf("noted %q", notes)
	}
	p.Key("Escape")
	p.Until("the list again", func() bool { return p.shows(rowMark(0), answeredGreen) })

	// While a message is being sent, a call is on screen as usual.
	p.hub.Faults().Set(localhub.EndpointTransaction, localhub.Fault{Delay: 8 * time.Second, Times: 1})
	three, _ := p.file("drie.zip", 3)
	p.Drop(p.at.X+300, p.at.Y+300, three)
	p.Until("it is being sent", func() bool { return p.hub.Faults().Pending(localhub.EndpointTransaction) > 0 })
	must.Do(t, dial(p.office).Ring(t.Context(), simulate.Call{ID: "1", Number: "+31698760011"}))
	p.Until("the card", func() bool { return foundOnScreen(p.Screenshot()) })
	if states, _ := p.listed(); strings.TrimSpace(states["drie.zip"]) != "sending" {
		t.Errorf("the card waited for the message: %v", states)
	}
	must.Do(t, p.hub.Faults().Reset())
	p.is("drie.zip", "delivered")
}
