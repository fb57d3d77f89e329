package calls

import (
	"slices"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"

	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/store/callactions"
	"wiebelt/internal/store/history"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/uitest"
	"wiebelt/internal/ui/widgets"
)

func TestClicksInARow(t *testing.T) {
	unknown := customer()
	unknown.ID, unknown.Name, unknown.Link = 8, "", ""
	withheld := history.Entry{ID: 9, Rang: uitest.Noon}
	b := opened(t, customer(), unknown, withheld)
	b.state(callactions.State{CallBack: true})
	b.Clock = b.Clock.Add(time.Second)
	b.did()
	rows := views(b)
	name, beside := fyne.NewPos(150, 14), fyne.NewPos(300, 14)
	at := func(t tool) fyne.Position {
		return fyne.NewPos(rows[7].Size().Width-widgets.RowInset-float32(toolCount-t)*toolWidth+10, 20)
	}

	for _, tt := range []struct {
		what string
		id   int64
		at   fyne.Position
		want []string
	}{
		{"a name opens", 7, name, []string{"open 7"}},
		{"beside the name nothing opens", 7, beside, nil},
		{"an unknown number does nothing", 8, name, nil},
		{"copy", 8, at(toolCopy), []string{"copy 8 false"}},
		{"call back", 8, at(toolCall), []string{"call 8"}},
		{"nothing to copy", 9, at(toolCopy), nil},
		{"nobody to call back", 9, at(toolCall), nil},
		{"more opens a menu", 7, at(toolMore), nil},
	} {
		test.TapAt(rows[tt.id], tt.at)
		b.wantDid(t, tt.what, tt.want...)
		if b.calls.focusKey.id != tt.id || !rows[tt.id].Back.Visible() || rows[tt.id].ring.Visible() {
			t.Errorf("%s: chosen is %v; a ring %v", tt.what, b.calls.focusKey, rows[tt.id].ring.Visible())
		}
	}
	if b.calls.win.Canvas().Overlays().Top() == nil {
		t.Error("no menu")
	}
	uitest.WantTexts(t, b.calls.win, "Gekopieerd")
	b.RunDue()
	uitest.WantNoTexts(t, b.calls.win, "Gekopieerd")

	// In a narrow window the buttons are beside the name, and the result is below both.
	uitest.Scaled(b.calls.win, fyne.NewSize(540, 640), 1)
	test.TapAt(rows[7], at(toolCopy))
	b.wantDid(t, "copy in a narrow window", "copy 7 false")
	test.TapAt(rows[7], at(toolCopy).AddXY(0, rowHeight/2))
	b.wantDid(t, "below the buttons")
	uitest.Scaled(b.calls.win, fyne.NewSize(720, 640), 1)

	// The pointer shows what a click would do.
	rows[7].MouseIn(&desktop.MouseEvent{PointEvent: fyne.PointEvent{Position: name}})
	if !rows[7].Back.Visible() || rows[7].Title.Colour != "primary" || rows[7].Cursor() != desktop.PointerCursor {
		t.Error("a row that opens does not look like it under the pointer")
	}
	for i, icon := range rows[7].icons {
		if icon.Visible() == (tool(i) == toolTick) { // nothing to tick off
			t.Errorf("tool %d under the pointer: %v", i, icon.Visible())
		}
	}
	rows[7].MouseMoved(&desktop.MouseEvent{PointEvent: fyne.PointEvent{Position: at(toolCall)}})
	uitest.WantTexts(t, b.calls.win, "Terugbellen")
	b.calls.focusRow(0)
	b.calls.focusByPointer(1)
	rows[7].MouseOut()
	if rows[7].Back.Visible() || rows[7].Title.Colour != "foreground" {
		t.Error("the pointer left and the row still shows it")
	}
	if rows[9].Cursor() != desktop.DefaultCursor {
		t.Error("a row without a link looks as if it opened")
	}
	b.state(callactions.State{})
	rows[7].MouseIn(&desktop.MouseEvent{PointEvent: fyne.PointEvent{Position: name}})
	if rows[7].icons[toolCall].Visible() {
		t.Error("offers to call back where no phone can")
	}
}

// wantSettling clicks a row whose contents have just changed, at once and later.
func (b *harness) wantSettling(t *testing.T, v *rowView, later string) {
	t.Helper()
	test.TapAt(v, fyne.NewPos(150, 14))
	b.wantDid(t, "a click at once")
	b.Clock = b.Clock.Add(widgets.SettleTime)
	test.TapAt(v, fyne.NewPos(150, 14))
	b.wantDid(t, "a click later", later)
}

