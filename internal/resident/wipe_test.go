package resident

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"wiebelt/internal/deskapi"
)

// What the window asks to delete is gone: calls, choices, what could be undone;
// also where no calls are kept, and when the file cannot be changed it says so.
func TestWipe(t *testing.T) {
	d, _ := running(t)
	id := d.put(missedCall())
	d.chosenBefore.Chose("+31207650022", "c-Bakker")
	if _, ok := d.chosenBefore.Earlier("+31207650022"); !ok {
		t.Fatal("no choice is remembered")
	}
	d.removed.keep(undoable{Entry: missedCall()}, func(time.Duration, func()) {})
	if a := d.ask(deskapi.KindCallsWipe, nil, nil); a != "" {
		t.Errorf("answered %s", a)
	}
	if _, err := d.store.Get(t.Context(), id); err == nil {
		t.Error("the call is there")
	}
	if _, ok := d.chosenBefore.Earlier("+31207650022"); ok {
		t.Error("the choice is there")
	}
	if len(d.removed.all) != 0 || d.missed() != 0 {
		t.Errorf("%d can come back, %d missed", len(d.removed.all), d.missed())
	}

	if err := d.store.Close(); err != nil {
		t.Fatal(err)
	}
	d.store = nil // none are kept
	d.chosenBefore.Chose("+31207650022", "c-Bakker")
	if a := d.ask(deskapi.KindCallsWipe, nil, nil); a != "" {
		t.Errorf("without calls it answered %s", a)
	}
	if _, ok := d.chosenBefore.Earlier("+31207650022"); ok {
		t.Error("without calls the choice is there")
	}

	other := newDesktop(t)
	other.put(missedCall())
	// What was put aside is something that cannot be removed.
	if err := os.MkdirAll(filepath.Join(historyPath(other.o.Dirs)+".damaged", "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	var m deskapi.CallsFailed
	if a := other.ask(deskapi.KindCallsWipe, nil, &m); a != deskapi.KindCallsFailed || m.Sentence != "Niet alles kon worden gewist. Meld dit bij Jan (IT)." {
		t.Errorf("what cannot be deleted: %s, %+v", a, m)
	}
}
