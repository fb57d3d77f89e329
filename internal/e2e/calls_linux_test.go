package e2e

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"image"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite" // to create many calls quickly

	"wiebelt/internal/instance"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/resident"
	"wiebelt/internal/store/history"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/xtest"
	"wiebelt/internal/text"
)

// Keys by position on the keyboard.
const (
	keyZ, keyBackspace, keyEnd, keyPageUp, keyEscape = 52, 22, 115, 112, 9
)

// seedCalls adds n calls to an office's history, one per minute, nearly all of them
// answered; one caller in the middle is called Zeldzaam.
func seedCalls(t testing.TB, o *office, n int) {
	t.Helper()
	path := filepath.Join(o.profile, "history.db")
	s := must.Get(history.Open(path, history.KeepFull, 365, time.Now))(t)
	now := time.Now()
	id := must.Get(s.Put(t.Context(), history.Entry{Rang: now, Answered: now, Ended: now.Add(time.Minute), Kind: "baresip", Number: "+31612345678",
		NumberDisplay: "06 12 34 56 78", Line: "Schade", Name: "J. de Vries", ContactID: "c", RelationNumber: "100200", Link: o.hub.HubURL() + "/contacts/viewcontact/c",
		Matches: 1, Outcome: history.OutcomeFound, Result: history.ResultAnswered}))(t)
	must.Get(s.Put(t.Context(), history.Entry{Rang: now.Add(-time.Duration(n/2)*time.Minute - time.Second), Answered: now, Ended: now.Add(time.Minute),
		Number: "+31201234567", NumberDisplay: "020 123 45 67", Name: "Q. Zeldzaam", Result: history.ResultAnswered}))(t)
	must.Do(t, s.Close())
	db := must.Get(sql.Open("sqlite", path))(t)
	columns := "answered, ended, outgoing, kind, shown, line, line_number, via, contact_id, relation_number, link, matches, outcome, result"
	_, err := db.Exec(`WITH RECURSIVE i(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM i WHERE n < ?)
		INSERT INTO calls (rang, number, name, find, `+columns+`)
		SELECT rang - n * 60000000, printf('+316%08d', n), char(65 + n % 25) || '. de Vries',
			char(97 + n % 25) || '. de vries' || char(10) || 'schade' || char(10) || printf('316%08d', n) || char(10) || '0612345678' || char(10) || '100200', `+columns+`
		FROM i, calls WHERE id = ?`, n-2, id)
	must.Do(t, errors.Join(err, db.Close()))
}

// callsWindow is the calls window of an office, watched from outside.
type callsWindow struct {
	*office
	t   testing.TB
	cfg instance.Config
	at  image.Point // of its content on the screen
	// changed receives when something on the screen is painted.
	changed <-chan struct{}
}

const callsSettings = "[history]\ndays = 365\n\n[ui]\ntheme = \"light\"\nlanguage = \"nl\""

func openCalls(t testing.TB, calls int) *callsWindow {
	t.Helper()
	return startCalls(t, prepare(t, callsSettings), calls)
}

// startCalls starts an office with some calls in its history.
func startCalls(t testing.TB, o *office, calls int) *callsWindow {
	t.Helper()
	seedCalls(t, o, calls)
	o.start()
	return &callsWindow{office: o, t: t, cfg: o.instance(), changed: o.Changes()}
}

// ask requests the calls window, like a click in the tray's menu.
func (d *callsWindow) ask() {
	d.t.Helper()
	must.Do(d.t, resident.ShowCalls(context.Background(), d.cfg))
}

// find determines where the window is.
func (d *callsWindow) find() (id string) {
	d.t.Helper()
	id = d.FindWindow("^Oproepen")
	d.at = d.origin(id)
	return id
}

// origin returns where a window's content begins on the screen.
func (o *office) origin(id string) image.Point {
	o.t.Helper()
	p := o.placeOf(id).Min
	o.Move(p.X, p.Y) // away from what is checked
	return p
}

// mark returns the place of the mark of one of the first two rows.
func (d *callsWindow) mark(row int) image.Rectangle {
	return image.Rect(354, 168+48*row, 376, 188+48*row).Add(d.at)
}

