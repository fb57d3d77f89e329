package desk

import (
	"encoding/json"
	"log/slog"
	"maps"
	"slices"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"wiebelt/internal/deskapi"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/kit"
	"wiebelt/internal/ui/theme"
)

// saying is what a window said to the resident.
type saying struct {
	kind string
	m    any
}

// bench is the windows on Fyne's test driver, with everything they say kept.
type bench struct {
	*kit.Desk
	said  []saying
	kicks int
	clock time.Time
	later []func()
}

// placeOf is where the stand-in of a window was shown at last; "" if it is closed.
func (b *bench) placeOf(name string) string {
	if o, ok := b.Page(name).(*other); ok {
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
	b.Handle(kind, raw)
}

// take gives what was said since the last take, questions about the state apart.
func (b *bench) take() []saying {
	said := slices.DeleteFunc(b.said, func(m saying) bool { return m.kind == deskapi.KindCallsAsk || m.kind == deskapi.KindWaysAsk })
	b.said = nil
	return said
}

// newBench has the windows that openers make, and something to stand in for every
// other.
func newBench(t testing.TB, w deskapi.Welcome, openers map[string]kit.Opener) *bench {
	t.Helper()
	app := test.NewTempApp(t)
	app.Settings().SetTheme(theme.New("light"))
	b := &bench{clock: noon}
	b.Desk = kit.NewDesk(kit.Params{
		App:  app,
		Post: func(f func()) { f() },
		Send: func(kind string, m any) { b.said = append(b.said, saying{kind: kind, m: m}) },
		Kick: func() { b.kicks++ },
		Now:  func() time.Time { return b.clock },
		After: func(_ time.Duration, f func()) {
			b.later = append(b.later, f)
		},
		Log: slog.New(slog.DiscardHandler),
	}, w)
	b.Openers = map[string]kit.Opener{}
	for _, name := range []string{deskapi.WindowCalls, deskapi.WindowDemo, deskapi.WindowRecipes, deskapi.WindowLookup, deskapi.WindowSettings,
		deskapi.WindowDelivery, deskapi.WindowDoctor, deskapi.WindowHelp, deskapi.WindowStart, deskapi.WindowTest} {
		b.Openers[name] = func(d *kit.Desk) kit.Page { return &other{win: d.App.NewWindow(name)} }
	}
	maps.Copy(b.Openers, openers)
	return b
}

// other stands in for a window that is not looked at.
type other struct {
	win   fyne.Window
	place string // where it was shown at last
}

func (o *other) Window() fyne.Window { return o.win }

func (o *other) Take(string, json.RawMessage) {}

func (o *other) ShowAt(place string) { o.place = place }

func greeting(l text.Language, demo ...deskapi.DemoCall) deskapi.Welcome {
	return deskapi.Welcome{Language: string(l), History: "x", Demo: demo}
}

var demoCalls = []deskapi.DemoCall{{ID: "known", Title: "Bekende klant", Hint: "Eerst het nummer."}, {ID: "gone", Title: "Hub is weg", Hint: "De kaart zegt het."}}

var noon = time.Date(2026, 9, 14, 12, 0, 0, 0, time.Local) // a Monday