// TestClickAfterRowsMoved: a new call moves the others down;
// a click intended for the previous row opens nothing.
func TestClickAfterRowsMoved(t *testing.T) {
	b := opened(t, customer())
	b.Clock = b.Clock.Add(time.Minute)
	b.did()
	v := views(b)[7]
	other := customer()
	other.ID = 8
	b.read([]history.Entry{other, customer()}, nil)
	if v.row.id != 8 {
		t.Fatalf("the view shows %d, the test expects another caller in it", v.row.id)
	}
	b.wantSettling(t, v, "open 8")
}

// TestClickAfterPeopleMoved: the people of one call are told apart, too.
func TestClickAfterPeopleMoved(t *testing.T) {
	several := customer()
	several.ID, several.ContactID, several.RelationNumber, several.Link, several.Name, several.Matches = 8, "", "", "", "", 2
	b := opened(t, several)
	b.calls.showLookup(callactions.LookupOutcome{Entry: 8, Number: several.Number, Contacts: []windowapi.Contact{{ID: "a", Name: "A. Aarts", Link: "x"}, {ID: "b", Name: "B. Bakker", Link: "y"}}})
	b.Clock = b.Clock.Add(time.Minute)
	b.did()
	var v *rowView
	for _, shown := range b.calls.list.views {
		if shown.Visible() && shown.row.person == 2 {
			v = shown
		}
	}
	other := customer()
	other.ID = 9
	b.read([]history.Entry{other, several}, nil)
	if v.row.person != 1 {
		t.Fatalf("the view shows person %d, the test expects the first in it", v.row.person)
	}
	b.wantSettling(t, v, "open 8 a")
	several.Number = "+31200000033"
	b.read([]history.Entry{other, several}, nil)
	for i := range b.calls.listLayout.total() {
		if r, _ := b.calls.row(i); r.person != 0 {
			t.Errorf("after a transfer %q is below the new caller", r.title)
		}
	}
}

// TestDoubleClickOnTick: the second click does not undo what the first did.
func TestDoubleClickOnTick(t *testing.T) {
	b := opened(t, missedAt(6, 10, "+31200000001", "A. Jansen"))
	b.Clock = b.Clock.Add(time.Minute)
	b.did()
	v := views(b)[6]
	at := fyne.NewPos(v.icons[toolTick].Position().X+4, 20)
	test.TapAt(v, at)
	test.TapAt(v, at)
	b.wantDid(t, "two clicks", "tick [6]")
	b.Clock = b.Clock.Add(widgets.SettleTime)
	test.TapAt(v, at)
	b.wantDid(t, "a click later", "reopen [6]")
}

