package resident

import (
	"context"
	"log/slog"
	"strconv"
	"time"

	"wiebelt/internal/companion"
	"wiebelt/internal/deskapi"
	"wiebelt/internal/native/notify"
	"wiebelt/internal/ui/card"
)

// cards are what calls are shown with: windows of our own, or notices.
type cards interface {
	Run(ctx context.Context)
	Set(card.Config) // from any goroutine
}

// notices stand in for cards on a desktop where no window of ours can be put: a
// notification for every call that rings, without number and name, since it may
// stay in lists and on locked screens (corrections.md 31). One goroutine, Run,
// owns them.
type notices struct {
	engine  card.Engine
	log     *slog.Logger
	calls   func()           // opens the calls window
	able    func(there bool) // told whether this desktop shows notifications
	next    chan card.Config
	pressed chan choice

	c     card.Config
	n     *notify.Notifier // nil while there is none
	tried time.Time
	up    map[companion.CardID]string // the line that was said
}

type choice struct{ tag, action string }

// openAgain is how long a desktop without notifications is left alone.
const openAgain = 10 * time.Second

func newNotices(r *Resident) *notices {
	return &notices{engine: r.engine, log: r.o.Log, c: r.cardConfig(),
		calls: func() { r.desks.show(deskapi.WindowCalls) }, able: r.noticesAble,
		next: make(chan card.Config, 1), pressed: make(chan choice, 16), up: map[companion.CardID]string{}}
}

// Set makes c hold.
func (s *notices) Set(c card.Config) {
	select {
	case <-s.next: // the last one was not taken up yet
	default:
	}
	select {
	case s.next <- c:
	default: // another one was quicker; both were made of the same settings
	}
}

// Run shows notices until ctx or the engine ends, then takes them away.
func (s *notices) Run(ctx context.Context) {
	watch := s.engine.Watch()
	defer s.close()
	s.open(ctx)
	for {
		select {
		case <-ctx.Done():
			return
		case _, more := <-watch:
			if !more {
				return
			}
		case s.c = <-s.next:
		case p := <-s.pressed:
			s.choose(p)
			continue
		}
		s.show(ctx)
	}
}

func (s *notices) open(ctx context.Context) {
	s.tried = time.Now()
	n, err := notify.Open(ctx, func(tag, action string) {
		select {
		case s.pressed <- choice{tag, action}:
		default: // nobody presses that fast
		}
	})
	if err != nil {
		s.log.Warn("nobody shows notifications", "why", err)
	} else {
		s.n = n
	}
	s.able(err == nil)
}

func (s *notices) close() {
	if s.n != nil {
		s.n.Close()
	}
}

// show brings the notices in line with the calls that ring.
func (s *notices) show(ctx context.Context) {
	rings := map[companion.CardID]string{}
	for _, c := range s.engine.Snapshot().Cards {
		if c.Phase == companion.PhaseRinging && !c.Outgoing || c.Phase == companion.PhaseReported && !c.Strip {
			rings[c.ID] = c.LineName
		}
	}
	if s.c.Hidden || s.c.Quiet == card.QuietHide {
		clear(rings)
	}
	for id := range s.up {
		if _, still := rings[id]; !still {
			delete(s.up, id)
			_ = s.n.Withdraw(tagOf(id)) // gone with the desktop's service otherwise
		}
	}
	for id, line := range rings {
		if said, is := s.up[id]; is && said == line {
			continue
		}
		if s.n == nil {
			if time.Since(s.tried) < openAgain {
				return
			}
			if s.open(ctx); s.n == nil {
				return
			}
		}
		if err := s.n.Show(tagOf(id), notify.IncomingCall(s.c.Language, line)); err != nil {
			s.log.Warn("no notification", "why", err)
			if ctx.Err() == nil { // another service may be there next time
				s.n.Close()
				s.n = nil
				clear(s.up)
				s.able(false)
			}
			return
		}
		s.up[id] = line
	}
}

func tagOf(id companion.CardID) string { return strconv.FormatUint(uint64(id), 10) }

// choose does what a button of a notice asks for. The file opens only where
// there is one to open; all others are to be seen in the calls window.
func (s *notices) choose(p choice) {
	id, err := strconv.ParseUint(p.tag, 10, 64)
	if err != nil {
		return
	}
	for _, c := range s.engine.Snapshot().Cards {
		if c.ID != companion.CardID(id) {
			continue
		}
		switch {
		case p.action == notify.Dismiss:
			s.engine.Do(companion.Action{Card: c.ID, Do: companion.DoClose})
		case c.Outcome == companion.Found && len(c.LinkOK) == 1 && c.LinkOK[0]:
			s.engine.Do(companion.Action{Card: c.ID, Do: companion.DoOpen, Edition: c.Edition})
		default:
			s.calls()
		}
		return
	}
	if p.action != notify.Dismiss { // the call has gone; the window has it
		s.calls()
	}
}
