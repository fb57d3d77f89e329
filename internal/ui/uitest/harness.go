// Package uitest supports tests of the windows: a Harness that opens them on Fyne's test
// driver and records what they send, and functions to examine their content.
package uitest

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/software"
	"fyne.io/fyne/v2/test"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/theme"
	"wiebelt/internal/ui/widgets"
)

// Message is a message from a window to the resident.
type Message struct {
	Kind string
	M    any
}

// Harness runs the windows on Fyne's test driver, and records everything they send.
type Harness struct {
	*widgets.Host
	Sent         []Message
	HistoryReads int       // how often a reading of the history was requested
	Clock        time.Time // the current time
	Later        []func()  // to run later; nothing runs it by itself
}

// PlaceOf returns the place at which the stand-in
// of a window was last shown, "" if it is closed.
func (b *Harness) PlaceOf(name string) string {
	if o, ok := b.Page(name).(*other); ok {
		return o.place
	}
	return ""
}

// SendFromResident sends a message from the resident.
func (b *Harness) SendFromResident(t testing.TB, kind string, m any) {
	t.Helper()
	raw, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	b.Handle(kind, raw)
}

// RunDue runs everything due later; what that schedules waits for the next call.
func (b *Harness) RunDue() {
	due := b.Later
	b.Later = nil
	for _, f := range due {
		f()
	}
}

// DrainSent returns what was sent since the last call, except requests for the state.
func (b *Harness) DrainSent() []Message {
	said := slices.DeleteFunc(b.Sent, func(m Message) bool { return m.Kind == windowapi.KindSources })
	b.Sent = nil
	return said
}

// WantSent fails unless exactly this was sent since the last call, except requests for the state.
func (b *Harness) WantSent(t testing.TB, want ...any) {
	t.Helper()
	var got []any
	for _, m := range b.DrainSent() {
		got = append(got, m.M)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("sent %+v, want %+v", got, want)
	}
}

// New returns a Harness with the windows that openers open, by their names in windowapi,
// and a stand-in for every other.
func New(t testing.TB, w windowapi.Welcome, openers map[string]widgets.Opener) *Harness {
	t.Helper()
	app := test.NewTempApp(t)
	app.Settings().SetTheme(theme.New("light"))
	// Fyne's clock is the time of the last picture. After a minute without one, the next
	// would drop the layout of new widgets.
	software.NewCanvas().Capture()
	b := &Harness{Clock: Noon}
	b.Host = widgets.NewHost(widgets.Params{
		App:         app,
		Dirs:        Dirs(t),
		Go:          func(work func(context.Context)) { work(t.Context()) },
		Post:        func(f func()) { f() },
		Send:        func(kind string, m any) { b.Sent = append(b.Sent, Message{Kind: kind, M: m}) },
		ReadHistory: func() { b.HistoryReads++ },
		Now:         func() time.Time { return b.Clock },
		After: func(_ time.Duration, f func()) {
			b.Later = append(b.Later, f)
		},
		Log: slog.New(slog.DiscardHandler),
	}, w)
	b.Openers = map[string]widgets.Opener{}
	for _, name := range []string{windowapi.WindowCalls, windowapi.WindowDemo, windowapi.WindowRecipes, windowapi.WindowLookup, windowapi.WindowSettings,
		windowapi.WindowDelivery, windowapi.WindowDoctor, windowapi.WindowHelp, windowapi.WindowStart, windowapi.WindowTest} {
		b.Openers[name] = func(host *widgets.Host) widgets.Page { return &other{win: host.App.NewWindow(name)} }
	}
	maps.Copy(b.Openers, openers)
	return b
}

// Dirs returns a new profile, with its folders.
func Dirs(t testing.TB) profile.Dirs {
	t.Helper()
	d, err := profile.Find(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Make(); err != nil {
		t.Fatal(err)
	}
	return d
}

// other replaces a window that is not under test.
type other struct {
	win   fyne.Window
	place string // where it was last shown
}

func (o *other) Window() fyne.Window { return o.win }

func (o *other) ShowAt(place string) { o.place = place }

// Greeting returns a welcome in a language; with calls, that of the demo.
func Greeting(l text.Language, demo ...windowapi.DemoCall) windowapi.Welcome {
	return windowapi.Welcome{Language: string(l), History: "x", Demo: demo}
}

// DemoCalls are two calls of the demo.
var DemoCalls = []windowapi.DemoCall{{ID: "known", Title: "Bekende klant", Hint: "Eerst het nummer."}, {ID: "gone", Title: "Hub is weg", Hint: "De kaart zegt het."}}

// Noon is the time at which a Harness starts, on a Monday.
var Noon = time.Date(2026, 9, 14, 12, 0, 0, 0, time.Local)
