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
	"wiebelt/internal/testutil/xtest"
)

// post is the delivery window of an office, watched and used from outside.
type post struct {
	*office
	t  testing.TB
	id string
	at image.Point // of its contents on the screen
	in string      // where files to deliver lie
}

func openPost(t testing.TB) *post {
	t.Helper()
	o := prepare(t, "[ui]\ntheme = \"light\"\nlanguage = \"nl\"")
	if out, err := o.wiebelt("provision", "--intermediary", localhub.DefaultIntermediary).CombinedOutput(); err != nil {
		t.Fatalf("provision: %v: %s", err, out)
	}
	o.start()
	windows := o.wiebelt("window", windowapi.WindowDelivery)
	windows.Stdout, windows.Stderr = o.log, o.log
	if err := windows.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = windows.Process.Kill(); _ = windows.Wait() })
	p := &post{office: o, t: t, in: t.TempDir()}
	p.id = o.FindWindow("^Berichten aanleveren")
	p.at = (&desk{office: o, t: t}).origin(p.id)
	return p
}

func (p *post) file(name string, n int) (path, sum string) {
	p.t.Helper()
	content := contractZIP(p.t, n)
	path = filepath.Join(p.in, name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		p.t.Fatal(err)
	}
	s := sha256.Sum256(content)
	return path, hex.EncodeToString(s[:])
}

// listed is what "wiebelt deliver list" says: the outbox as it is.
func (p *post) listed() (states map[string]string, notes string) {
	p.t.Helper()
	out, err := p.wiebelt("deliver", "list", "--all", "--json").Output()
	if err != nil {
		p.t.Fatalf("list: %v: %s", err, out)
	}
	var r struct {
		Items []struct{ File, Outcome, Note string }
	}
	if err := json.Unmarshal(out, &r); err != nil {
		p.t.Fatal(err)
	}
	states = map[string]string{}
	for _, it := range r.Items {
		states[filepath.Base(it.File)] += it.Outcome + " "
		notes += it.Note
	}
	return states, notes
}

func (p *post) is(name, want string) {
	p.t.Helper()
	var states map[string]string
	p.Until(name+" is "+want, func() bool {
		states, _ = p.listed()
		p.shot("last")
		return strings.TrimSpace(states[name]) == want
	}, func() []any { return []any{states} })
}

// arrived are the sums of what lies in the message box, each as often as it does.
func (p *post) arrived() map[string]int {
	p.t.Helper()
	all, err := p.hub.Messages(p.t.Context(), "", 1000)
	if err != nil {
		p.t.Fatal(err)
	}
	n := map[string]int{}
	for _, m := range all {
		n[m.SHA256]++
	}
	return n
}

func (p *post) click(x, y int) { p.Click(p.at.X+x, p.at.Y+y, 1) }

// part is how much of a part of the window has a colour, or nearly that.
func (p *post) part(r image.Rectangle, rgb uint32) float64 {
	img := p.Crop(r.Add(p.at))
	return float64(4*xtest.Count(img, rgb, 7)) / float64(len(img.Pix))
}

// shows reports whether a colour is in a part of the window, button whether a
// button fills it.
func (p *post) shows(r image.Rectangle, rgb uint32) bool { return p.part(r, rgb) > 0 }
func (p *post) button(r image.Rectangle) bool            { return p.part(r, soft) == 1 }

func (p *post) shot(name string) {
	if dir := os.Getenv("WIEBELT_SHOTS"); dir != "" {
		keep(p.t, filepath.Join(dir, "post-"+name+".png"), p.Crop(image.Rectangle{Max: image.Pt(720, 640)}.Add(p.at)))
	}
}

// Places in the window's contents.
var (
	askButton  = image.Rect(153, 138, 158, 164) // left of the words "send all the same"
	noteEntry  = image.Pt(300, 235)
	deliveredB = image.Pt(97, 282)
	chooseB    = image.Pt(620, 38)
	pathEntry  = image.Pt(300, 82)
	deliverB   = image.Pt(645, 38)
)

// rowMark is the mark of a row while nothing is asked.
func rowMark(n int) image.Rectangle { return image.Rect(514, 141+52*n, 536, 161+52*n) }

const (
	amber  = 0x9A5B00
	soft   = 0xF4F6F8
	accent = 0x0B6BCB
)

