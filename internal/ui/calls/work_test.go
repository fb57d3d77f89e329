package calls

import (
	"errors"
	"slices"
	"strings"
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

// missedAt returns a missed call some minutes before noon.
func missedAt(id int64, minutes int, number, name string) history.Entry {
	e := customer()
	e.ID, e.Rang, e.Number, e.NumberDisplay, e.Name = id, uitest.Noon.Add(-time.Duration(minutes)*time.Minute), number, number, name
	e.Result, e.Answered, e.Ended = history.ResultMissed, time.Time{}, e.Rang.Add(time.Second)
	return e
}

// titles returns the names of the rows from the top, with the list's other texts.
func titles(c *window) (all []string) {
	for i := range c.listLayout.total() {
		r, _ := c.row(i)
		all = append(all, strings.TrimRight(strings.Join([]string{r.title, r.removedText, r.more}, "|"), "|"))
	}
	return all
}

func wantRows(t *testing.T, what string, c *window, want ...string) {
	t.Helper()
	if got := titles(c); !slices.Equal(got, want) {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

// workDay is a day of five missed calls, three of
// them from one caller, and one that was answered.
func workDay() (all []history.Entry) {
	handled := missedAt(2, 90, "+31200000002", "K. Prins")
	handled.HandledAt = uitest.Noon
	taken := customer()
	taken.ID = 3
	withheld := history.Entry{ID: 8, Rang: uitest.Noon.Add(-3 * time.Minute), Result: history.ResultMissed, Outcome: history.OutcomeWithheld}
	withheld2 := withheld
	withheld2.ID, withheld2.Rang = 7, uitest.Noon.Add(-4*time.Minute)
	return []history.Entry{withheld, withheld2, missedAt(6, 10, "+31200000001", "A. Jansen"), missedAt(5, 20, "+31200000009", "B. de Boer"),
		missedAt(4, 40, "+31200000001", "A. Jansen"), taken, handled, missedAt(1, 24*60, "+31200000001", "A. Jansen")}
}

// TestListToWorkOff: calls to return are at the top, one row per caller; ticked off,
// they keep their place until it is too late to undo; handled ones are collapsed.
func TestListToWorkOff(t *testing.T) {
	b := opened(t, workDay()...)
	b.state(callactions.State{CallBack: true})
	uitest.Scaled(b.calls.win, fyne.NewSize(720, 640), 1)
	c := b.calls
	b.Clock = b.Clock.Add(time.Second)
	top := []string{"Anonieme beller", "Anonieme beller", "A. Jansen||3 keer, ook 11:20, zo 13 sep", "B. de Boer"}
	wantRows(t, "at first", c, append(slices.Clone(top), "J. de Vries||2:14", "K. Prins||afgehandeld")...)
	uitest.WantTexts(t, c.win, "Terug te bellen", "Vandaag", "Gemist (4)")
	v := views(b)[6]
	for _, tool := range []tool{toolTick, toolCall} {
		if !v.icons[tool].Visible() {
			t.Errorf("tool %d is not on the row", tool)
		}
	}
	y := views(b)[5].Position().Y
	b.did()
	tick := fyne.NewPos(v.icons[toolTick].Position().X+4, 20)
	v.MouseIn(&desktop.MouseEvent{PointEvent: fyne.PointEvent{Position: tick}})
	uitest.WantTexts(t, c.win, "Afvinken")
	test.TapAt(v, tick)
	b.wantDid(t, "the tick", "tick [6 4 1]")
	uitest.WantNoTexts(t, c.win, "Afvinken")
	ticked := workDay()
	for _, i := range []int{2, 4, 7} {
		ticked[i].HandledAt = uitest.Noon
	}
	for _, what := range []string{"at once", "after the reading"} {
		wantRows(t, what, c, "Anonieme beller", "Anonieme beller", "A. Jansen|afgehandeld|3 keer, ook 11:20, zo 13 sep", "B. de Boer", "J. de Vries||2:14", "K. Prins||afgehandeld")
		if got := views(b)[5].Position().Y; got != y {
			t.Errorf("%s the row below moved from %v to %v", what, y, got)
		}
		b.read(ticked, nil)
	}
	uitest.WantTexts(t, c.win, "Ongedaan maken", "Gemist (3)")
	b.Clock = b.Clock.Add(widgets.SettleTime)
	test.TapAt(v, fyne.NewPos(v.Size().Width-40, 20))
	b.wantDid(t, "undo", "reopen [6 4 1]")
	b.read(workDay(), nil)
	wantRows(t, "undone", c, append(slices.Clone(top), "J. de Vries||2:14", "K. Prins||afgehandeld")...)

	c.show(history.ViewMissedHandled)
	b.read(workDay(), nil)
	wantRows(t, "missed", c, top...)
	uitest.WantTexts(t, c.win, "Afgehandeld")
	test.Tap(c.list.headings[0]) // it folds nothing
	wantRows(t, "still folded", c, top...)
	test.Tap(c.list.headings[2])
	wantRows(t, "unfolded", c, append(slices.Clone(top), "K. Prins||afgehandeld")...)
	c.focusRow(0)
	c.list.TypedKey(&fyne.KeyEvent{Name: fyne.KeyLeft})
	wantRows(t, "folded by the keyboard", c, top...)
	test.Tap(c.list.headings[2])
	c.show(history.ViewAll)
	c.show(history.ViewMissedHandled)
	b.read(workDay(), nil)
	wantRows(t, "folded in between", c, top...)
	c.filter.SetText("prins")
	wantRows(t, "found", c, "K. Prins||afgehandeld")
	c.filter.SetText("")
	b.read(ticked[2:3], nil)
	b.Later[len(b.Later)-1]()
	wantRows(t, "with nothing left to do", c, "A. Jansen||afgehandeld")

	// Those handled elsewhere, by opening the file or calling back, keep their place too.
	c.show(history.ViewAll)
	b.read(workDay(), nil)
	b.read(ticked, nil)
	wantRows(t, "dealt with elsewhere", c, "Anonieme beller", "Anonieme beller", "A. Jansen|afgehandeld|3 keer, ook 11:20, zo 13 sep", "B. de Boer", "J. de Vries||2:14", "K. Prins||afgehandeld")
	b.Later[len(b.Later)-1]()
	wantRows(t, "later", c, "Anonieme beller", "Anonieme beller", "B. de Boer", "A. Jansen||afgehandeld", "A. Jansen||afgehandeld", "J. de Vries||2:14", "K. Prins||afgehandeld", "A. Jansen||afgehandeld")

	// The keyboard stays with a caller who calls again.
	b.read(workDay(), nil)
	c.focusRow(slices.IndexFunc(c.openRows, func(r row) bool { return r.title == "A. Jansen" }))
	b.read(append([]history.Entry{missedAt(9, 1, "+31200000001", "A. Jansen")}, workDay()...), nil)
	if r, _ := c.row(c.focusIndex); c.focusIndex != 0 || r.title != "A. Jansen" || r.more != "4 keer, ook 11:50, 11:20 …" {
		t.Errorf("the keyboard is on row %d: %+v", c.focusIndex, r)
	}
	c.show(history.ViewElsewhere)
	b.read(workDay(), nil)
	wantRows(t, "by a colleague", c, "J. de Vries||2:14", "K. Prins||afgehandeld")
}

// TestRemoveAndUndo: the keyboard acts on the row selected with the pointer. A removed
// row keeps its place, from which it can be restored for a while, with a click or Ctrl+Z.
func TestRemoveAndUndo(t *testing.T) {
	var all []history.Entry
	for i, name := range []string{"A. Aarts", "B. Jansen", "C. Prins", "D. Visser"} {
		e := customer()
		e.ID, e.Name, e.Rang = int64(9-i), name, uitest.Noon.Add(-time.Duration(i)*time.Minute)
		all = append(all, e)
	}
	b := opened(t, all...)
	c := b.calls
	b.Clock = b.Clock.Add(time.Second)
	c.win.Canvas().OnTypedKey()(&fyne.KeyEvent{Name: fyne.KeyDown})
	c.list.TypedKey(&fyne.KeyEvent{Name: fyne.KeyDown})
	c.list.TypedKey(&fyne.KeyEvent{Name: fyne.KeyDown}) // on Prins
	rings := func() (n int) {
		for _, v := range views(b) {
			if v.ring.Visible() {
				n++
			}
		}
		return n
	}
	if rings() != 1 || c.focusKey.id != 7 {
		t.Fatalf("%d rings, on %v", rings(), c.focusKey)
	}
	b.did()
	test.TapAt(views(b)[8], fyne.NewPos(300, 14))
	if rings() != 0 || !views(b)[8].Back.Visible() || views(b)[7].Back.Visible() {
		t.Errorf("after a click: %d rings", rings())
	}
	c.win.Canvas().Focused().TypedKey(&fyne.KeyEvent{Name: fyne.KeyDelete})
	b.wantDid(t, "Delete", "remove [8]")
	b.read(append(slices.Clone(all[:1]), all[2:]...), nil)
	wantRows(t, "removed", c, "A. Aarts||2:14", "B. Jansen|Verwijderd|2:14", "C. Prins||2:14", "D. Visser||2:14")
	if c.focusKey.id != 7 {
		t.Errorf("the keyboard is on %v, not on the next one", c.focusKey)
	}
	c.list.TypedKey(&fyne.KeyEvent{Name: fyne.KeyUp})
	b.did()
	c.list.TypedKey(&fyne.KeyEvent{Name: fyne.KeyDelete}) // it cannot be removed twice
	b.wantDid(t, "removing it again")
	b.Clock = b.Clock.Add(widgets.SettleTime)
	v := views(b)[8]
	test.TapAt(v, fyne.NewPos(v.Size().Width-40, 20))
	b.wantDid(t, "undo", "restore [8]")
	b.read(all, nil)
	wantRows(t, "undone", c, "A. Aarts||2:14", "B. Jansen||2:14", "C. Prins||2:14", "D. Visser||2:14")

	for _, id := range []int64{9, 6} {
		b.remove(id)
	}
	b.did()
	c.undoLast() // what Ctrl+Z does
	b.wantDid(t, "Ctrl+Z", "restore [6]")
	c.undoLast()
	b.wantDid(t, "Ctrl+Z again", "restore [9]")
	b.read(all, nil)
	b.on.fail = errors.New("disk")
	b.remove(9)
	b.on.fail = nil
	b.wantNote(t, text.Dutch.T(text.CallsTroubleWrite))
	wantRows(t, "not removed", c, "A. Aarts||2:14", "B. Jansen||2:14", "C. Prins||2:14", "D. Visser||2:14")

	// A later failure does not take the undo away.
	b.remove(9)
	over := b.Later[len(b.Later)-1]
	b.did()
	b.on.fail = errors.New("disk")
	c.copyToClipboard(views(b)[9].row, false)
	c.undoLast()
	b.read(all[1:], nil)
	wantRows(t, "not restored", c, "A. Aarts|Verwijderd|2:14", "B. Jansen||2:14", "C. Prins||2:14", "D. Visser||2:14")
	over() // the first offer
	b.on.fail = nil
	c.undoLast()
	b.wantDid(t, "tried again", "copy 9 false", "restore [9]", "restore [9]")
	b.read(all, nil)
	wantRows(t, "restored", c, "A. Aarts||2:14", "B. Jansen||2:14", "C. Prins||2:14", "D. Visser||2:14")
	b.remove(9)
	b.on.fail = errors.New("disk")
	b.Later = nil
	c.undoLast()
	b.on.fail = nil
	b.RunDue()
	b.did()
	c.undoLast()
	b.wantDid(t, "Ctrl+Z after a failure, too late")

	b.remove(9)
	m := b.Welcome // rebuilt in another language, the window still offers the undo
	m.Language = string(text.English)
	b.SendFromResident(t, windowapi.KindWelcome, m)
	b.read(all[1:], nil)
	c = b.calls
	uitest.WantTexts(t, c.win, "Undo")
	b.Later[len(b.Later)-1]()
	b.did()
	c.undoLast()
	b.wantDid(t, "Ctrl+Z too late")

	// Nor can it be restored once everything was deleted.
	b.remove(8)
	b.SendFromResident(t, windowapi.KindChanged, windowapi.Changed{What: windowapi.ChangedErased})
	b.did()
	c.undoLast()
	b.wantDid(t, "Ctrl+Z after all was forgotten")
}

// TestPeopleOfARow: a row with several possible people shows them below it,
// like the card; one marked as not the caller can be restored in place.
func TestPeopleOfARow(t *testing.T) {
	several := customer()
	several.ID, several.Name, several.ContactID, several.RelationNumber, several.Link, several.Matches, several.Outcome = 8, "", "", "", "", 3, history.OutcomeSeveral
	b := opened(t, several, customer())
	c := b.calls
	b.Clock = b.Clock.Add(time.Second)
	b.did()
	views(b)[8].MouseIn(&desktop.MouseEvent{PointEvent: fyne.PointEvent{Position: fyne.NewPos(300, 30)}})
	if views(b)[8].Cursor() != desktop.PointerCursor {
		t.Error("a row of several does not look as if it opened")
	}
	test.TapAt(views(b)[8], fyne.NewPos(300, 30))
	b.wantDid(t, "a click on several", "lookup [private]")
	people := []windowapi.Contact{{ID: "b", ChosenEarlier: true, Name: "B. Bakker", Relation: "200201", Address: "Dorpsstraat 1", Link: "x"}, {ID: "a", Name: "A. Aarts"}}
	b.on.got = callactions.LookupOutcome{Contacts: people, MoreContacts: 2}
	b.SendFromResident(t, windowapi.KindLookup, windowapi.LookupResult{Seq: 1, Entry: 8, Outcome: history.OutcomeSeveral})
	b.wantDid(t, "the answer", "looked 8 several")
	wantRows(t, "people", c, "3 relaties met dit nummer||2:14", "B. Bakker", "A. Aarts", "", "J. de Vries||2:14")
	uitest.WantTexts(t, c.win, text.Dutch.T(text.CardEarlier), "200 201 · Dorpsstraat 1", "En nog 2 relaties.")
	b.read([]history.Entry{several, customer()}, nil) // the history was written
	c.list.TypedKey(&fyne.KeyEvent{Name: fyne.KeyDown})
	c.list.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	b.wantDid(t, "Enter on a person", "open 8 b")
	c.list.TypedKey(&fyne.KeyEvent{Name: fyne.KeyDown})
	c.list.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn}) // nothing to open
	c.list.TypedKey(&fyne.KeyEvent{Name: fyne.KeyDelete}) // nor to remove
	b.wantDid(t, "Enter and Delete")
	b.Clock = b.Clock.Add(time.Second)
	for _, v := range c.list.views {
		if v.Visible() && v.row.person == 1 {
			test.TapAt(v, fyne.NewPos(400, 30))
		}
	}
	b.wantDid(t, "a click beside a person's name", "open 8 b")
	c.focusRow(2)
	bakker, _ := c.row(1)
	menu := c.items(bakker)
	c.list.TypedKey(&fyne.KeyEvent{Name: fyne.KeyLeft})
	menu[0].Action() // an earlier menu
	b.wantDid(t, "a person of a call that was folded", "open 8 b")
	wantRows(t, "folded", c, "3 relaties met dit nummer||2:14", "J. de Vries||2:14")
	if c.focusKey != (rowKey{8, 0}) {
		t.Errorf("the keyboard is on %v", c.focusKey)
	}

	c.removeContact(views(b)[7].row)
	denied := customer()
	denied.ContactID, denied.RelationNumber, denied.Link, denied.PersonRejected = "", "", "", true
	b.read([]history.Entry{several, denied}, nil)
	uitest.WantTexts(t, c.win, "Niet J. de Vries, zegt u", "Ongedaan maken")
	b.did()
	v := views(b)[7]
	b.Clock = b.Clock.Add(time.Second)
	b.on.fail = errors.New("disk")
	test.TapAt(v, fyne.NewPos(v.Size().Width-40, 20))
	b.on.fail = nil
	b.wantDid(t, "undo that fails", "this 7")
	b.read([]history.Entry{several, denied}, nil)
	uitest.WantTexts(t, c.win, "Ongedaan maken")
	c.undoLast()
	b.wantDid(t, "undo", "this 7")
	b.remove(8)
	b.Clock = b.Clock.Add(time.Second)
	b.did()
	test.TapAt(views(b)[8], fyne.NewPos(300, 30))
	b.wantDid(t, "a click on what was removed")
}

// TestRemovedInPart: if only some of several calls were removed, those can be restored.
func TestRemovedInPart(t *testing.T) {
	all := workDay()
	b := opened(t, all...)
	c := b.calls
	b.on.fail, b.on.half = errors.New("disk"), 2
	b.remove(6)
	b.on.fail = nil
	b.did()
	b.read(slices.DeleteFunc(slices.Clone(all), func(e history.Entry) bool { return e.ID == 6 || e.ID == 4 }), nil)
	wantRows(t, "in part", c, "Anonieme beller", "Anonieme beller", "A. Jansen|Verwijderd|3 keer, ook 11:20, zo 13 sep", "B. de Boer", "A. Jansen", "J. de Vries||2:14", "K. Prins||afgehandeld")
	c.undoLast()
	b.wantDid(t, "undo", "restore [6 4]")
	b.read(all, nil)
	wantRows(t, "undone", c, "Anonieme beller", "Anonieme beller", "A. Jansen||3 keer, ook 11:20, zo 13 sep", "B. de Boer", "J. de Vries||2:14", "K. Prins||afgehandeld")
}

// TestCallsAgainBehindMenu: a menu acts on the calls that its row had when it was opened,
// though the caller has called again since; undoing that makes them one row again.
func TestCallsAgainBehindMenu(t *testing.T) {
	again := append([]history.Entry{missedAt(9, 1, "+31200000001", "A. Jansen")}, workDay()...)
	rest := []string{"B. de Boer", "J. de Vries||2:14", "K. Prins||afgehandeld"}
	for label, want := range map[text.Key][3]string{
		text.CallsMenuTick:   {"tick [6 4 1]", "afgehandeld", "reopen [6 4 1]"},
		text.CallsMenuRemove: {"remove [6 4 1]", "Verwijderd", "restore [6 4 1]"},
	} {
		b := opened(t, workDay()...)
		c := b.calls
		items := c.items(views(b)[6].row)
		b.read(again, nil)
		b.did()
		items[slices.IndexFunc(items, func(i *fyne.MenuItem) bool { return i.Label == text.Dutch.T(label) })].Action()
		b.wantDid(t, "the menu", want[0])
		wantRows(t, want[0], c, append([]string{"A. Jansen", "Anonieme beller", "Anonieme beller",
			"A. Jansen|" + want[1] + "|3 keer, ook 11:20, zo 13 sep"}, rest...)...)
		c.undoLast()
		b.wantDid(t, "undo", want[2])
		b.read(again, nil)
		wantRows(t, want[2], c, append([]string{"A. Jansen||4 keer, ook 11:50, 11:20 …", "Anonieme beller", "Anonieme beller"}, rest...)...)
	}
}
