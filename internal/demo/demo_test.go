package demo

import (
	"testing"
	"time"

	"wiebelt/internal/core/engine"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/card"
)

// TestTimesAreWrittenInTheirLanguage checks that a time in
// the demo's window is written as usual in its language.
func TestTimesAreWrittenInTheirLanguage(t *testing.T) {
	for l, want := range map[text.Language]string{text.Dutch: "22,7 ms", text.English: "22.7 ms"} {
		if got := msIn(l, 22700*time.Microsecond); got != want {
			t.Errorf("%s: %q, want %q", l, got, want)
		}
	}
}

// TestACallBeforeIsNotThisOne: what is still painted for
// the previous call says nothing about the current one.
func TestACallBeforeIsNotThisOne(t *testing.T) {
	rang := time.Now()
	painted := make(chan card.Painted, 2)
	before, now := engine.Card{ID: 1, Outcome: engine.OutcomeFailed, RingReceived: rang.Add(-time.Second)}, engine.Card{ID: 2,
		RingReceived: rang}
	painted <- card.Painted{Card: before}
	painted <- card.Painted{Card: now}
	s := &player{painted: painted, rang: rang}
	if p, err := s.awaitPainted(t.Context(), func(card.Painted) bool { return true }); err != nil || p.Card.ID != 2 {
		t.Errorf("card %d, %v", p.Card.ID, err)
	}
}