// TestKeyboard uses the whole window with the keyboard.
func TestKeyboard(t *testing.T) {
	var all []history.Entry
	for i := range 40 {
		e := customer()
		e.ID, e.Rang = int64(100-i), uitest.Noon.Add(-time.Duration(i)*time.Hour)
		all = append(all, e)
	}
	all[39].Name = "Z. Laatste"
	b := opened(t, all...)
	b.did()
	c := b.calls
	key := func(k fyne.KeyName) {
		t.Helper()
		f := c.win.Canvas().Focused()
		if f == nil {
			t.Fatal("nothing has the keyboard")
		}
		f.TypedKey(&fyne.KeyEvent{Name: k})
	}
	c.win.Canvas().OnTypedKey()(&fyne.KeyEvent{Name: fyne.KeyDown})
	if c.win.Canvas().Focused() != fyne.Focusable(c.list) || c.focusKey.id != 100 {
		t.Fatalf("the first key did not go to the list (%d)", c.focusKey)
	}
	key(fyne.KeyReturn)
	b.wantDid(t, "Enter", "open 100")
	key(fyne.KeyDown)
	key(fyne.KeyDown)
	key(fyne.KeyUp)
	key(fyne.KeySpace)
	b.wantDid(t, "the space bar", "open 99")
	c.withChosen(c.copy) // what Ctrl+C does
	b.wantDid(t, "copy", "copy 99 false")
	b.Handle(windowapi.KindCopy, nil)
	b.wantNote(t, text.Dutch.T(text.CallsTroubleCopy))
	uitest.WantNoTexts(t, c.win, "Gekopieerd")
	key(fyne.KeyEnd)
	if v := views(b)[61]; v == nil || !v.ring.Visible() {
		t.Error("the last call is not shown with the ring")
	}
	key(fyne.KeyDelete)
	b.wantDid(t, "Delete", "remove [61]")
	key(fyne.KeyReturn) // like a key pressed twice
	b.wantDid(t, "Enter at once")
	b.Clock = b.Clock.Add(time.Second)
	b.read(all[:39], nil) // it is gone, and so is its place once the time to undo is over
	b.Later[len(b.Later)-1]()
	if c.focusKey.id != 62 {
		t.Errorf("after the last one went the keyboard is on %d", c.focusKey)
	}
	key(fyne.KeyPageUp)
	if c.focusIndex >= 38 || c.focusIndex < 20 {
		t.Errorf("a page up from 38 is %d", c.focusIndex)
	}
	key(fyne.KeyHome)
	if c.focusIndex != 0 || c.list.scroll.Offset.Y != 0 {
		t.Errorf("the beginning is %d at %v", c.focusIndex, c.list.scroll.Offset.Y)
	}
	key(desktop.KeyMenu)
	top := c.win.Canvas().Overlays().Top()
	if top == nil {
		t.Fatal("the menu key shows no menu")
	}
	key(fyne.KeyDown)
	key(fyne.KeyReturn)
	b.wantDid(t, "the first line of the menu", "open 100")
	if c.win.Canvas().Focused() != fyne.Focusable(c.list) {
		t.Error("after the menu the keyboard is not back in the list")
	}
	b.read(all, nil)
	c.list.TypedRune('z')
	if c.win.Canvas().Focused() != fyne.Focusable(c.filter) || c.filter.Text != "z" || c.listLayout.count != 1 {
		t.Errorf("typing in the list: %q, %d calls", c.filter.Text, c.listLayout.count)
	}
	key(fyne.KeyDown)
	if c.focusKey.id != 61 {
		t.Errorf("down from the filter is on %d", c.focusKey)
	}
	c.win.Canvas().Focus(c.filter)
	key(fyne.KeyEscape)
	if c.filter.Text != "" {
		t.Error("escape does not empty the filter")
	}
	c.win.Canvas().Unfocus()
	if c.win.Canvas().OnTypedRune()('l'); c.filter.Text != "l" {
		t.Errorf("typed where nothing has the keyboard, and the filter is %q", c.filter.Text)
	}
}

func TestMenuOffersWhatIsPossible(t *testing.T) {
	b := newHarness(t, uitest.Greeting(text.Dutch))
	b.Show(windowapi.WindowCalls)
	full := []string{"Relatie openen", "Afvinken", "Terugbellen", "Nummer kopiëren", "Relatienummer kopiëren", "Opnieuw opzoeken", "Niet deze relatie", "Verwijderen"}
	missed := customer()
	missed.Result, missed.Answered = history.ResultMissed, time.Time{}
	handled := missed
	handled.HandledAt = uitest.Noon
	for _, tt := range []struct {
		name  string
		entry history.Entry
		back  bool
		want  []string
	}{
		{"all of it", missed, true, full},
		{"nothing to call back with", missed, false, slices.Delete(slices.Clone(full), 2, 3)},
		{"answered", customer(), true, slices.Delete(slices.Clone(full), 1, 2)},
		{"ticked off", handled, true, []string{"Relatie openen", "Toch terugbellen", "Terugbellen", "Nummer kopiëren", "Relatienummer kopiëren", "Opnieuw opzoeken", "Niet deze relatie", "Verwijderen"}},
		{"withheld", history.Entry{ID: 1, Rang: uitest.Noon, Outcome: history.OutcomeWithheld}, true, []string{"Verwijderen"}},
		{"a colleague", history.Entry{ID: 1, Rang: uitest.Noon, Number: "101", NumberDisplay: "101", Outcome: history.OutcomeInternal}, true, []string{"Terugbellen", "Nummer kopiëren", "Verwijderen"}},
		{"a name in place of a number", history.Entry{ID: 1, Rang: uitest.Noon, Number: "text:receptie", NumberDisplay: "receptie"}, true, []string{"Verwijderen"}},
	} {
		b.calls.state.CallBack = tt.back
		if got := offered(b.calls, rowOf(text.Dutch, tt.entry, uitest.Noon)); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	b.Welcome.FileWord = "dossier"
	if got := offered(b.calls, rowOf(text.Dutch, customer(), uitest.Noon)); got[0] != "Dossier openen" {
		t.Errorf("%q", got[0])
	}
}
