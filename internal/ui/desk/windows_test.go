package desk

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"

	"wiebelt/internal/deskapi"
	"wiebelt/internal/history"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/theme"
)

// bench is the windows on Fyne's test driver, with everything they say kept.
type bench struct {
	*windows
	said  []message
	kicks int
	clock time.Time
	later []func()
}

func newBench(t *testing.T, w deskapi.Welcome) *bench {
	app := test.NewTempApp(t)
	app.Settings().SetTheme(theme.New("light"))
	b := &bench{clock: noon}
	b.windows = newWindows(params{
		app:  app,
		post: func(f func()) { f() },
		send: func(kind string, m any) { b.said = append(b.said, message{kind, m}) },
		kick: func() { b.kicks++ },
		now:  func() time.Time { return b.clock },
		after: func(_ time.Duration, f func()) {
			b.later = append(b.later, f)
		},
		log: slog.New(slog.DiscardHandler),
	}, w)
	return b
}

// take gives what was said since the last take.
func (b *bench) take() []message {
	said := b.said
	b.said = nil
	return said
}

func greeting(l text.Language, demo ...deskapi.DemoCall) deskapi.Welcome {
	return deskapi.Welcome{Language: string(l), History: "x", Demo: demo}
}

var demoCalls = []deskapi.DemoCall{{ID: "known", Title: "Bekende klant", Hint: "Eerst het nummer."}, {ID: "gone", Title: "Hub is weg", Hint: "De kaart zegt het."}}

// texts gives everything that is written in a window, in the order of its tree.
func texts(w fyne.Window) []string {
	var all []string
	var walk func(fyne.CanvasObject)
	walk = func(o fyne.CanvasObject) {
		if !o.Visible() {
			return
		}
		switch o := o.(type) {
		case *canvas.Text:
			if o.Text != "" {
				all = append(all, o.Text)
			}
		case *fyne.Container:
			for _, c := range o.Objects {
				walk(c)
			}
		case fyne.Widget:
			for _, c := range test.WidgetRenderer(o).Objects() {
				walk(c)
			}
		}
	}
	walk(w.Canvas().Content())
	return all
}

func wantTexts(t *testing.T, w fyne.Window, want ...string) {
	t.Helper()
	all := strings.Join(texts(w), "|")
	for _, s := range want {
		if !strings.Contains(all, s) {
			t.Errorf("%q is not written; there is: %s", s, all)
		}
	}
}

func views(b *bench) map[int64]*rowView {
	all := map[int64]*rowView{}
	var walk func(fyne.CanvasObject)
	walk = func(o fyne.CanvasObject) {
		if v, ok := o.(*rowView); ok {
			all[v.row.id] = v
			return
		}
		if c, ok := o.(*fyne.Container); ok {
			for _, o := range c.Objects {
				walk(o)
			}
		} else if w, ok := o.(fyne.Widget); ok {
			for _, o := range test.WidgetRenderer(w).Objects() {
				walk(o)
			}
		}
	}
	walk(b.calls.list)
	return all
}

func TestCallsBothLanguages(t *testing.T) {
	for _, tt := range []struct {
		lang text.Language
		want []string
	}{
		{text.Dutch, []string{"Oproepen", "Zoeken op naam", "Vandaag", "J. de Vries", "Opgenomen", "2:14"}},
		{text.English, []string{"Calls", "Search by name", "Today", "J. de Vries", "Answered", "2:14"}},
	} {
		b := newBench(t, greeting(tt.lang))
		b.read([]history.Entry{customer()}, nil)
		b.show(deskapi.WindowCalls)
		wantTexts(t, b.calls.win, tt.want...)
		b.handle(deskapi.KindStatus, json.RawMessage(`{"ok":false,"sentence":"De hub reageert niet."}`))
		wantTexts(t, b.calls.win, "De hub reageert niet.")
	}
}

