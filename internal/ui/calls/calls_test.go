package calls

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"

	"wiebelt/internal/deskapi"
	"wiebelt/internal/history"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/kit"
	"wiebelt/internal/ui/kittest"
)

// bench is a bench with the calls window and what it reads.
type bench struct {
	*kittest.Bench
	*History
}

func newBench(t testing.TB, w deskapi.Welcome) *bench {
	t.Helper()
	b := &bench{Bench: kittest.New(t, w, nil)}
	b.History = NewHistory(b.Desk)
	b.Openers[deskapi.WindowCalls] = b.Open
	return b
}

// views are the views of the calls that can be seen.
func views(b *bench) map[int64]*rowView {
	all := map[int64]*rowView{}
	for _, v := range b.calls.list.views {
		if v.Visible() && v.known {
			all[v.row.id] = v
		}
	}
	return all
}

func (b *bench) state(t *testing.T, s deskapi.CallsState) {
	t.Helper()
	raw, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	b.Handle(deskapi.KindCallsState, raw)
}

// offered are the words of the menu of a call.
func offered(c *window, r row) (all []string) {
	for _, i := range c.items(r) {
		if !i.IsSeparator {
			all = append(all, i.Label)
		}
	}
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

func TestClicksInARow(t *testing.T) {
	b := newBench(t, kittest.Greeting(text.Dutch))
	unknown := customer()
	unknown.ID, unknown.Name, unknown.Link = 8, "", ""
	withheld := history.Entry{ID: 9, Rang: kittest.Noon}
	b.read([]history.Entry{customer(), unknown, withheld}, nil)
	b.Show(deskapi.WindowCalls)
	b.state(t, deskapi.CallsState{CallBack: true})
	b.Clock = b.Clock.Add(time.Second)
	b.Take()
	rows := views(b)
	name := fyne.NewPos(200, 20)
	at := func(t tool) fyne.Position {
		return fyne.NewPos(rows[7].Size().Width-kit.RowInset-float32(tools-t)*toolWidth+10, 20)
	}

	for _, tt := range []struct {
		what string
		id   int64
		at   fyne.Position
		want []kittest.Saying
	}{
		{"a name opens", 7, name, []kittest.Saying{{Kind: deskapi.KindCallsOpen, M: deskapi.CallsEntry{Entry: 7}}}},
		{"an unknown number does nothing", 8, name, nil},
		{"copy", 8, at(toolCopy), []kittest.Saying{{Kind: deskapi.KindCallsCopy, M: deskapi.CallsCopy{Entry: 8}}}},
		{"call back", 8, at(toolCall), []kittest.Saying{{Kind: deskapi.KindCallsCall, M: deskapi.CallsEntry{Entry: 8}}}},
		{"nothing to copy", 9, at(toolCopy), nil},
		{"nobody to call back", 9, at(toolCall), nil},
		{"more opens a menu", 7, at(toolMore), nil},
	} {
		test.TapAt(rows[tt.id], tt.at)
		if got := b.Take(); fmt.Sprint(got) != fmt.Sprint(tt.want) {
			t.Errorf("%s: said %v, want %v", tt.what, got, tt.want)
		}
	}
	if b.calls.win.Canvas().Overlays().Top() == nil {
		t.Error("no menu")
	}
	kittest.WantTexts(t, b.calls.win, "Gekopieerd")
	for _, f := range b.Later {
		f()
	}
	if all := strings.Join(kittest.Texts(b.calls.win), "|"); strings.Contains(all, "Gekopieerd") {
		t.Error("it says copied for ever")
	}

	// The pointer shows what a click would do.
	rows[7].MouseIn(&desktop.MouseEvent{PointEvent: fyne.PointEvent{Position: name}})
	if !rows[7].Back.Visible() || rows[7].Title.Colour != "primary" || rows[7].Cursor() != desktop.PointerCursor {
		t.Error("a row that opens does not look like it under the pointer")
	}
	for i, icon := range rows[7].icons {
		if !icon.Visible() {
			t.Errorf("tool %d is not shown under the pointer", i)
		}
	}
	rows[7].MouseOut()
	if rows[7].Back.Visible() || rows[7].Title.Colour != "foreground" {
		t.Error("the pointer left and the row still shows it")
	}
	if rows[9].Cursor() != desktop.DefaultCursor {
		t.Error("a row without a link looks as if it opened")
	}
}

// A new call pushes the others down; a click that was meant for the row before
// opens nothing.
func TestClickAfterRowsMoved(t *testing.T) {
	b := newBench(t, kittest.Greeting(text.Dutch))
	b.read([]history.Entry{customer()}, nil)
	b.Show(deskapi.WindowCalls)
	b.Clock = b.Clock.Add(time.Minute)
	b.Take()
	v := views(b)[7]
	other := customer()
	other.ID = 8
	b.read([]history.Entry{other, customer()}, nil)
	if v.row.id != 8 {
		t.Fatalf("the view shows %d, the test expects another caller in it", v.row.id)
	}
	test.TapAt(v, fyne.NewPos(200, 20))
	if got := b.Take(); len(got) != 0 {
		t.Errorf("a click at once said %v", got)
	}
	b.Clock = b.Clock.Add(kit.Settle)
	test.TapAt(v, fyne.NewPos(200, 20))
	if got := b.Take(); len(got) != 1 || got[0].M != (deskapi.CallsEntry{Entry: 8}) {
		t.Errorf("a click later said %v", got)
	}
}

// The whole window by keyboard.
func TestKeyboard(t *testing.T) {
	b := newBench(t, kittest.Greeting(text.Dutch))
	var all []history.Entry
	for i := range 40 {
		e := customer()
		e.ID, e.Rang = int64(100-i), kittest.Noon.Add(-time.Duration(i)*time.Hour)
		all = append(all, e)
	}
	all[39].Name = "Z. Laatste"
	b.read(all, nil)
	b.Show(deskapi.WindowCalls)
	b.Take()
	c := b.calls
	key := func(k fyne.KeyName) {
		t.Helper()
		f := c.win.Canvas().Focused()
		if f == nil {
			t.Fatal("nothing has the keyboard")
		}
		f.TypedKey(&fyne.KeyEvent{Name: k})
	}
	says := func(what string, kind string, m any) {
		t.Helper()
		got := b.Take()
		if len(got) != 1 || got[0].Kind != kind || got[0].M != m {
			t.Errorf("%s said %v", what, got)
		}
	}
	c.win.Canvas().OnTypedKey()(&fyne.KeyEvent{Name: fyne.KeyDown})
	if c.win.Canvas().Focused() != fyne.Focusable(c.list) || c.picked != 100 {
		t.Fatalf("the first key did not go to the list (%d)", c.picked)
	}
	key(fyne.KeyReturn)
	says("Enter", deskapi.KindCallsOpen, deskapi.CallsEntry{Entry: 100})
	key(fyne.KeyDown)
	key(fyne.KeyDown)
	key(fyne.KeyUp)
	key(fyne.KeySpace)
	says("the space bar", deskapi.KindCallsOpen, deskapi.CallsEntry{Entry: 99})
	c.withChosen(c.copy) // what Ctrl+C does
	says("copy", deskapi.KindCallsCopy, deskapi.CallsCopy{Entry: 99})
	key(fyne.KeyEnd)
	if v := views(b)[61]; v == nil || !v.ring.Visible() {
		t.Error("the last call is not shown with the ring")
	}
	key(fyne.KeyDelete)
	says("Delete", deskapi.KindCallsRemove, deskapi.CallsEntry{Entry: 61})
	b.read(all[:39], nil) // it has gone
	if c.picked != 62 {
		t.Errorf("after the last one went the keyboard is on %d", c.picked)
	}
	key(fyne.KeyPageUp)
	if c.chosen >= 38 || c.chosen < 20 {
		t.Errorf("a page up from 38 is %d", c.chosen)
	}
	key(fyne.KeyHome)
	if c.chosen != 0 || c.list.scroll.Offset.Y != 0 {
		t.Errorf("the beginning is %d at %v", c.chosen, c.list.scroll.Offset.Y)
	}
	key(desktop.KeyMenu)
	top := c.win.Canvas().Overlays().Top()
	if top == nil {
		t.Fatal("the menu key shows no menu")
	}
	key(fyne.KeyDown)
	key(fyne.KeyReturn)
	says("the first line of the menu", deskapi.KindCallsOpen, deskapi.CallsEntry{Entry: 100})
	if c.win.Canvas().Focused() != fyne.Focusable(c.list) {
		t.Error("after the menu the keyboard is not back in the list")
	}
	b.read(all, nil)
	c.list.TypedRune('z')
	if c.win.Canvas().Focused() != fyne.Focusable(c.filter) || c.filter.Text != "z" || c.plan.count != 1 {
		t.Errorf("typing in the list: %q, %d calls", c.filter.Text, c.plan.count)
	}
	key(fyne.KeyDown)
	if c.picked != 61 {
		t.Errorf("down from the filter is on %d", c.picked)
	}
	c.win.Canvas().Focus(c.filter)
	key(fyne.KeyEscape)
	if c.filter.Text != "" {
		t.Error("escape does not empty the filter")
	}
}

func TestMenuOffersWhatIsPossible(t *testing.T) {
	b := newBench(t, kittest.Greeting(text.Dutch))
	b.Show(deskapi.WindowCalls)
	full := []string{"Relatie openen", "Terugbellen", "Nummer kopiëren", "Relatienummer kopiëren", "Opnieuw opzoeken", "Niet deze relatie", "Afvinken", "Verwijderen"}
	missed := customer()
	missed.Result, missed.Answered = history.ResultMissed, time.Time{}
	for _, tt := range []struct {
		name  string
		entry history.Entry
		back  bool
		want  []string
	}{
		{"all of it", missed, true, full},
		{"nothing to call back with", missed, false, slices.Delete(slices.Clone(full), 1, 2)},
		{"answered", customer(), true, slices.Delete(slices.Clone(full), 6, 7)},
		{"withheld", history.Entry{ID: 1, Rang: kittest.Noon, Outcome: history.OutcomeWithheld}, true, []string{"Verwijderen"}},
		{"a colleague", history.Entry{ID: 1, Rang: kittest.Noon, Number: "101", Shown: "101", Outcome: history.OutcomeInternal}, true, []string{"Terugbellen", "Nummer kopiëren", "Verwijderen"}},
		{"a name in place of a number", history.Entry{ID: 1, Rang: kittest.Noon, Number: "text:receptie", Shown: "receptie"}, true, []string{"Verwijderen"}},
	} {
		b.calls.state.CallBack = tt.back
		if got := offered(b.calls, rowOf(text.Dutch, tt.entry, kittest.Noon)); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	b.Welcome.FileWord = "dossier"
	if got := offered(b.calls, rowOf(text.Dutch, customer(), kittest.Noon)); got[0] != "Dossier openen" {
		t.Errorf("%q", got[0])
	}
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

// notes is what the strip above the list says.
func notes(b *bench) string { return b.calls.noted }

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

// long is a bench whose readings come from a list of n calls, as the reader would
// give them.
func long(t *testing.T, n int) (*bench, func() int) {
	b := newBench(t, kittest.Greeting(text.Dutch))
	entry := func(i int) history.Entry { // number i from the newest
		e := customer()
		e.ID, e.Rang = int64(n-i), kittest.Noon.Add(-time.Duration(i)*time.Minute)
		return e
	}
	read := 0
	answers := func() int {
		for b.Kicks > 0 {
			b.Kicks = 0
			w := b.wanted()
			a := answer{wish: w, count: n, today: 721, exact: true}
			from := 0
			if w.jump || w.place != (history.Place{}) {
				from = max(w.index-block/2, 0)
			}
			a.start = from
			for i := from; i < min(from+block, n); i++ {
				a.entries = append(a.entries, entry(i))
			}
			read++
			b.took(a)
		}
		return read
	}
	b.Show(deskapi.WindowCalls)
	return b, answers
}

// However many calls there are, only those on screen have views, scrolling finds
// every one in its place, and each part is read once on the way.
func TestManyCalls(t *testing.T) {
	const n = 100_000
	b, answers := long(t, n)
	answers()
	c := b.calls
	if len(c.list.views) > 20 || len(c.rows) > block {
		t.Errorf("%d views and %d rows for one window", len(c.list.views), len(c.rows))
	}
	at := func(y float32) {
		t.Helper()
		c.list.scrollTo(y)
		answers()
		first := c.plan.at(c.list.scroll.Offset.Y)
		for _, v := range c.list.views {
			if v.Visible() && (!v.known || v.row.id != int64(n-v.n)) {
				t.Fatalf("at %v call %d shows %+v (known %v)", y, v.n, v.row.id, v.known)
			}
		}
		if v := views(b)[int64(n-first)]; v == nil {
			t.Fatalf("at %v the first call %d is not shown", y, first)
		}
	}
	before := answers()
	for y := float32(0); y < 1000*rowHeight; y += 37 {
		at(y)
	}
	if k := answers() - before; k < 4 || k > 20 {
		t.Errorf("a thousand calls took %d readings", k)
	}
	for _, y := range []float32{5e6, 1e5, 0, c.plan.y(n), 3e6, 3e6 + 7} {
		at(y)
	}
	// While a jump is being read, its rows are empty and no others stand there.
	c.list.scrollTo(4e6)
	for _, v := range c.list.views {
		if v.Visible() && v.known {
			t.Errorf("call %d shows %d before it was read", v.n, v.row.id)
		}
	}
	answers()
}

// A letter in the filter shows at once, with what is here; what the whole history
// has comes when it was read.
func TestFilterShowsAtOnce(t *testing.T) {
	b, answers := long(t, 5000)
	answers()
	c := b.calls
	some := slices.Clone(c.all)
	for i := range some {
		if i%100 == 7 {
			some[i].Name = "Q. Zeldzaam"
		}
	}
	b.took(answer{wish: b.wanted(), entries: some, count: 5000, today: 721, exact: true})
	b.Kicks = 0
	c.filter.SetText("z")
	if c.plan.count != 3 || c.exact || b.Kicks != 1 {
		t.Fatalf("%d calls, exact %v, %d readings asked for", c.plan.count, c.exact, b.Kicks)
	}
	if v := views(b)[some[7].ID]; v == nil || !v.Visible() {
		t.Error("what is here is not shown")
	}
	w := b.wanted()
	if w.query.Filter != "z" || w.place != (history.Place{}) || w.jump {
		t.Errorf("wants %+v", w)
	}
	var found []history.Entry
	for i := range 5 {
		found = append(found, some[7])
		found[i].ID, found[i].Rang = int64(900-i), kittest.Noon.Add(-time.Duration(i)*time.Hour)
	}
	b.took(answer{wish: w, entries: found, count: 5, today: 5, exact: true})
	if c.plan.count != 5 {
		t.Errorf("%d calls after the whole was read", c.plan.count)
	}
	b.Kicks = 0
	c.filter.SetText("zeld") // all of it is here now
	if c.plan.count != 5 || !c.exact || b.Kicks != 0 {
		t.Errorf("%d calls, exact %v, %d readings asked for", c.plan.count, c.exact, b.Kicks)
	}
	c.filter.SetText("ze") // and here too, but that cannot be known
	if b.Kicks != 1 {
		t.Errorf("%d readings asked for", b.Kicks)
	}
}

// New calls come above what is read: what is on screen stays where it is; at the
// top the new ones show.
func TestStaysWhereItIs(t *testing.T) {
	b, answers := long(t, 5000)
	answers()
	c := b.calls
	c.list.scrollTo(c.plan.y(2000) + 13)
	answers()
	seen := c.plan.at(c.list.scroll.Offset.Y)
	id := views(b)[int64(5000-seen)].row.id
	w := b.wanted() // the history has changed
	if w.place == (history.Place{}) || w.index != seen {
		t.Fatalf("wants %+v", w)
	}
	a := answer{wish: w, start: c.start + 3, entries: slices.Clone(c.all), count: 5003, today: 724, exact: true}
	b.took(a)
	v := views(b)[id]
	if v == nil {
		t.Fatal("what was on screen is not any more")
	}
	if got := v.Position().Y - c.list.scroll.Offset.Y; got != -13 {
		t.Errorf("the first call stands at %v, want -13", got)
	}
	// An answer about another filter is passed over.
	old := b.wanted()
	c.filter.SetText("anders")
	b.took(answer{wish: old, entries: a.entries, count: 1, exact: true})
	if c.plan.count == 1 {
		t.Error("an answer of the list before was shown")
	}
	if old.ctx.Err() == nil {
		t.Error("its reading goes on")
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
