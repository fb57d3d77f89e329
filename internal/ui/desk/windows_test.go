package desk

import (
	"encoding/json"
	"image/png"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/test"

	"wiebelt/internal/deskapi"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/theme"
)

// saying is what a window said to the resident.
type saying struct {
	kind string
	m    any
}

// bench is the windows on Fyne's test driver, with everything they say kept.
type bench struct {
	*windows
	said  []saying
	kicks int
	clock time.Time
	later []func()
}

// newBench has the windows that openers make, and something to stand in for every
// other.
func newBench(t testing.TB, w deskapi.Welcome, openers map[string]opener) *bench {
	t.Helper()
	app := test.NewTempApp(t)
	app.Settings().SetTheme(theme.New("light"))
	b := &bench{clock: noon}
	b.windows = newWindows(params{
		app:  app,
		post: func(f func()) { f() },
		send: func(kind string, m any) { b.said = append(b.said, saying{kind: kind, m: m}) },
		kick: func() { b.kicks++ },
		now:  func() time.Time { return b.clock },
		after: func(_ time.Duration, f func()) {
			b.later = append(b.later, f)
		},
		log: slog.New(slog.DiscardHandler),
	}, w)
	b.openers = map[string]opener{}
	for _, name := range []string{deskapi.WindowCalls, deskapi.WindowDemo, deskapi.WindowRecipes, deskapi.WindowLookup, deskapi.WindowSettings,
		deskapi.WindowDelivery, deskapi.WindowDoctor, deskapi.WindowHelp, deskapi.WindowStart, deskapi.WindowTest} {
		b.openers[name] = func(d *windows) page { return &other{win: d.app.NewWindow(name)} }
	}
	maps.Copy(b.openers, openers)
	return b
}

// other stands in for a window that is not looked at.
type other struct {
	win   fyne.Window
	place string // where it was shown at last
}

func (o *other) Window() fyne.Window          { return o.win }
func (o *other) Take(string, json.RawMessage) {}
func (o *other) ShowAt(place string)          { o.place = place }

// placeOf is where the stand-in of a window was shown at last; "" if it is closed.
func (b *bench) placeOf(name string) string {
	if o, ok := b.page(name).(*other); ok {
		return o.place
	}
	return ""
}

// tell has the resident say something.
func (b *bench) tell(t testing.TB, kind string, m any) {
	t.Helper()
	raw, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	b.handle(kind, raw)
}

// shot leaves a picture of a window, for people to look at, in the folder that
// WIEBELT_SHOTS names; without one it does nothing.
func shot(t testing.TB, w fyne.Window, name string) {
	t.Helper()
	dir := os.Getenv("WIEBELT_SHOTS")
	if dir == "" {
		return
	}
	f, err := os.Create(filepath.Join(dir, name+".png"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := png.Encode(f, w.Canvas().Capture()); err != nil {
		t.Fatal(err)
	}
}

// take gives what was said since the last take, questions about the state apart.
func (b *bench) take() []saying {
	said := slices.DeleteFunc(b.said, func(m saying) bool { return m.kind == deskapi.KindCallsAsk || m.kind == deskapi.KindWaysAsk })
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

// deskBench has all windows as they are.
func deskBench(t testing.TB, w deskapi.Welcome) *bench {
	t.Helper()
	b := newBench(t, w, nil)
	b.openers = openers(newReadings(b.windows))
	return b
}

func TestWindowsAreMadeOnce(t *testing.T) {
	b := deskBench(t, greeting(text.Dutch, demoCalls...))
	before := len(b.app.Driver().AllWindows()) // the test driver has one of its own
	b.show(deskapi.WindowDemo)
	first := b.page(deskapi.WindowDemo).Window()
	b.handle(deskapi.KindShow, json.RawMessage(`{"window":"demo"}`))
	b.handle(deskapi.KindShow, json.RawMessage(`{"window":"calls"}`))
	b.handle(deskapi.KindShow, json.RawMessage(`{"window":"of a newer resident"}`))
	if n := len(b.app.Driver().AllWindows()) - before; b.page(deskapi.WindowDemo).Window() != first || n != 2 {
		t.Errorf("%d windows, want the same demo and one of calls", n)
	}
	first.Close()
	if b.page(deskapi.WindowDemo) != nil {
		t.Error("a closed window is still held")
	}
	b.handle(deskapi.KindPlayed, json.RawMessage(`{"id":"known","line":"x"}`)) // nothing shows it any more
	b.handle(deskapi.KindShow, json.RawMessage(`{"window":"demo"}`))
	if p := b.page(deskapi.WindowDemo); p == nil || p.Window() == first {
		t.Error("the window did not come back")
	}
}

func TestHandleStrange(t *testing.T) {
	b := deskBench(t, greeting(text.Dutch))
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
	b := deskBench(t, greeting(text.Dutch, demoCalls...))
	b.show(deskapi.WindowCalls)
	b.page(deskapi.WindowCalls).Window().Canvas().Capture()
	b.page(deskapi.WindowCalls).Window().Canvas().Capture()
	b.show(deskapi.WindowDemo)
	b.page(deskapi.WindowDemo).Window().Canvas().Capture()
	painted := 0
	for _, m := range b.said {
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

// Another language or look comes while windows are open: they stay where they
// are and read anew.
func TestWindowsFollowTheSettings(t *testing.T) {
	b := deskBench(t, greeting(text.Dutch))
	b.show(deskapi.WindowCalls)
	b.show(deskapi.WindowRecipes)
	calls, recipes := b.page(deskapi.WindowCalls).Window(), b.page(deskapi.WindowRecipes).Window()
	say := func(w deskapi.Welcome) {
		t.Helper()
		raw, err := json.Marshal(w)
		if err != nil {
			t.Fatal(err)
		}
		b.handle(deskapi.KindWelcome, raw)
	}
	same := b.page(deskapi.WindowCalls)
	say(greeting(text.Dutch))
	if b.page(deskapi.WindowCalls) != same {
		t.Error("nothing changed, and the window was built anew")
	}
	english := greeting(text.English)
	english.Status = deskapi.Status{OK: true, Sentence: "Ready."}
	say(english)
	if b.page(deskapi.WindowCalls).Window() != calls || b.page(deskapi.WindowRecipes).Window() != recipes {
		t.Fatal("another window")
	}
	wantTexts(t, calls, "Calls", "Ready.")
	if calls.Title() != "Calls – Wiebelt" {
		t.Error(calls.Title())
	}
	wantTexts(t, recipes, text.English.T(text.RecipesPhones))
}