func TestEmptyPages(t *testing.T) {
	tests := []struct {
		name    string
		welcome deskapi.Welcome
		state   func(*bench)
		want    string
	}{
		{"no calls, demo", greeting(text.Dutch, demoCalls...), func(b *bench) { b.read(nil, nil) }, "Demo openen"},
		{"no calls", greeting(text.Dutch), func(b *bench) { b.read(nil, nil) }, "Nog geen oproepen"},
		{"no calls, how to try", greeting(text.English), func(b *bench) { b.read(nil, nil) }, "wiebelt demo"},
		{"not kept", deskapi.Welcome{Language: "nl"}, func(b *bench) { b.read(nil, nil) }, "Oproepen worden niet bewaard"},
		{"unreadable", greeting(text.Dutch), func(b *bench) { b.read(nil, errors.New("disk")) }, "kunnen nu niet worden gelezen"},
		{"filtered", greeting(text.Dutch), func(b *bench) {
			b.read([]history.Entry{customer()}, nil)
			b.calls.filter.SetText("zzz")
		}, "Niets gevonden voor “zzz”"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, tt.welcome)
			b.show(deskapi.WindowCalls)
			tt.state(b)
			wantTexts(t, b.calls.win, tt.want)
		})
	}
	t.Run("what was read stays when reading fails", func(t *testing.T) {
		b := newBench(t, greeting(text.Dutch))
		b.show(deskapi.WindowCalls)
		b.read([]history.Entry{customer()}, nil)
		b.read(nil, errors.New("disk"))
		wantTexts(t, b.calls.win, "J. de Vries")
	})
}

func TestClicksInARow(t *testing.T) {
	b := newBench(t, greeting(text.Dutch))
	unknown := customer()
	unknown.ID, unknown.Name, unknown.Link = 8, "", ""
	withheld := history.Entry{ID: 9, Rang: noon}
	b.read([]history.Entry{customer(), unknown, withheld}, nil)
	b.show(deskapi.WindowCalls)
	b.clock = b.clock.Add(time.Second)
	rows := views(b)
	name := fyne.NewPos(200, 20)
	copyAt := func(v *rowView) fyne.Position { return fyne.NewPos(v.Size().Width-rowInset-10, 20) }

	for _, tt := range []struct {
		what string
		id   int64
		at   fyne.Position
		want []message
	}{
		{"a name opens", 7, name, []message{{deskapi.KindOpen, deskapi.Open{Entry: 7}}}},
		{"an unknown number does nothing", 8, name, nil},
		{"copy", 8, copyAt(rows[8]), []message{{deskapi.KindCopy, deskapi.Copy{Text: "+31612345678"}}}},
		{"nothing to copy", 9, copyAt(rows[9]), nil},
	} {
		test.TapAt(rows[tt.id], tt.at)
		if got := b.take(); fmt.Sprint(got) != fmt.Sprint(tt.want) {
			t.Errorf("%s: said %v, want %v", tt.what, got, tt.want)
		}
	}
	wantTexts(t, b.calls.win, "Gekopieerd")
	for _, f := range b.later {
		f()
	}
	if all := strings.Join(texts(b.calls.win), "|"); strings.Contains(all, "Gekopieerd") {
		t.Error("it says copied for ever")
	}

	// The pointer shows what a click would do.
	rows[7].MouseIn(&desktop.MouseEvent{PointEvent: fyne.PointEvent{Position: name}})
	if !rows[7].back.Visible() || rows[7].title.colour != "primary" || rows[7].Cursor() != desktop.PointerCursor {
		t.Error("a row that opens does not look like it under the pointer")
	}
	rows[7].MouseOut()
	if rows[7].back.Visible() || rows[7].title.colour != "foreground" {
		t.Error("the pointer left and the row still shows it")
	}
	if rows[9].Cursor() != desktop.DefaultCursor {
		t.Error("a row without a link looks as if it opened")
	}
}

// A new call pushes the others down; a click that was meant for the row before
// opens nothing.
func TestClickAfterRowsMoved(t *testing.T) {
	b := newBench(t, greeting(text.Dutch))
	b.read([]history.Entry{customer()}, nil)
	b.show(deskapi.WindowCalls)
	b.clock = b.clock.Add(time.Minute)
	v := views(b)[7]
	other := customer()
	other.ID = 8
	b.read([]history.Entry{other, customer()}, nil)
	if v.row.id != 8 {
		t.Fatalf("the view shows %d, the test expects another caller in it", v.row.id)
	}
	test.TapAt(v, fyne.NewPos(200, 20))
	if got := b.take(); got != nil {
		t.Errorf("a click at once said %v", got)
	}
	b.clock = b.clock.Add(settle)
	test.TapAt(v, fyne.NewPos(200, 20))
	if got := b.take(); len(got) != 1 || got[0].m != (deskapi.Open{Entry: 8}) {
		t.Errorf("a click later said %v", got)
	}
}

