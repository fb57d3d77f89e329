package demo

import (
	"context"
	"errors"
	"fmt"
	"image"
	"strconv"
	"sync"
	"time"

	"wiebelt/internal/core/engine"
	"wiebelt/internal/localhub"
	"wiebelt/internal/simulate"
	"wiebelt/internal/ui/card"
)

// line is the office's own number in the demo.
const line = "0207654321"

// Stage plays scenarios against a running resident.
type Stage struct {
	hub     *localhub.Hub
	phone   *simulate.Phone
	people  People
	painted <-chan card.Painted
	mended  func() // the resident asks the hub anew
	next    int
	rang    time.Time
	mu      sync.Mutex
	cancel  context.CancelFunc
}

// People are numbers of the local hub's invented contacts.
type People struct {
	One, Other, Third, Fourth string // one contact each
	Family                    string // several contacts
	Nobody                    string // none
}

// NewStage makes a stage. painted must get every card that comes on screen;
// mended is called when the hub is whole again after a call for which it was
// broken.
func NewStage(hub *localhub.Hub, phone *simulate.Phone, people People, painted <-chan card.Painted, mended func()) *Stage {
	return &Stage{hub: hub, phone: phone, people: people, painted: painted, mended: mended}
}

// Played is how a call of the demo went.
type Played struct {
	Scenario string
	Number   string // as shown
	Outcome  engine.Outcome
	// Painted is from the ring leaving the softphone until the card was on
	// screen, Contact the same for what the hub answered (0 if nothing was
	// looked up), Answer from the hub's answer to the screen.
	Painted, Contact, Answer time.Duration
	Picture                  *image.RGBA // read back from the screen
}

// errNotPainted says that a card was asked for and did not come on screen as it
// should look.
var errNotPainted = errors.New("the card was not painted")

// Stop ends the call that plays now, if one does. Any goroutine.
func (s *Stage) Stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cancel != nil {
		s.cancel()
	}
}

// Play rings, waits until the card shows what the scenario is about, tells
// shown (which may be nil), keeps it for hold, and hangs up. One call at a time.
func (s *Stage) Play(ctx context.Context, sc Scenario, hold time.Duration, shown func(Played)) (Played, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.mu.Lock()
	s.cancel = cancel
	s.mu.Unlock()

	out := Played{Scenario: sc.ID}
	if err := s.hub.Faults().Reset(); err != nil {
		return out, err
	}
	if sc.before != nil {
		if err := sc.before(ctx, s); err != nil {
			return out, err
		}
	}
	defer func() {
		if err := s.hub.Faults().Reset(); err == nil && sc.before != nil {
			s.mended()
		}
	}()
	s.drain()
	s.next++
	c := simulate.Call{ID: "demo-" + strconv.Itoa(s.next), Number: sc.number(s), Name: sc.name, Line: line}
	s.rang = time.Now()
	if err := s.phone.Ring(ctx, c); err != nil {
		return out, err
	}
	defer func() {
		// Hung up even when the demo itself is ending.
		end, done := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer done()
		_ = s.phone.End(end, c, "missed")
	}()
	first, err := s.until(ctx, func(card.Painted) bool { return true })
	if err != nil {
		return out, fmt.Errorf("%s: %w", sc.ID, err)
	}
	out.Painted = first.At.Sub(s.rang)
	if sc.after != nil {
		if err := sc.after(ctx, s, c); err != nil {
			return out, err
		}
	}
	last := first
	if last.Card.Outcome != sc.want {
		last, err = s.until(ctx, func(p card.Painted) bool { return p.Card.Outcome == sc.want })
		if err != nil {
			return out, fmt.Errorf("%s: %w", sc.ID, err)
		}
	}
	out.Number, out.Outcome = last.Card.Number.Display(), last.Card.Outcome
	if !last.Card.Answer.IsZero() {
		out.Contact, out.Answer = last.At.Sub(s.rang), last.At.Sub(last.Card.Answer)
	}
	if out.Picture, err = last.OnScreen(); err != nil {
		return out, err
	}
	if !same(out.Picture, last.Wanted()) {
		return out, fmt.Errorf("%s: %w: the screen shows something else", sc.ID, errNotPainted)
	}
	if shown != nil {
		shown(out)
	}
	_ = simulate.Wait(ctx, hold) // cut short by the next call: this one went well
	return out, nil
}

// until reads what is painted until it is what is waited for.
func (s *Stage) until(ctx context.Context, ok func(card.Painted) bool) (card.Painted, error) {
	last := "nothing"
	limit := time.NewTimer(15 * time.Second)
	defer limit.Stop()
	for {
		select {
		case p := <-s.painted:
			if p.Card.Ring.Before(s.rang) {
				continue // of the call before
			}
			if ok(p) {
				return p, nil
			}
			last = fmt.Sprintf("outcome %d %s", p.Card.Outcome, p.Card.Failure)
		case <-limit.C:
			return card.Painted{}, fmt.Errorf("%w; last seen: %s", errNotPainted, last)
		case <-ctx.Done():
			return card.Painted{}, ctx.Err()
		}
	}
}

func (s *Stage) drain() {
	for {
		select {
		case <-s.painted:
		default:
			return
		}
	}
}

// same reports whether the screen shows the picture. A pointer or a clock's
// tick may differ; a card that is not there does not pass.
func same(got, want *image.RGBA) bool {
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
