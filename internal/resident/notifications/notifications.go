// Package notifications replaces the cards on a desktop that accepts none of our windows:
// it shows a desktop notification for every ringing call.
//
// Notifier owns the notifications shown; Run is its only goroutine. It sees the engine like
// the cards do, and their configuration; the calls window is a function passed to it.
package notifications

import (
	"context"
	"log/slog"
	"strconv"
	"time"

	"wiebelt/internal/core/engine"
	"wiebelt/internal/core/wake"
	"wiebelt/internal/native/notify"
	"wiebelt/internal/ui/card"
)

// Params configures a Notifier. The functions are called on Run's goroutine.
type Params struct {
	Engine              card.Engine
	Config              func() card.Config // current configuration of the cards
	OpenCallsWindow     func()             // opens the calls window
	AvailabilityChanged func(there bool)   // called with whether this desktop shows notifications
	Log                 *slog.Logger
}

// service is the part of the desktop's service used here.
type service interface {
	Show(tag string, n notify.Notice) error
	Withdraw(tag string) error
	Close()
}

// Notifier shows notifications without number and name, since they may stay in lists and on
// locked screens. Its only goroutine is Run.
type Notifier struct {
	p       Params
	find    func(ctx context.Context, pressed func(tag, action string)) (service, error)
	changed chan struct{}
	pressed chan choice

	c     card.Config
	n     service // nil if there is none
	tried time.Time
	shown map[engine.CardCall]string // with the line shown
}

type choice struct{ tag, action string }

// openAgain is the minimum interval between attempts to reach a notification service.
const openAgain = 10 * time.Second

// New returns a Notifier.
func New(p Params) *Notifier {
	return &Notifier{p: p, c: p.Config(), changed: make(chan struct{}, 1), pressed: make(chan choice, 16), shown: map[engine.CardCall]string{},
		find: func(ctx context.Context, pressed func(tag, action string)) (service, error) {
			return notify.Open(ctx, pressed)
		}}
}

// ConfigChanged makes Run read the configuration again. It may be called from any goroutine.
func (s *Notifier) ConfigChanged() { wake.Up(s.changed) }

// Run shows notifications until ctx or the engine ends, then removes them.
func (s *Notifier) Run(ctx context.Context) {
	watch := s.p.Engine.Watch()
	defer s.close()
	s.open(ctx)
	var again <-chan time.Time // while a call waits for a service
	for {
		select {
		case <-ctx.Done():
			return
		case _, more := <-watch:
			if !more {
				return
			}
		case <-s.changed:
			s.c = s.p.Config()
		case p := <-s.pressed:
			s.choose(p)
			continue
		case <-again:
		}
		if again = nil; !s.show(ctx) {
			again = time.After(time.Until(s.tried.Add(openAgain)))
		}
	}
}

func (s *Notifier) open(ctx context.Context) {
	s.tried = time.Now()
	n, err := s.find(ctx, func(tag, action string) {
		select {
		case s.pressed <- choice{tag, action}:
		default: // nobody clicks that fast
		}
	})
	if err != nil {
		s.p.Log.Warn("nobody shows notifications", "why", err)
	} else {
		s.n = n
	}
	s.p.AvailabilityChanged(err == nil)
}

func (s *Notifier) close() {
	if s.n != nil {
		s.n.Close()
	}
}

// show brings the notifications in line with the ringing calls. It reports false if a call is
// not shown for lack of a service.
func (s *Notifier) show(ctx context.Context) bool {
	rings := map[engine.CardCall]string{}
	for _, c := range s.p.Engine.Snapshot().Cards {
		if c.Phase == engine.PhaseRinging && !c.Outgoing || c.Phase == engine.PhaseReported && !c.Strip {
			rings[c.Call()] = c.LineName
		}
	}
	if s.c.Hidden {
		clear(rings)
	}
	for r := range s.shown {
		if _, still := rings[r]; !still {
			delete(s.shown, r)
			_ = s.n.Withdraw(tagOf(r)) // otherwise it is gone with the service
		}
	}
	for r, line := range rings {
		if said, is := s.shown[r]; is && said == line {
			continue
		}
		if s.n == nil {
			if time.Since(s.tried) < openAgain {
				return false
			}
			if s.open(ctx); s.n == nil {
				return false
			}
		}
		if err := s.n.Show(tagOf(r), notify.IncomingCall(s.c.Language, line)); err != nil {
			s.p.Log.Warn("no notification", "why", err)
			if ctx.Err() == nil { // another service may be there next time
				s.n.Close()
				s.n = nil
				clear(s.shown)
				s.p.AvailabilityChanged(false)
			}
			return false
		}
		s.shown[r] = line
	}
	return true
}

func tagOf(c engine.CardCall) string { return strconv.FormatUint(uint64(c.Card), 10) }

// choose performs a notification's button. It opens the file only if there is exactly one
// to open; otherwise it shows the calls window.
func (s *Notifier) choose(p choice) {
	id, err := strconv.ParseUint(p.tag, 10, 64)
	if err != nil {
		return
	}
	for _, c := range s.p.Engine.Snapshot().Cards {
		if c.ID != engine.CardID(id) {
			continue
		}
		switch {
		case p.action == notify.Dismiss:
			s.p.Engine.Do(engine.Action{Card: c.ID, Kind: engine.ActionClose})
		case c.Outcome == engine.OutcomeFound && c.LinkOK[0]:
			s.p.Engine.Do(engine.Action{Card: c.ID, Kind: engine.ActionOpen, Edition: c.Edition})
		default:
			s.p.OpenCallsWindow()
		}
		return
	}
	if p.action != notify.Dismiss { // the call is gone; the window still lists it
		s.p.OpenCallsWindow()
	}
}
