package calls

import (
	"encoding/json"
	"testing"

	"wiebelt/internal/deskapi"
	"wiebelt/internal/history"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/kittest"
)

// What was removed can be put back for a while, by a click or by Ctrl+Z; calls
// removed in a row come back together.
func TestUndoRemove(t *testing.T) {
	b := newBench(t, kittest.Greeting(text.Dutch))
	b.read([]history.Entry{customer()}, nil)
	b.Show(deskapi.WindowCalls)
	gone := func(id int64) {
		t.Helper()
		raw, err := json.Marshal(deskapi.CallsEntry{Entry: id})
		if err != nil {
			t.Fatal(err)
		}
		b.Handle(deskapi.KindCallsRemoved, raw)
	}
	gone(7)
	if s := notes(b); s != "1 oproep verwijderd." {
		t.Fatalf("says %q", s)
	}
	gone(8)
	if s := notes(b); s != "2 oproepen verwijderd." {
		t.Fatalf("says %q", s)
	}
	b.Take()
	kittest.PressIn(t, b.calls.note, "Ongedaan maken")
	got := b.Take()
	if len(got) != 2 || got[0] != (kittest.Saying{Kind: deskapi.KindCallsUndo, M: deskapi.CallsEntry{Entry: 7}}) || got[1] != (kittest.Saying{Kind: deskapi.KindCallsUndo, M: deskapi.CallsEntry{Entry: 8}}) {
		t.Errorf("said %v", got)
	}
	if s := notes(b); s != "" {
		t.Errorf("still says %q", s)
	}

	gone(9)
	b.calls.undo() // what Ctrl+Z does
	if got := b.Take(); len(got) != 1 || got[0] != (kittest.Saying{Kind: deskapi.KindCallsUndo, M: deskapi.CallsEntry{Entry: 9}}) {
		t.Errorf("Ctrl+Z said %v", got)
	}

	b.Later = nil
	gone(10)
	gone(11)
	b.Later[0]() // that of the first: the second is younger
	if s := notes(b); s != "2 oproepen verwijderd." {
		t.Errorf("says %q", s)
	}
	b.Later[1]()
	if s := notes(b); s != "" {
		t.Errorf("it is too late, and it says %q", s)
	}
	b.calls.undo()
	if got := b.Take(); len(got) != 0 {
		t.Errorf("too late, and it said %v", got)
	}
	// A window built anew in another language still offers it.
	gone(12)
	m := b.Welcome
	m.Language = string(text.English)
	b.Tell(t, deskapi.KindWelcome, m)
	b.state(t, deskapi.CallsState{})
	if s := notes(b); s != "1 call removed." {
		t.Errorf("in English it says %q", s)
	}
}