func TestKeyboard(t *testing.T) {
	b := newBench(t, greeting(text.Dutch))
	b.read([]history.Entry{customer()}, nil)
	b.show(deskapi.WindowCalls)
	c := b.calls.win.Canvas()
	c.Focus(b.calls.list)
	b.calls.list.TypedKey(&fyne.KeyEvent{Name: fyne.KeyDown}) // from the heading to the call
	b.calls.list.TypedKey(&fyne.KeyEvent{Name: fyne.KeySpace})
	if got := b.take(); len(got) != 1 || got[0].m != (deskapi.Open{Entry: 7}) {
		t.Errorf("the space bar said %v", got)
	}
	b.calls.copyChosen()
	if got := b.take(); len(got) != 1 || got[0].kind != deskapi.KindCopy {
		t.Errorf("copy said %v", got)
	}
}

func TestManyCalls(t *testing.T) {
	b := newBench(t, greeting(text.Dutch))
	all := make([]history.Entry, historyOf)
	for i := range all {
		all[i] = customer()
		all[i].ID, all[i].Rang = int64(i+1), noon.Add(-time.Duration(i)*time.Minute)
	}
	b.show(deskapi.WindowCalls)
	began := time.Now()
	b.read(all, nil)
	if n := len(views(b)); n > 40 {
		t.Errorf("%d rows were made for one window", n)
	}
	t.Logf("%d calls shown in %v", len(all), time.Since(began).Round(time.Millisecond))
}

func TestDemo(t *testing.T) {
	b := newBench(t, greeting(text.Dutch, demoCalls...))
	b.show(deskapi.WindowDemo)
	wantTexts(t, b.demo.win, "Demo", "verzonnen", "Bekende klant", "Eerst het nummer.", "Hub is weg", "Kies hierboven een beller.")
	primary := 0
	for i, button := range b.demo.buttons {
		test.Tap(button)
		if got := b.take(); len(got) != 1 || got[0].m != (deskapi.Play{ID: demoCalls[i].ID}) {
			t.Errorf("button %d said %v", i, got)
		}
		if button.Importance == widget.HighImportance {
			primary++
		}
		if h := button.Size().Height; h != 36 {
			t.Errorf("button %d is %v high, want 36", i, h)
		}
	}
	if primary != 1 {
		t.Errorf("%d primary buttons, want 1", primary)
	}
	wantTexts(t, b.demo.win, "De telefoon gaat…")
	b.handle(deskapi.KindPlayed, json.RawMessage(`{"id":"known","line":"old"}`)) // overtaken by the second click
	wantTexts(t, b.demo.win, "De telefoon gaat…")
	b.handle(deskapi.KindPlayed, json.RawMessage(`{"id":"gone","line":"in 6 ms op het scherm, relatie na 11 ms"}`))
	wantTexts(t, b.demo.win, "in 6 ms op het scherm, relatie na 11 ms")
}

func TestWindowsAreMadeOnce(t *testing.T) {
	b := newBench(t, greeting(text.Dutch, demoCalls...))
	before := len(b.app.Driver().AllWindows()) // the test driver has one of its own
	b.show(deskapi.WindowDemo)
	first := b.demo.win
	b.handle(deskapi.KindShow, json.RawMessage(`{"window":"demo"}`))
	b.handle(deskapi.KindShow, json.RawMessage(`{"window":"calls"}`))
	b.handle(deskapi.KindShow, json.RawMessage(`{"window":"of a newer resident"}`))
	if n := len(b.app.Driver().AllWindows()) - before; b.demo.win != first || n != 2 {
		t.Errorf("%d windows, want the same demo and one of calls", n)
	}
	first.Close()
	if b.demo != nil {
		t.Error("a closed window is still held")
	}
	b.handle(deskapi.KindPlayed, json.RawMessage(`{"id":"known","line":"x"}`)) // nothing shows it any more
	b.handle(deskapi.KindShow, json.RawMessage(`{"window":"demo"}`))
	if b.demo == nil || b.demo.win == first {
		t.Error("the window did not come back")
	}
}

