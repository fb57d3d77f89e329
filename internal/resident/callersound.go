package resident

import (
	"context"
	"time"

	"wiebelt/internal/core/engine"
	"wiebelt/internal/native/sound"
)

// callerSound plays a tone for the caller (card.sound), once per call, as soon
// as the hub has answered.
type callerSound struct {
	play    func(context.Context, sound.Kind) error
	allowed func() bool // whether settings and session allow it now
	sounded map[engine.CardCall]bool
}

// kinds maps the outcomes with a tone to it.
var kinds = map[engine.Outcome]sound.Kind{engine.Found: sound.Known, engine.Several: sound.Several,
	engine.Nobody: sound.Unknown, engine.Withheld: sound.Unknown}

// toneFor returns the tone for the cards of a snapshot, "" for none. Of several
// simultaneous calls the newest counts.
func (c *callerSound) toneFor(s *engine.Snapshot) (k sound.Kind) {
	still := map[engine.CardCall]bool{}
	for i := range s.Cards {
		card := &s.Cards[i]
		kind, has := kinds[card.Outcome]
		is := card.Call()
		still[is] = c.sounded[is] || has
		if has && !c.sounded[is] && card.Phase == engine.PhaseRinging && !card.Outgoing {
			k = kind
		}
	}
	c.sounded = still
	if k != "" && !c.allowed() {
		return ""
	}
	return k
}

// longestTone limits how long a program may take to play a tone.
const longestTone = 5 * time.Second

// soundCallers plays the tones until ctx ends.
func (r *Resident) soundCallers(ctx context.Context) {
	c := callerSound{
		play: func(ctx context.Context, k sound.Kind) error {
			ctx, cancel := context.WithTimeout(ctx, longestTone)
			defer cancel()
			return sound.Play(ctx, r.o.Dirs.Run, k)
		},
		allowed: r.maySound,
	}
	c.run(ctx, r.engine, func(err error) { r.o.Log.Warn("no sound for a caller", "why", err) })
}

func (c *callerSound) run(ctx context.Context, e interface {
	Watch() <-chan struct{}
	Snapshot() *engine.Snapshot
}, failed func(error)) {
	watch := e.Watch()
	for {
		select {
		case <-ctx.Done():
			return
		case _, more := <-watch:
			if !more {
				return
			}
		}
		if k := c.toneFor(e.Snapshot()); k != "" {
			if err := c.play(ctx, k); err != nil && ctx.Err() == nil {
				failed(err)
			}
		}
	}
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
