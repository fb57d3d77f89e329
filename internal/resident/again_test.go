package resident

import (
	"errors"
	"testing"
	"time"

	"wiebelt/internal/history"
)

// A call goes on while it is looked up again: what is heard of it meanwhile stays,
// and nobody's name comes to another caller.
func TestLookAgainDuringTheCall(t *testing.T) {
	d := newDesktop(t)
	rang := time.Now().Add(-time.Minute).Truncate(time.Microsecond)
	e := history.Entry{Number: "+31698760011", Shown: "06 98 76 00 11", Outcome: history.OutcomeFailed, Rang: rang, Kind: "bria"}
	id := d.put(e)
	asked := d.get(id) // what the hub is asked about

	over := asked
	over.Ended, over.Result = rang.Add(20*time.Second), history.ResultMissed
	d.put(over)
	if _, err := d.lookAgain(t.Context(), asked); err != nil {
		t.Fatal(err)
	}
	if got := d.get(id); !got.Open() || !got.Ended.Equal(over.Ended) || got.ContactID != "c-vries" || got.Outcome != history.OutcomeFound || !got.Fits("vries") {
		t.Errorf("missed meanwhile: %+v", got)
	}
	if n := d.missed(); n != 1 {
		t.Errorf("%d missed", n)
	}

	passed := d.get(id)
	passed.Number, passed.Shown, passed.Name, passed.ContactID, passed.Result = "101", "101", "", "", history.ResultLive
	d.put(passed)
	if _, err := d.lookAgain(t.Context(), asked); !errors.Is(err, history.ErrGone) {
		t.Errorf("passed on meanwhile: %v", err)
	}
	if got := d.get(id); got.Number != "101" || got.Name != "" || got.ContactID != "" {
		t.Errorf("passed on meanwhile: %+v", got)
	}
}
