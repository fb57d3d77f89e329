package calls

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"wiebelt/internal/deskapi"
	"wiebelt/internal/history"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/kittest"
)

func TestCallsBothLanguages(t *testing.T) {
	for _, tt := range []struct {
		lang text.Language
		want []string
	}{
		{text.Dutch, []string{"Oproepen", "Zoek naam", "Vandaag", "J. de Vries", "Opgenomen", "2:14"}},
		{text.English, []string{"Calls", "Find name", "Today", "J. de Vries", "Answered", "2:14"}},
	} {
		b := newBench(t, kittest.Greeting(tt.lang))
		b.read([]history.Entry{customer()}, nil)
		b.Show(deskapi.WindowCalls)
		kittest.WantTexts(t, b.calls.win, tt.want...)
		b.Handle(deskapi.KindStatus, json.RawMessage(`{"ok":false,"sentence":"De hub reageert niet."}`))
		kittest.WantTexts(t, b.calls.win, "De hub reageert niet.")
	}
}

func TestEmptyPages(t *testing.T) {
	tests := []struct {
		name    string
		welcome deskapi.Welcome
		state   func(*bench)
		want    string
	}{
		{"no calls, demo", kittest.Greeting(text.Dutch, kittest.DemoCalls...), func(b *bench) { b.read(nil, nil) }, "Demo openen"},
		{"no calls", kittest.Greeting(text.Dutch), func(b *bench) { b.read(nil, nil) }, "Nog geen oproepen"},
		{"no calls, how to try", kittest.Greeting(text.English), func(b *bench) { b.read(nil, nil) }, "wiebelt demo"},
		{"not kept", deskapi.Welcome{Language: "nl"}, func(b *bench) { b.read(nil, nil) }, "Oproepen worden niet bewaard"},
		{"unreadable", kittest.Greeting(text.Dutch), func(b *bench) { b.read(nil, errors.New("disk")) }, "kunnen nu niet worden gelezen"},
		{"filtered", kittest.Greeting(text.Dutch), func(b *bench) {
			b.read([]history.Entry{customer()}, nil)
			b.calls.filter.SetText("zzz")
		}, "Niets gevonden voor “zzz”"},
		{"none missed", kittest.Greeting(text.Dutch), func(b *bench) {
			b.read([]history.Entry{customer()}, nil)
			b.calls.show(history.ViewMissed)
			b.took(answer{wish: b.wanted(), exact: true})
		}, "Geen gemiste oproepen"},
		{"none mine", kittest.Greeting(text.English), func(b *bench) {
			b.state(t, deskapi.CallsState{Group: true})
			b.took(answer{wish: b.wanted(), exact: true})
		}, "No calls for you"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, tt.welcome)
			b.Show(deskapi.WindowCalls)
			tt.state(b)
			kittest.WantTexts(t, b.calls.win, tt.want)
		})
	}
	t.Run("what was read stays when reading fails", func(t *testing.T) {
		b := newBench(t, kittest.Greeting(text.Dutch))
		b.Show(deskapi.WindowCalls)
		b.read([]history.Entry{customer()}, nil)
		b.read(nil, errors.New("disk"))
		kittest.WantTexts(t, b.calls.win, "J. de Vries")
	})
}

// What the resident says beside the calls.
func TestCallsState(t *testing.T) {
	b := newBench(t, kittest.Greeting(text.Dutch))
	b.read([]history.Entry{customer()}, nil)
	b.Show(deskapi.WindowCalls)
	if !slices.ContainsFunc(b.Said, func(m kittest.Saying) bool { return m.Kind == deskapi.KindCallsAsk }) {
		t.Error("the state was not asked for")
	}
	kittest.WantTexts(t, b.calls.win, "Gemist", "Alles")
	b.state(t, deskapi.CallsState{Missed: 2, Manual: true, Fault: "De schijf is vol."})
	kittest.WantTexts(t, b.calls.win, "Gemist (2)", "Nummer opzoeken")
	if s := notes(b); s != "De schijf is vol." {
		t.Errorf("says %q", s)
	}
	b.state(t, deskapi.CallsState{Notice: "Er is een nieuw bestand begonnen."})
	if s := notes(b); s != "Er is een nieuw bestand begonnen." {
		t.Errorf("says %q", s)
	}
	kittest.WantTexts(t, b.calls.win, "Begrepen")
	b.Take()
	kittest.PressIn(t, b.calls.note, "Begrepen")
	if got := b.Take(); len(got) != 1 || got[0].Kind != deskapi.KindCallsDismiss || notes(b) != "" {
		t.Errorf("said %v and shows %q", got, notes(b))
	}
	// A ring group: its own calls first, the others only under all.
	b.state(t, deskapi.CallsState{Group: true})
	kittest.WantTexts(t, b.calls.win, "Mijn oproepen")
	if w := b.wanted(); w.query.View != history.ViewMine {
		t.Errorf("reads view %v", w.query.View)
	}
	b.calls.show(history.ViewMissed)
	b.state(t, deskapi.CallsState{Group: true, Missed: 1})
	if w := b.wanted(); w.query.View != history.ViewMissed {
		t.Errorf("reads view %v after the user chose the missed ones", w.query.View)
	}
	b.calls.show(history.ViewMine)
	b.state(t, deskapi.CallsState{})
	if w := b.wanted(); w.query.View != history.ViewAll {
		t.Errorf("reads view %v without a group", w.query.View)
	}
	b.Handle(deskapi.KindCallsFailed, json.RawMessage(`{"entry":7,"sentence":"Terugbellen lukt niet."}`))
	if s := notes(b); s != "Terugbellen lukt niet." {
		t.Errorf("says %q", s)
	}
	for _, f := range b.Later {
		f()
	}
	if s := notes(b); s != "" {
		t.Errorf("says %q for ever", s)
	}
}