// TestDeliveryWindow is the window from end to end: files that are dragged into
// it arrive as they are; one that is no message is refused with its reason; one
// that was delivered is asked about; one that is maybe delivered is decided by a
// person; others are chosen by their path; and cards come up meanwhile.
func TestDeliveryWindow(t *testing.T) {
	t.Parallel()
	p := openPost(t)
	photo := filepath.Join(p.in, "vakantie foto é.zip")
	if err := os.WriteFile(photo, []byte("geen zip"), 0o600); err != nil {
		t.Fatal(err)
	}
	one, sum := p.file("bericht één.zip", 1)
	p.shot("0-empty")
	p.Drop(p.at.X+300, p.at.Y+400, one, photo)
	p.is("bericht één.zip", "delivered")
	if n := p.arrived(); len(n) != 1 || n[sum] != 1 {
		t.Errorf("arrived: %v", n)
	}
	p.Until("a delivered row and a refused one", func() bool { return p.shows(rowMark(0), answeredGreen) && p.shows(rowMark(1), amber) })
	p.shot("1-delivered")

	p.Drop(p.at.X+100, p.at.Y+500, one)
	p.Until("a question", func() bool { return p.button(askButton) })
	if states, _ := p.listed(); strings.TrimSpace(states["bericht één.zip"]) != "delivered" {
		t.Errorf("sent before anybody said so: %v", states)
	}
	p.shot("2-question")
	p.click(210, 151)
	p.is("bericht één.zip", "delivered delivered")
	if n := p.hub.Stats().Messages; n != 2 { // and the hub knows it for the same one
		t.Errorf("%d messages", n)
	}
	p.Until("no question", func() bool { return !p.button(askButton) && p.shows(rowMark(1), answeredGreen) })

	// An answer that breaks off: a person looks, and says so.
	p.hub.Faults().Set(localhub.AtTransaction, localhub.Fault{Body: localhub.BodyCut, Times: 1})
	two, _ := p.file("twee.zip", 2)
	p.Drop(p.at.X+300, p.at.Y+300, two)
	p.is("twee.zip", "uncertain")
	p.Until("a row that is maybe delivered", func() bool { return p.shows(rowMark(0), amber) })
	p.Move(p.at.X+300, p.at.Y+160)
	p.Until("the page about it", func() bool { p.click(300, 160); return p.button(image.Rect(27, 270, 31, 294)) })
	p.shot("3-uncertain")
	p.click(noteEntry.X, noteEntry.Y)
	p.Type("gezien door Smit", 5)
	p.shot("4-note")
	p.click(deliveredB.X, deliveredB.Y)
	p.is("twee.zip", "delivered")
	if _, notes := p.listed(); notes != "gezien door Smit" {
		t.Errorf("noted %q", notes)
	}
	p.Key("Escape")
	p.Until("the list again", func() bool { return p.shows(rowMark(0), answeredGreen) })

	// While a message is on its way, a call is on screen as ever.
	p.hub.Faults().Set(localhub.AtTransaction, localhub.Fault{Delay: 8 * time.Second, Times: 1})
	three, _ := p.file("drie.zip", 3)
	p.Drop(p.at.X+300, p.at.Y+300, three)
	p.Until("it is being sent", func() bool { return p.hub.Faults().Pending(localhub.AtTransaction) > 0 })
	if err := dial(p.office).Ring(t.Context(), simulate.Call{ID: "1", Number: "+31698760011"}); err != nil {
		t.Fatal(err)
	}
	card := place(foundHeight)
	p.Until("the card", func() bool {
		return has(p.look(image.Rect(0, 0, width, height)), card.Min.X+2, card.Min.Y+20, 0x0B, 0x6B, 0xCB)
	})
	if states, _ := p.listed(); strings.TrimSpace(states["drie.zip"]) != "sending" {
		t.Errorf("the card waited for the message: %v", states)
	}
	if err := p.hub.Faults().Reset(); err != nil {
		t.Fatal(err)
	}
	p.is("drie.zip", "delivered")

	// Chosen instead of dragged.
	four, sum := p.file("vier.zip", 4)
	p.click(chooseB.X, chooseB.Y)
	p.Until("the page to choose on", func() bool { p.shot("5-choose"); return p.button(image.Rect(584, 66, 588, 90)) })
	p.click(pathEntry.X, pathEntry.Y)
	p.Key("ctrl+a")
	p.Type(four, 2)
	p.Key("Return")
	p.Until("a file is chosen", func() bool { return p.part(image.Rect(690, 25, 694, 50), accent) == 1 })
	p.shot("5-choose")
	p.click(deliverB.X, deliverB.Y)
	p.is("vier.zip", "delivered")
	if n := p.arrived(); len(n) != 4 || n[sum] != 1 {
		t.Errorf("arrived: %v", n)
	}
	p.shot("6-end")
}
