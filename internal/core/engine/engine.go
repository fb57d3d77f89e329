// Package engine turns call events into immutable snapshots of the cards.
// One goroutine (Engine.Run) owns all calls, cards and lookups; all other
// code gets snapshots and sends commands. The package does not know windows,
// networks or files: what it needs from them are small interfaces in Params.
package engine

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/core/contact"
	"wiebelt/internal/core/phone"
	"wiebelt/internal/core/wake"
)

// Lookup asks the hub for a number's contacts. If nobody has the number, it returns no
// contacts and no error. It obeys ctx and is safe for concurrent use.
type Lookup interface {
	Lookup(ctx context.Context, number string) ([]contact.Contact, error)
}

// SchemeLookup is what a launch through the URL scheme may do by itself.
type SchemeLookup string

// The values of the setting scheme.lookup.
const (
	SchemeAsk    SchemeLookup = "ask"
	SchemeAlways SchemeLookup = "always"
	SchemeOff    SchemeLookup = "off"
)

// OutgoingDisplay is how outgoing calls are shown.
type OutgoingDisplay string

// The values of the setting card.outgoing.
const (
	OutgoingStrip OutgoingDisplay = "strip"
	OutgoingCard  OutgoingDisplay = "card"
	OutgoingOff   OutgoingDisplay = "off"
)

// AutoOpen is when a customer file opens without a click.
type AutoOpen string

// The values of the setting card.auto_open.
const (
	AutoOpenNever    AutoOpen = "never"
	AutoOpenAnswered AutoOpen = "answered" // when a call with one contact is answered here
)

// Choices remembers which of a number's contacts the user chose; numbers are
// phone.Number.Key. Its methods are called on the engine's goroutine and must not block.
type Choices interface {
	// LastChoice returns the contact chosen last, if any.
	LastChoice(number string) (contactID string, ok bool)
	SetChoice(number, contactID string)
	// ForgetChoice forgets the contact if it is the chosen one.
	ForgetChoice(number, contactID string)
}

// Params configure an Engine. Rules and Log are required.
type Params struct {
	Rules *phone.Rules
	// Lookup is nil if nothing is set up: every lookup then fails with contact.NotSetUp.
	Lookup Lookup
	// CheckLink returns the address to open for a contact's deep link, or an error if it
	// must not be opened. nil disables all links.
	CheckLink func(link string) (string, error)
	// Browse opens a checked address. It may take long and runs on its own goroutine.
	Browse func(ctx context.Context, address string) error
	// Record takes a history entry. It is called on the engine's goroutine
	// and must not block.
	Record func(Entry)
	// Choices is nil if nothing is to be remembered.
	Choices Choices

	FullFor      time.Duration // how long a card stays whole, card.full_for
	AfterCall    time.Duration // how long it stays after the call, card.after_call
	SchemeLookup SchemeLookup
	Outgoing     OutgoingDisplay
	AutoOpen     AutoOpen

	Log *slog.Logger
}

// Entry is what the engine knows about a call for the history. The call is recorded
// again, under the same Call, whenever that changes: another caller, an answer, the
// end, or a name taken back.
type Entry struct {
	Call       call.ID
	Card       Card
	Source     call.Source
	Ended      time.Time // zero while not known to be over
	Reason     call.Reason
	AnsweredBy string // who answered, for call.AnsweredElsewhere
	// ContactIndex is the index of the contact whose name is kept, -1 for none: the only one, or
	// the one whose file was opened. It is never a foreign number's contact, nor the one
	// remaining after "Niet deze relatie".
	ContactIndex   int
	BrowserStarted bool // the browser started with a contact's file
}

// ErrStopped is returned by Receive once the engine has ended.
var ErrStopped = errors.New("not running any more")

// task is work for the engine's goroutine: a report, by value since it is on the path from
// ring to card, or a function.
type task struct {
	report call.Event
	f      func(context.Context) // nil for a report
}

// Engine owns calls, cards and lookups. Create one with New and give Run its own goroutine;
// all other methods are safe for concurrent use.
type Engine struct {
	p        Params
	queue    chan task // to Run's goroutine; unbuffered, so that nothing taken is lost when it ends
	done     chan struct{}
	snapshot atomic.Pointer[Snapshot]
	s        state

	mu       sync.Mutex
	ended    bool
	watchers []chan struct{}

	// published is called with every snapshot on the engine's goroutine, in tests.
	published func(*Snapshot)
}

// New returns an engine that does nothing until Run. Until then, and while the engine is
// behind, every method that changes it blocks; once Run has returned, they do nothing.
func New(p Params) *Engine {
	e := &Engine{p: p, queue: make(chan task), done: make(chan struct{}), s: newState()}
	e.snapshot.Store(&Snapshot{})
	return e
}

// send waits while the engine is behind, and reports whether the engine took t.
func (e *Engine) send(t task) bool {
	select {
	case e.queue <- t:
		return true
	case <-e.done:
		return false
	}
}