// shows reports whether a part of the screen contains a colour.
func (d *callsWindow) shows(r image.Rectangle, rgb uint32) bool {
	return xtest.Count(d.Crop(r), rgb, 0) > 0
}

// took measures how long it takes after do until ok returns true, checking after
// every change of the screen.
func (d *callsWindow) took(what string, do func(), ok func() bool) time.Duration {
	d.t.Helper()
	began := time.Now()
	do()
	d.When(d.changed, what, ok)
	return time.Since(began)
}

func (d *callsWindow) rows() bool { return d.shows(d.mark(0), answeredGreen) }

// pid returns the windows' process, 0 if there is none.
func (d *callsWindow) pid() int {
	for _, pid := range d.running(true) {
		return pid
	}
	return 0
}

// close closes the calls window like its user would.
func (d *callsWindow) close(id string) {
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

// activate gives a window the focus.
func (d *callsWindow) activate(id string) {
	d.t.Helper()
	d.Run("xdotool", "windowactivate", "--sync", id)
	d.Until("the window has the keyboard", func() bool { return strings.TrimSpace(d.Run("xdotool", "getactivewindow")) == id })
}

// end closes the last window, and waits until the resident knows that the program has
// ended: until then it would send it requests.
func (d *callsWindow) end(id string) {
	d.t.Helper()
	process := fmt.Sprint("/proc/", d.pid())
	d.close(id)
	d.Until("no process", func() bool { return !exists(process) })
}

// callsFigures has the figures of one history, as its user would notice them.
type callsFigures struct {
	cold, warm, filter []time.Duration
	memory             int // kB
}

func measureCalls(t testing.TB, calls, rounds int) (f callsFigures) {
	t.Helper()
	d := openCalls(t, calls)
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
	d.Press(keyEnd) // to the end of the list, which loads everything
	for range 20 {
		d.Press(keyPageUp)
	}
	d.Press(keyZ)
	d.Until("one call", func() bool { return !d.shows(d.mark(1), answeredGreen) && d.rows() })
	d.Press(keyEscape)
	d.Until("every call", func() bool { return d.shows(d.mark(1), answeredGreen) })
	f.memory = memory(t, d.pid())
	// Another window, which keeps the process running. It is requested once: a second click
	// could bring it to the front again when the calls window is to close.
	d.run("window", "lookup")
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
	return f
}

// TestWindowsAlone checks that without a resident, the contents of files
// can be viewed and changed, and that whatever needs a resident says so.
func TestWindowsAlone(t *testing.T) {
	t.Parallel()
	o := prepare(t, "[ui]\ntheme = \"light\"\nlanguage = \"nl\"")
	seedCalls(t, o, 3)
	out, err := o.wiebelt("window", windowapi.WindowLookup).CombinedOutput()
	if exit, is := errors.AsType[*exec.ExitError](err); !is || exit.ExitCode() != 4 || !strings.Contains(string(out), text.Dutch.T(text.WindowNeedsResident)) {
		t.Errorf("%v: %s", err, out)
	}
	windows := o.wiebelt("window", windowapi.WindowCalls)
	windows.Stdout, windows.Stderr = o.log, o.log
	must.Do(t, windows.Start())
	t.Cleanup(func() { _ = windows.Process.Kill() })
	d := &callsWindow{office: o, t: t}
	d.find()
	d.Until("a call", func() bool { _, ok := d.see("B. de Vries"); return ok }) // of the J windows cut a little
	d.clickOn("Nummer opzoeken", image.Point{}, "the window to look up", func() bool { return len(d.Windows("^Nummer opzoeken")) > 0 })
	d.activate(d.FindWindow("^Nummer opzoeken"))
	d.Type("0612345678", 0)
	d.Key("Return")
	d.Until("that it cannot be looked up", func() bool { _, ok := d.see(text.Dutch.T(text.WindowNeedsResident)); return ok })
	d.Until("no window", func() bool { d.Run("sh", "-c", "wmctrl -c Wiebelt || true"); return len(d.Windows("Wiebelt$")) == 0 })
	must.Do(t, windows.Wait())
}