func TestLookAgain(t *testing.T) {
	b := newBench(t, kittest.Greeting(text.Dutch))
	b.read([]history.Entry{customer()}, nil)
	b.Show(deskapi.WindowCalls)
	b.state(t, deskapi.CallsState{Manual: true})
	b.Take()
	r, _ := b.calls.row(0)
	b.calls.lookAgain(r)
	if got := b.Take(); len(got) != 1 || got[0].Kind != deskapi.KindCallsLookup {
		t.Errorf("said %v", got)
	}
	kittest.WantTexts(t, b.calls.win, "Relatie opzoeken…")
	b.Handle(deskapi.KindCallsLooked, json.RawMessage(`{"entry":6,"sentence":"of another question"}`))
	kittest.WantTexts(t, b.calls.win, "Relatie opzoeken…")
	b.Handle(deskapi.KindCallsLooked, json.RawMessage(`{"entry":7,"sentence":"Nog steeds niemand."}`))
	if notes(b) != "Nog steeds niemand." || strings.Contains(strings.Join(kittest.Texts(b.calls.win), "|"), "opzoeken…") {
		t.Errorf("says %q", notes(b))
	}
	// Several: somebody has to choose, in the window for it.
	b.calls.lookAgain(r)
	b.Handle(deskapi.KindCallsLooked, json.RawMessage(`{"entry":7,"several":true}`))
	if got := b.PlaceOf(deskapi.WindowLookup); got != "+31612345678" {
		t.Errorf("the window for it shows %q", got)
	}
}

func TestPlan(t *testing.T) {
	for _, p := range []plan{{0, 0}, {5, 5}, {5, 0}, {7, 3}, {100_000, 40}} {
		last := float32(-1)
		for _, i := range []int{0, 1, 2, 3, 4, 5, 6, 39, 40, 41, 99_998, 99_999} {
			if i >= p.count {
				continue
			}
			y := p.y(i)
			if y <= last && i > 0 {
				t.Errorf("%v: call %d at %v, after %v", p, i, y, last)
			}
			last = y
			if got := p.at(y); got != i {
				t.Errorf("%v: at %v stands %d, want %d", p, y, got, i)
			}
			if got := p.at(y + rowHeight - 1); got != i {
				t.Errorf("%v: at the end of call %d stands %d", p, i, got)
			}
		}
		headings := 0
		if p.today > 0 {
			headings++
		}
		if p.earlier() > 0 {
			headings++
		}
		if got, want := p.y(p.count), float32(p.count*rowHeight+headings*headingHeight); got != want {
			t.Errorf("%v is %v high, want %v", p, got, want)
		}
	}
}

// TestRecipesFromCalls: the calls window leads there, the demo's does not.
func TestRecipesFromCalls(t *testing.T) {
	b := newBench(t, kittest.Greeting(text.Dutch))
	b.Show(deskapi.WindowCalls)
	kittest.WantTexts(t, b.calls.win, "Telefoon koppelen")
	d := newBench(t, kittest.Greeting(text.Dutch, kittest.DemoCalls...))
	d.Show(deskapi.WindowCalls)
	if all := strings.Join(kittest.Texts(d.calls.win), "|"); strings.Contains(all, "Telefoon koppelen") {
		t.Error("the demo offers its own port for a real phone")
	}
}
