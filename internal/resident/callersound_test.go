package resident

import (
	"testing"
	"time"

	"wiebelt/internal/core/engine"
	"wiebelt/internal/native/sound"
)

// TestCallerSound checks that a sound plays once per call, when the outcome is known while
// it rings.
func TestCallerSound(t *testing.T) {
	var c soundedCalls
	hears := func(what string, want sound.Kind, cards ...engine.Card) {
		t.Helper()
		var got sound.Kind
		if got, c = c.toneFor(&engine.Snapshot{Cards: cards}); got != want {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	card := func(id engine.CardID, o engine.Outcome) engine.Card { return engine.Card{ID: id, Outcome: o} }
	hears("nothing", "")
	hears("searching", "", card(1, engine.OutcomeSearching))
	hears("found", sound.Known, card(1, engine.OutcomeFound))
	hears("found still", "", card(1, engine.OutcomeFound))
	hears("not this one", "", card(1, engine.OutcomeNobody))
	hears("another call", sound.Several, card(1, engine.OutcomeFound), card(2, engine.OutcomeSeveral))
	hears("gone", "")
	hears("nobody", sound.Unknown, card(3, engine.OutcomeNobody))
	hears("withheld", sound.Unknown, card(3, engine.OutcomeNobody), card(4, engine.OutcomeWithheld))
	again := card(3, engine.OutcomeNobody)
	again.Rang = again.Rang.Add(time.Minute)
	hears("the same caller again", sound.Unknown, again)
	hears("again, still", "", again)
	hears("failed", "", card(5, engine.OutcomeFailed))
	hears("mended", sound.Known, card(5, engine.OutcomeFound))
	answered := card(6, engine.OutcomeFound)
	answered.Phase = engine.PhaseAnswered
	hears("answered before", "", answered)
	out := card(7, engine.OutcomeFound)
	out.Outgoing = true
	hears("called by us", "", out)
}
