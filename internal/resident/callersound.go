package resident

import (
	"context"
	"time"

	"wiebelt/internal/core/engine"
	"wiebelt/internal/native/sound"
)

// soundedCalls are the calls on cards that had their tone, or need none.
type soundedCalls map[engine.CardCall]bool

var toneByOutcome = map[engine.Outcome]sound.Kind{engine.OutcomeFound: sound.Known, engine.OutcomeSeveral: sound.Several,
	engine.OutcomeNobody: sound.Unknown, engine.OutcomeWithheld: sound.Unknown}

// toneFor returns the tone for the cards of a snapshot, "" for none, and the calls that had
// theirs by then. Of several simultaneous calls the newest counts.
func (c soundedCalls) toneFor(s *engine.Snapshot) (k sound.Kind, still soundedCalls) {
	still = soundedCalls{}
	for i := range s.Cards {
		card := &s.Cards[i]
		kind, has := toneByOutcome[card.Outcome]
		is := card.Call()
		still[is] = c[is] || has
		if has && !c[is] && card.Phase == engine.PhaseRinging && !card.Outgoing {
			k = kind
		}
	}
	return k, still
}

// longestTone limits how long a program may take to play a tone.
const longestTone = 5 * time.Second

// soundCallers plays a tone for the caller (card.sound), once per call, as soon as the hub
// has answered, until ctx ends.
func (r *Resident) soundCallers(ctx context.Context) {
	watch := r.engine.Watch()
	for sounded := (soundedCalls{}); ; {
		select {
		case <-ctx.Done():
			return
		case _, more := <-watch:
			if !more {
				return
			}
		}
		k, now := r.tone(sounded, r.engine.Snapshot())
		if sounded = now; k == "" {
			continue
		}
		playing, cancel := context.WithTimeout(ctx, longestTone)
		if err := sound.Play(playing, r.o.Dirs.Run, k); err != nil && ctx.Err() == nil {
			r.o.Log.Warn("no sound for a caller", "why", err)
		}
		cancel()
	}
}

// tone is toneFor if a tone is allowed now. One that is not is not played later, either.
func (r *Resident) tone(sounded soundedCalls, s *engine.Snapshot) (sound.Kind, soundedCalls) {
	k, still := sounded.toneFor(s)
	if !r.maySound() {
		k = ""
	}
	return k, still
}

// maySound reports whether a tone is allowed now: not while the desktop is quiet, locked or
// in a presentation, or cards are paused.
func (r *Resident) maySound() bool {
	if r.settings().Card.Sound == "off" || !r.facts.pausedUntil(time.Now()).IsZero() {
		return false
	}
	s := r.session.Load()
	return s == nil || !s.Locked && !s.Quiet && !s.Presenting
}
