package e2e

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"image"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite" // to make many calls at once

	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/instance"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/resident"
	"wiebelt/internal/simulate"
	"wiebelt/internal/store/callactions"
	"wiebelt/internal/store/history"
	"wiebelt/internal/testutil/xtest"
	"wiebelt/internal/text"
)

// Keys by their place on the keyboard.
const (
	keyZ, keyBackspace, keyEnd, keyHome, keyPageUp, keyPageDown, keyDown, keyEscape = 52, 22, 115, 110, 112, 117, 116, 9
)

// seedCalls makes n calls in the history of an office, one a minute, nearly all
// of them answered; one caller in the middle is called Zeldzaam.
func seedCalls(t testing.TB, o *office, n int) {
	t.Helper()
	path := filepath.Join(o.profile, "history.db")
	s, err := history.Open(path, history.KeepFull, 365, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if n == 0 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		return
	}
	now := time.Now()
	id, err := s.Put(t.Context(), history.Entry{Rang: now, Answered: now, Ended: now.Add(time.Minute), Kind: "baresip", Number: "+31612345678",
		Shown: "06 12 34 56 78", Line: "Schade", Name: "J. de Vries", ContactID: "c", RelationNumber: "100200", Link: o.hub.HubURL() + "/contacts/viewcontact/c",
		Matches: 1, Outcome: history.OutcomeFound, Result: history.ResultAnswered})
	if err != nil {
		t.Fatal(err)
	}
	rare, err := s.Put(t.Context(), history.Entry{Rang: now.Add(-time.Duration(n/2)*time.Minute - time.Second), Answered: now, Ended: now.Add(time.Minute),
		Number: "+31201234567", Shown: "020 123 45 67", Name: "Q. Zeldzaam", Result: history.ResultAnswered})
	if err != nil || rare == 0 {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	columns := "answered, ended, outgoing, kind, shown, line, line_number, via, contact_id, relation_number, link, matches, outcome, result"
	_, err = db.Exec(`WITH RECURSIVE i(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM i WHERE n < ?)
		INSERT INTO calls (rang, number, name, find, `+columns+`)
		SELECT rang - n * 60000000, printf('+316%08d', n), char(65 + n % 25) || '. de Vries',
			char(97 + n % 25) || '. de vries' || char(10) || 'schade' || char(10) || printf('316%08d', n) || char(10) || '0612345678' || char(10) || '100200', `+columns+`
		FROM i, calls WHERE id = ?`, n-2, id)
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}

// desk is the calls window of an office, watched from outside.
type desk struct {
	*office
	t   testing.TB
	cfg instance.Config
	at  image.Point // of its contents on the screen
	// changed tells when something on the screen is painted.
	changed <-chan struct{}
}

const deskSettings = "[history]\ndays = 365\n\n[ui]\ntheme = \"light\"\nlanguage = \"nl\""

func openDesk(t testing.TB, calls int) *desk {
	t.Helper()
	return startDesk(t, prepare(t, deskSettings), calls)
}

// startDesk starts an office that had some calls.
func startDesk(t testing.TB, o *office, calls int) *desk {
	t.Helper()
	seedCalls(t, o, calls)
	o.start()
	return &desk{office: o, t: t, cfg: o.instance(), changed: o.Changes()}
}

// ask asks for the calls window, as a click in the tray's menu does.
func (d *desk) ask() {
	d.t.Helper()
	if err := resident.ShowCalls(context.Background(), d.cfg); err != nil {
		d.t.Fatal(err)
	}
}

// find finds out where the window is.
func (d *desk) find() (id string) {
	d.t.Helper()
	id = d.FindWindow("^Oproepen")
	d.at = d.origin(id)
	return id
}

// origin is where a window's contents begin on the screen.
func (d *desk) origin(id string) (p image.Point) {
	d.t.Helper()
	for l := range strings.Lines(d.Run("xdotool", "mousemove", "--window", id, "0", "0", "getmouselocation", "--shell")) {
		k, v, _ := strings.Cut(strings.TrimSpace(l), "=")
		n, _ := strconv.Atoi(v)
		switch k {
		case "X":
			p.X = n
		case "Y":
			p.Y = n
		}
	}
	return p
}

// Places in the window's contents: the marks of the first two rows, and the names.
func (d *desk) mark(row int) image.Rectangle {
	return image.Rect(354, 168+48*row, 376, 188+48*row).Add(d.at)
}

func (d *desk) result() image.Rectangle { return image.Rect(378, 168, 470, 188).Add(d.at) }

func (d *desk) names() image.Rectangle { return image.Rect(104, 166, 260, 600).Add(d.at) }

const answeredGreen = 0x1B7F4B

// shows reports whether a colour is somewhere in a part of the screen.
func (d *desk) shows(r image.Rectangle, rgb uint32) bool {
	return xtest.Count(d.Crop(r), rgb, 0) > 0
}

// took measures how long it takes after do until ok, which is asked after every
// change of the screen.
func (d *desk) took(what string, do func(), ok func() bool) time.Duration {
	d.t.Helper()
	began := time.Now()
	do()
	d.When(d.changed, what, ok)
	return time.Since(began)
}

func (d *desk) rows() bool { return d.shows(d.mark(0), answeredGreen) }

// pid is the process of the windows, 0 if there is none.
func (d *desk) pid() int {
	for _, pid := range d.running(true) {
		return pid
	}
	return 0
}

// close closes the calls window as its user would.
func (d *desk) close(id string) {
	d.t.Helper()
	there := func() bool {
		return slices.Contains(d.Windows("^Oproepen"), id)
	}
	d.activate(id)
	d.Key("alt+F4")
	d.Until("no calls window", func() bool { return !there() && !d.rows() }, func() []any {
		return []any{id, "there", there(), "rows", d.rows(), "active", d.Run("xdotool", "getactivewindow"), "process", d.pid()}
	})
}

// activate gives a window the keyboard.
func (d *desk) activate(id string) {
	d.t.Helper()
	d.Run("xdotool", "windowactivate", "--sync", id)
	d.Until("the window has the keyboard", func() bool { return strings.TrimSpace(d.Run("xdotool", "getactivewindow")) == id })
}

// end closes the last window, and waits until the resident knows that the program
// has ended: until then it would take it for the one to ask.
func (d *desk) end(id string) {
	d.t.Helper()
	process := fmt.Sprint("/proc/", d.pid())
	d.close(id)
	d.Until("no process", func() bool { _, err := os.Stat(process); return err != nil })
}

// figures of one history, as its user would feel them.
type deskFigures struct {
	cold, warm, filter, page, end []time.Duration
	memory                        int // kB
}

func measureDesk(t testing.TB, calls, rounds int) (f deskFigures) {
	t.Helper()
	d := openDesk(t, calls)
	d.ask()
	id := d.find()
	d.Until("rows", d.rows)
	d.end(id)

	for range rounds {
		f.cold = append(f.cold, d.took("rows after a cold start", d.ask, d.rows))
		d.end(d.find())
	}
	d.ask()
	id = d.find()
	d.Until("rows", d.rows)
	d.Press(keyEnd) // all the way through the list, with everything it takes
	for range 20 {
		d.Press(keyPageUp)
	}
	d.Press(keyZ)
	d.Until("one call", func() bool { return !d.shows(d.mark(1), answeredGreen) && d.rows() })
	d.Press(keyEscape)
	d.Until("every call", func() bool { return d.shows(d.mark(1), answeredGreen) })
	f.memory = memory(t, d.pid())
	// Another window, which keeps the process there. It is asked for once: a click too
	// many would bring it to the front again when the calls window is to close.
	if out, err := d.wiebelt("window", "lookup").CombinedOutput(); err != nil {
		t.Fatalf("window lookup: %v: %s", err, out)
	}
	other := d.FindWindow("^Nummer opzoeken")
	d.Until("the other window has the keyboard", func() bool { return strings.TrimSpace(d.Run("xdotool", "getactivewindow")) == other })
	for range rounds {
		d.close(id)
		f.warm = append(f.warm, d.took("rows", d.ask, d.rows))
		id = d.find()
	}
	d.activate(id)
	d.Key("ctrl+f")
	d.Until("the filter has the keyboard", func() bool {
		d.Press(keyZ)
		return !d.shows(d.mark(1), answeredGreen)
	})
	d.Until("every call", func() bool { d.Press(keyBackspace); return d.shows(d.mark(1), answeredGreen) })
	for range rounds {
		f.filter = append(f.filter, d.took("other rows", func() { d.Press(keyZ) }, func() bool { return !d.shows(d.mark(1), answeredGreen) }))
		d.took("one call", func() {}, d.rows)
		d.took("every call", func() { d.Press(keyBackspace) }, func() bool { return d.shows(d.mark(1), answeredGreen) })
	}
	changed := func(do func()) time.Duration {
		before := d.Crop(d.names())
		return d.took("other rows", do, func() bool {
			return !slices.Equal(d.Crop(d.names()).Pix, before.Pix) && d.rows2()
		})
	}
	d.activate(id)
	changed(func() { d.Press(keyDown) }) // from the filter into the list: the ring
	for range max(rounds, 8) {
		f.page = append(f.page, changed(func() { d.Press(keyPageDown) }))
	}
	for range rounds {
		f.end = append(f.end, changed(func() { d.Press(keyEnd) }))
		changed(func() { d.Press(keyHome) })
	}
	if dir := os.Getenv("WIEBELT_SHOTS"); dir != "" {
		keep(t, filepath.Join(dir, fmt.Sprintf("calls-%d.png", calls)), d.Screenshot())
	}
	return f
}

// rows2 reports whether rows stand all the way down.
func (d *desk) rows2() bool {
	return d.shows(image.Rect(354, 168, 376, 340).Add(d.at), answeredGreen) && d.shows(image.Rect(354, 440, 376, 600).Add(d.at), answeredGreen)
}

// emptyDesk is the memory of the windows' process with an empty calls window.
func emptyDesk(t testing.TB) int {
	t.Helper()
	d := openDesk(t, 0)
	d.ask()
	d.find()
	const ink = 0x1B2733
	d.Until("the page that says there are none", func() bool { return d.shows(image.Rect(24, 110, 224, 170).Add(d.at), ink) })
	return memory(t, d.pid())
}

// TestHundredThousandCalls: with a hundred thousand calls the window is there as
// soon as with two hundred, and takes little more memory than an empty one. The
// figures are those of this machine; limits in milliseconds are for make bench.
func TestHundredThousandCalls(t *testing.T) {
	few, many := measureDesk(t, 200, 5), measureDesk(t, 100_000, 5)
	empty := emptyDesk(t)
	t.Logf("an empty window: %d MB", empty>>10)
	for _, r := range []struct {
		what      string
		few, many []time.Duration
		most      float64
	}{
		// Starting a program, and a window, differ that much by themselves; a list
		// that is read whole takes ten times as long.
		{"cold start to rows", few.cold, many.cold, 4},
		{"click to rows", few.warm, many.warm, 4},
		{"a page down", few.page, many.page, 4},
		{"to the end", few.end, many.end, 4},
		{"a filter key", few.filter, many.filter, 3},
	} {
		// The best of each: other tests run on this machine too.
		few, many := slices.Min(r.few), slices.Min(r.many)
		t.Logf("%s: %v with 200 calls, %v with 100,000", r.what, few, many)
		// A frame either way decides nothing.
		if ratio := float64(many-16*time.Millisecond) / float64(few); ratio > r.most {
			t.Errorf("%s takes %.1f times as long with 100,000 calls", r.what, ratio)
		}
	}
	if more := many.memory - empty; more > 30<<10 {
		t.Errorf("%d MB more than an empty window", more>>10)
	}
}

// A day with the calls window: a call is missed, stands there, its file is opened
// by the keyboard and that ticks it off; it is taken off, looked up again and
// removed; a number is looked up by hand; and a file that vanishes is told.
func TestCallsDay(t *testing.T) {
	t.Parallel()
	d := openDesk(t, 0)
	notes := d.opener("")
	p := dial(d.office)
	ring := func(id, number, reason string) {
		t.Helper()
		if err := p.Ring(t.Context(), simulate.Call{ID: id, Number: number}); err != nil {
			t.Fatal(err)
		}
		if err := p.End(t.Context(), simulate.Call{ID: id}, reason); err != nil {
			t.Fatal(err)
		}
	}
	entry := func() history.Entry {
		all := callsOf(d.t.(*testing.T), d.office)
		if len(all) == 0 {
			return history.Entry{}
		}
		return all[0]
	}
	ring("1", "+31698760011", "missed")
	d.Until("the missed call with its name", func() bool { e := entry(); return e.Open() && e.Name == vries.Contact.Name() })
	d.ask()
	id := d.find()
	const accent = 0x0B6BCB
	d.Until("the word of a missed call", func() bool { return d.shows(d.result(), accent) })
	d.activate(id)
	d.Until("the file, by Enter", func() bool {
		d.Key("Down", "Return")
		return len(opened(notes)) > 0
	})
	if all := opened(notes); !strings.HasSuffix(all[0], "/contacts/viewcontact/c-vries") {
		t.Errorf("opened %q", all)
	}
	d.Until("ticked off", func() bool { return !entry().Open() })
	d.Until("the quiet word", func() bool { return !d.shows(d.result(), accent) })
	undo := image.Rect(600, 168, 700, 200).Add(d.at)
	d.Until("no way back any more", func() bool { return !d.shows(undo, accent) })

	menu := func(down int) { // the line of the menu, from the first
		keys := []string{"Menu"}
		for range down {
			keys = append(keys, "Down")
		}
		d.Key(append(keys, "Return")...)
	}
	place := 6 // open, call back after all, copy, copy, look up again, not this
	if d.canCall() {
		place++
	}
	menu(place)
	d.Until("somebody else", func() bool { e := entry(); return e.ContactID == "" && e.TakenOff })
	ring("2", "+31698760011", "missed")
	d.Until("two calls", func() bool { return len(callsOf(t, d.office)) == 2 && entry().Name != "" })
	d.Until("the second one in the window", func() bool { return d.shows(d.result(), accent) })
	if !d.canCall() { // what is set counts at once, in a window that is open
		receiver, muted := image.Rect(612, 168, 644, 204).Add(d.at), uint32(0x5B6B7B)
		d.Run("xdotool", "mousemove", "5", "5")
		d.Until("no receiver on the row", func() bool { return !d.shows(receiver, muted) })
		f, err := os.OpenFile(d.settingsFile(), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		_, err = f.WriteString("\n[phone]\ncall_back = \"true {number}\"\n")
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
		d.Until("a receiver on the row", func() bool { return d.shows(receiver, muted) })
	}
	// The keyboard is on the first call; a click chooses the other one.
	d.Click(d.at.X+300, d.at.Y+186, 1)
	d.Key("Delete")
	d.Until("one call, the one that was not clicked", func() bool { all := callsOf(t, d.office); return len(all) == 1 && all[0].TakenOff })

	if err := os.Remove(filepath.Join(d.profile, "history.db")); err != nil {
		t.Fatal(err)
	}
	ring("3", "+31698760011", "missed")
	d.Until("a new file with the call", func() bool { return len(callsOf(t, d.office)) == 1 && entry().Result == history.ResultMissed })
	const trouble = 0x9A5B00
	d.Until("the notice", func() bool { return d.shows(image.Rect(24, 76, 300, 130).Add(d.at), trouble) })
	if dir := os.Getenv("WIEBELT_SHOTS"); dir != "" {
		keep(t, filepath.Join(dir, "calls-day.png"), d.Screenshot())
	}

	d.Click(d.at.X+534, d.at.Y+34, 1)
	look := d.FindWindow("^Nummer opzoeken")
	d.activate(look)
	before := len(opened(notes))
	at := d.origin(look)
	d.Type("06-98 76 00 11", 5)
	d.Key("Return")
	d.Until("the button that opens the file", func() bool { return d.shows(image.Rect(24, 290, 150, 340).Add(at), accent) })
	if dir := os.Getenv("WIEBELT_SHOTS"); dir != "" {
		keep(t, filepath.Join(dir, "lookup-day.png"), d.Screenshot())
	}
	d.Until("the file, by a click", func() bool {
		d.Click(at.X+80, at.Y+320, 1)
		return len(opened(notes)) > before
	})
	d.Until("ticked off by that", func() bool { return !entry().Open() })
}

// canCall reports whether this machine has something to call back with.
func (d *desk) canCall() bool {
	return strings.TrimSpace(d.Run("sh", "-c", "xdg-mime query default x-scheme-handler/tel || true")) != ""
}

// TestForgetThroughTheResident: what is deleted while Wiebelt runs is deleted by
// it, and the windows see that.
func TestForgetThroughTheResident(t *testing.T) {
	t.Parallel()
	d := openDesk(t, 300)
	d.ask()
	d.find()
	d.Until("rows", d.rows)
	dirs, err := profile.Find(d.profile)
	if err != nil {
		t.Fatal(err)
	}
	if err := callactions.Forget(t.Context(), d.cfg, dirs, settings.Defaults(), windowapi.Forget{Number: "020 123 45 67"}); err != nil {
		t.Error(err)
	}
	if n := len(callsOf(t, d.office)); n != 299 {
		t.Errorf("%d calls after one number went", n)
	}
	if err := callactions.Forget(t.Context(), d.cfg, dirs, settings.Defaults(), windowapi.Forget{All: true}); err != nil {
		t.Error(err)
	}
	if n := len(callsOf(t, d.office)); n != 0 {
		t.Errorf("%d calls after all went", n)
	}
	d.Until("an empty window", func() bool { return !d.rows() })
	for _, f := range []string{"history.db", "history.db-wal"} {
		b, err := os.ReadFile(filepath.Join(d.profile, f))
		if err == nil && (strings.Contains(string(b), "de Vries") || strings.Contains(string(b), "Zeldzaam")) {
			t.Errorf("%s still holds names", f)
		}
	}
}

// TestWindowsAlone: what lies in files can be seen and changed where no resident
// runs; what needs one says so.
func TestWindowsAlone(t *testing.T) {
	t.Parallel()
	o := prepare(t, "[ui]\ntheme = \"light\"\nlanguage = \"nl\"")
	seedCalls(t, o, 3)
	out, err := o.wiebelt("window", windowapi.WindowLookup).CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 4 || !strings.Contains(string(out), text.Dutch.T(text.WindowNeedsResident)) {
		t.Errorf("%v: %s", err, out)
	}
	windows := o.wiebelt("window", windowapi.WindowCalls)
	windows.Stdout, windows.Stderr = o.log, o.log
	if err := windows.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = windows.Process.Kill() })
	d := &desk{office: o, t: t}
	d.find()
	d.Until("a call", func() bool { _, ok := d.see("J. de Vries"); return ok })
	d.clickOn("Nummer opzoeken", image.Point{}, "the window to look up", func() bool { return len(d.Windows("^Nummer opzoeken")) > 0 })
	d.activate(d.FindWindow("^Nummer opzoeken"))
	d.Type("0612345678", 0)
	d.Key("Return")
	d.Until("that it cannot be looked up", func() bool { _, ok := d.see(text.Dutch.T(text.WindowNeedsResident)); return ok })
	d.Until("no window", func() bool { d.Run("sh", "-c", "wmctrl -c Wiebelt || true"); return len(d.Windows("Wiebelt$")) == 0 })
	if err := windows.Wait(); err != nil {
		t.Error(err)
	}
}