func TestHandleStrange(t *testing.T) {
	b := newBench(t, greeting(text.Dutch))
	b.show(deskapi.WindowCalls)
	for _, m := range []struct{ kind, raw string }{
		{"", ""}, {"unheard of", `{"a":1}`}, {deskapi.KindShow, `nonsense`}, {deskapi.KindStatus, `[]`},
		{deskapi.KindPlayed, ``}, {deskapi.KindPainted, `{}`},
	} {
		b.handle(m.kind, json.RawMessage(m.raw))
	}
	b.kicks = 0
	b.handle(deskapi.KindHistory, nil)
	if b.kicks != 1 {
		t.Errorf("a changed history was read %d times", b.kicks)
	}
}

func TestPaintedIsSaidOnce(t *testing.T) {
	b := newBench(t, greeting(text.Dutch, demoCalls...))
	b.show(deskapi.WindowCalls)
	b.calls.win.Canvas().Capture()
	b.calls.win.Canvas().Capture()
	b.show(deskapi.WindowDemo)
	b.demo.win.Canvas().Capture()
	painted := 0
	for _, m := range b.take() {
		if m.kind == deskapi.KindPainted {
			painted++
		}
	}
	if painted != 1 {
		t.Errorf("said painted %d times", painted)
	}
}

// Fyne's own strings: every one of ours has a text in both languages, and
// together they are all that Fyne knows, apart from the names of days.
func TestBuiltinStrings(t *testing.T) {
	for theirs, ours := range builtin {
		for _, l := range []text.Language{text.Dutch, text.English} {
			if s := l.T(ours); s == "" || s == string(ours) {
				t.Errorf("%s has no text for %q", l, theirs)
			}
		}
	}
	if err := translateBuiltin(text.Dutch); err != nil {
		t.Error(err)
	}
}

func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h.db")
	f := &file{path: path}
	defer f.close()
	if all, err := f.read(t.Context()); all != nil || err != nil {
		t.Errorf("no file yet: %v, %v", all, err)
	}
	s, err := history.Open(path, history.KeepFull, 7, func() time.Time { return noon })
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Put(t.Context(), customer()); !errors.Is(err, history.ErrGone) {
		t.Fatalf("Put with an unknown id: %v", err)
	}
	e := customer()
	e.ID = 0
	if _, err := s.Put(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	if all, err := f.read(t.Context()); len(all) != 1 || err != nil {
		t.Errorf("read %d, %v", len(all), err)
	}
	if runtime.GOOS == "linux" { // a folder in its place is no missing file
		g := &file{path: t.TempDir()}
		defer g.close()
		if _, err := g.read(t.Context()); err == nil || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a folder: %v", err)
		}
	}
}

// Another language or look comes while windows are open: they stay where they
// are and read anew.
func TestWindowsFollowTheSettings(t *testing.T) {
	b := newBench(t, greeting(text.Dutch))
	b.read(nil, nil)
	b.show(deskapi.WindowCalls)
	b.show(deskapi.WindowRecipes)
	calls, recipes := b.calls.win, b.recipes.win
	say := func(w deskapi.Welcome) {
		t.Helper()
		raw, err := json.Marshal(w)
		if err != nil {
			t.Fatal(err)
		}
		b.handle(deskapi.KindWelcome, raw)
	}
	same := b.calls
	say(greeting(text.Dutch))
	if b.calls != same {
		t.Error("nothing changed, and the window was built anew")
	}
	english := greeting(text.English)
	english.Status = deskapi.Status{OK: true, Sentence: "Ready."}
	say(english)
	if b.calls.win != calls || b.recipes.win != recipes {
		t.Fatal("another window")
	}
	wantTexts(t, calls, "Calls", "Ready.")
	if calls.Title() != "Calls – Wiebelt" {
		t.Error(calls.Title())
	}
	wantTexts(t, recipes, text.English.T(text.RecipesPhones))
}