// enqueue has f called on the engine's goroutine.
func (e *Engine) enqueue(f func(context.Context)) { e.send(task{f: f}) }

// deliver calls f on the engine's goroutine unless ctx ends: for goroutines
// the engine waits for.
func (e *Engine) deliver(ctx context.Context, f func(context.Context)) {
	select {
	case e.queue <- task{f: f}:
	case <-ctx.Done():
	}
}

// Receive passes a report to the engine; it must be cleaned (call.Event.Clean). It returns
// once the engine has the report, before any lookup, or ErrStopped if the engine has ended.
// It blocks while the engine is behind, which throttles floods.
func (e *Engine) Receive(ev call.Event) error {
	if !e.send(task{report: ev}) {
		return ErrStopped
	}
	return nil
}

// SourceGone records that a connection has ended, so that the end of its calls
// will never be reported.
func (e *Engine) SourceGone(s call.Source) { e.enqueue(func(context.Context) { e.sourceGone(s) }) }

// Do performs a user's action on a card. Actions on cards that are gone are ignored.
func (e *Engine) Do(a Action) { e.enqueue(func(ctx context.Context) { e.act(ctx, a) }) }

// Reconfigure changes settings while the engine runs. set is called on the engine's
// goroutine and may change everything but Log.
func (e *Engine) Reconfigure(set func(*Params)) { e.enqueue(func(context.Context) { set(&e.p) }) }

// Forget drops the last calls and ring counts for which gone returns true, and the
// ring count of who, so that ActionShow never brings back someone who was deleted. A
// card on screen stays until its time. gone is called on the engine's goroutine;
// for ring counts, with a LastCall that has only At.
func (e *Engine) Forget(gone func(LastCall) bool, who phone.Number) {
	e.enqueue(func(context.Context) {
		delete(e.s.rings, e.callerHash(who))
		e.forgetCalls(gone)
	})
}

// Resumed records that the computer has slept. No call outlives a sleep of a minute, but no
// phone reports that: such calls and their cards are ended.
func (e *Engine) Resumed(slept time.Duration) {
	e.enqueue(func(context.Context) {
		if slept >= call.StaleAfter {
			e.endAllCalls(time.Now(), slept)
		}
	})
}

// Snapshot returns the newest snapshot. Never nil.
func (e *Engine) Snapshot() *Snapshot { return e.snapshot.Load() }

// Watch returns a channel that receives a value whenever there may be a newer snapshot than
// the last one read. Several changes may arrive as one. It is closed when the engine ends.
func (e *Engine) Watch() <-chan struct{} {
	w := make(chan struct{}, 1)
	w <- struct{}{}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.watchers = append(e.watchers, w); e.ended {
		close(w)
	}
	return w
}

// Run runs the engine until ctx ends. It starts lookups and browsers on their own
// goroutines, all of which have ended when it returns.
func (e *Engine) Run(ctx context.Context) {
	defer func() {
		e.s.work.Wait()
		close(e.done)
		e.mu.Lock()
		defer e.mu.Unlock()
		e.ended = true
		for _, w := range e.watchers {
			close(w)
		}
	}()
	var timer <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case t := <-e.queue:
			if t.f == nil {
				e.receive(ctx, t.report)
			} else {
				t.f(ctx)
			}
		case <-timer:
		}
		next := e.advance(ctx, time.Now())
		e.publish()
		timer = nil
		if !next.IsZero() {
			timer = time.After(time.Until(next))
		}
	}
}

// publish makes a snapshot if anything changed, and wakes the watchers.
func (e *Engine) publish() {
	if !e.s.dirty {
		return
	}
	e.s.rev++
	snap := &Snapshot{Rev: e.s.rev, LastCall: e.s.lastCall, RecentCalls: e.s.recentCalls, Lookup: e.s.lookup}
	e.updateDimming() // what just folded may have been the living call
	snap.ClosedCard = closedForHotkey(e.s.cards)
	shown, more := selectShown(e.s.cards, e.layoutFrozen(time.Now()))
	for _, c := range e.s.cards {
		c.shown = false
	}
	for _, c := range shown {
		c.shown = true
		snap.Cards = append(snap.Cards, c.Card)
	}
	for _, c := range e.s.cards {
		if !c.shown {
			c.attention, c.mustFold = attention{}, c.mustFold || c.Dimmed && !c.Raised.IsZero() // a hidden card has no pointer on it
			c.Raised = time.Time{}
		}
		if c.ongoing {
			snap.Ongoing++
		}
	}
	if snap.MoreCount = more; more == 0 {
		e.s.moreAttention = attention{}
	}
	e.s.dirty = false
	e.snapshot.Store(snap)
	if e.published != nil {
		e.published(snap)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, w := range e.watchers {
		wake.Up(w)
	}
}
