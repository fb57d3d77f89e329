package demo

import (
	"context"
	"errors"
	"fmt"
	"image"
	"strconv"
	"time"

	"wiebelt/internal/core/engine"
	"wiebelt/internal/core/wake"
	"wiebelt/internal/localhub"
	"wiebelt/internal/native/window"
	"wiebelt/internal/simulate"
	"wiebelt/internal/ui/card"
)

const officeNumber = "0207654321"

// Callers not covered by the local hub's own numbers.
const (
	slowNumber    = "0698760001"
	goneNumber    = "0698760002"
	refusedNumber = "0698760003"
)

// scenario is a call of the demo. Its texts are in the catalogue under its id.
type scenario struct {
	id           string
	want         engine.Outcome               // what the card must show in the end
	number, name string                       // of the caller
	breakHub     func(*localhub.Faults) error // how the hub fails; may be nil
	// after runs once the first card is painted; may be nil.
	after func(context.Context, *player, simulate.Call) error
}

// scenarios lists the calls of the demo, in display order.
var scenarios = []scenario{
	{id: "known", want: engine.OutcomeFound, number: localhub.PersonNumber},
	{id: "family", want: engine.OutcomeSeveral, number: localhub.SharedNumber},
	{id: "unknown", want: engine.OutcomeNobody, number: localhub.UnknownNumber, name: "P. Jansen"},
	{id: "withheld", want: engine.OutcomeWithheld, number: "anonymous"},
	{id: "colleague", want: engine.OutcomeInternal, number: "101", name: "Receptie"},
	{id: "passed", want: engine.OutcomeFound, number: "101", name: "Receptie", after: transferCall},
	{id: "slow", want: engine.OutcomeFound, number: slowNumber, breakHub: func(f *localhub.Faults) error {
		f.Set(localhub.EndpointLookup, localhub.Fault{Delay: 1800 * time.Millisecond})
		return nil
	}},
	{id: "gone", want: engine.OutcomeFailed, number: goneNumber, breakHub: func(f *localhub.Faults) error { return f.SetGone(true) }},
	{id: "refused", want: engine.OutcomeFailed, number: refusedNumber, breakHub: func(f *localhub.Faults) error { f.RefuseCredentials(true); return nil }},
}

func transferCall(ctx context.Context, s *player, c simulate.Call) error {
	if err := wake.Pause(ctx, 1500*time.Millisecond); err != nil {
		return err
	}
	c.Number, c.Name, c.Via = localhub.PersonNumber, "", "Receptie (101)"
	s.rang = time.Now()
	return s.phone.Ring(ctx, c)
}

// player plays scenarios against a running resident, one at a time. It starts no goroutine.
type player struct {
	faults        *localhub.Faults
	phone         *simulate.Phone
	painted       <-chan card.Painted // every card that is painted on screen
	onHubRestored func()              // the hub works again: makes the resident retry
	next          int
	rang          time.Time
}

type playResult struct {
	number  string // as shown
	outcome engine.Outcome
	// painted is the time from the ring until the card was on screen; contact the same for
	// the hub's answer (0 if nothing was looked up); answer the time from the hub's answer
	// until it was on screen.
	painted, contact, answer time.Duration
	picture                  *image.RGBA // read back from the screen, if programs can
}

// errNotPainted means that a card did not appear on screen as it should.
var errNotPainted = errors.New("the card was not painted")

// play rings, waits until the card has the scenario's outcome, calls shown (which may be
// nil), keeps ringing for hold, and hangs up. One call at a time.
func (s *player) play(ctx context.Context, sc scenario, hold time.Duration, shown func(playResult)) (out playResult, err error) {
	if err := s.faults.Reset(); err != nil {
		return out, err
	}
	if sc.breakHub != nil {
		if err := sc.breakHub(s.faults); err != nil {
			return out, err
		}
	}
	defer func() {
		if err := s.faults.Reset(); err == nil && sc.breakHub != nil {
			s.onHubRestored()
		}
	}()
	s.drain()
	s.next++
	c := simulate.Call{ID: "demo-" + strconv.Itoa(s.next), Number: sc.number, Name: sc.name, Line: officeNumber}
	s.rang = time.Now()
	if err := s.phone.Ring(ctx, c); err != nil {
		return out, err
	}
	defer func() {
		// Hang up even if the demo itself is ending.
		end, done := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer done()
		_ = s.phone.End(end, c, "missed")
	}()
	first, err := s.awaitPainted(ctx, func(card.Painted) bool { return true })
	if err != nil {
		return out, fmt.Errorf("%s: %w", sc.id, err)
	}
	out.painted = first.At.Sub(s.rang)
	if sc.after != nil {
		if err := sc.after(ctx, s, c); err != nil {
			return out, err
		}
	}
	last := first
	if last.Card.Outcome != sc.want {
		last, err = s.awaitPainted(ctx, func(p card.Painted) bool { return p.Card.Outcome == sc.want })
		if err != nil {
			return out, fmt.Errorf("%s: %w", sc.id, err)
		}
	}
	out.number, out.outcome = last.Card.Number.Display(), last.Card.Outcome
	if !last.Card.AnswerReceived.IsZero() {
		out.contact, out.answer = last.At.Sub(s.rang), last.At.Sub(last.Card.AnswerReceived)
	}
	switch out.picture, err = last.OnScreen(); {
	case errors.Is(err, window.ErrUnsupported): // programs cannot read this screen
		out.picture = last.Expected()
	case err != nil:
		return out, err
	case !samePicture(out.picture, last.Expected()):
		return out, fmt.Errorf("%s: %w: the screen shows something else", sc.id, errNotPainted)
	}
	if shown != nil {
		shown(out)
	}
	_ = wake.Pause(ctx, hold) // interrupted by the next call: not an error of this one
	return out, nil
}

// awaitPainted receives painted cards until ok returns true for one.
func (s *player) awaitPainted(ctx context.Context, ok func(card.Painted) bool) (card.Painted, error) {
	last := "nothing"
	limit := time.After(15 * time.Second)
	for {
		select {
		case p := <-s.painted:
			if p.Card.RingReceived.Before(s.rang) {
				continue // from the previous call
			}
			if ok(p) {
				return p, nil
			}
			last = fmt.Sprintf("outcome %d %s", p.Card.Outcome, p.Card.Failure)
		case <-limit:
			return card.Painted{}, fmt.Errorf("%w; last seen: %s", errNotPainted, last)
		case <-ctx.Done():
			return card.Painted{}, ctx.Err()
		}
	}
}

func (s *player) drain() {
	for {
		select {
		case <-s.painted:
		default:
			return
		}
	}
}

// samePicture reports whether the screen shows the picture. A pointer or
// a tick of the clock may differ, but a missing card is not accepted.
func samePicture(got, want *image.RGBA) bool {
	if got == nil || got.Rect.Size() != want.Rect.Size() {
		return false
	}
	differ := 0
	for i := 0; i+3 < len(want.Pix); i += 4 {
		if got.Pix[i] != want.Pix[i] || got.Pix[i+1] != want.Pix[i+1] || got.Pix[i+2] != want.Pix[i+2] {
			differ++
		}
	}
	return differ*200 < len(want.Pix)/4
}
