package resident

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"wiebelt/internal/core/engine"
	"wiebelt/internal/core/phone"
)

// stillEngine is an engine whose cards stay.
type stillEngine struct {
	s   *engine.Snapshot
	did []engine.Action
}

func (e *stillEngine) Watch() <-chan struct{}     { return nil }
func (e *stillEngine) Snapshot() *engine.Snapshot { return e.s }
func (e *stillEngine) Do(a engine.Action)         { e.did = append(e.did, a) }

// TestTestCard checks that a test card is shown only while there is no call, closes by
// itself, and passes no action on to the engine.
func TestTestCard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &stillEngine{s: &engine.Snapshot{Rev: 4}}
		changes := atomic.Int64{}
		x := &testCard{Engine: e, changed: func() { changes.Add(1) }}
		card := &engine.Card{ID: testCardID, Number: phone.Number{}}
		go x.show(t.Context(), card)
		synctest.Wait()
		if s := x.Snapshot(); len(s.Cards) != 1 || s.Cards[0].ID != testCardID || s.Rev != 4 || changes.Load() != 1 {
			t.Errorf("%+v, %d changes", s, changes.Load())
		}
		x.Do(engine.Action{Card: testCardID, Kind: engine.ActionHover})
		if len(e.did) != 0 || len(x.Snapshot().Cards) != 1 {
			t.Error("a test card was hovered over and the engine told")
		}
		e.s = &engine.Snapshot{Cards: []engine.Card{{ID: 1}}}
		if s := x.Snapshot(); len(s.Cards) != 1 || s.Cards[0].ID != 1 {
			t.Error("a call does not come first")
		}
		x.Do(engine.Action{Card: 1, Kind: engine.ActionClose})
		if len(e.did) != 1 {
			t.Error("what is done with a call did not reach the engine")
		}
		e.s = &engine.Snapshot{}
		time.Sleep(testCardFor)
		synctest.Wait()
		if len(x.Snapshot().Cards) != 0 || changes.Load() != 2 {
			t.Errorf("it stays; %d changes", changes.Load())
		}
		go x.show(t.Context(), card)
		synctest.Wait()
		x.Do(engine.Action{Card: testCardID, Kind: engine.ActionClose})
		if len(x.Snapshot().Cards) != 0 {
			t.Error("closed, and still there")
		}
		time.Sleep(testCardFor)
	})
}
