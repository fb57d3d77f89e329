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

// Lookup asks the hub for the contacts of a number. It returns no contacts and
// no error when nobody has the number. It obeys ctx. Safe for concurrent use.
type Lookup interface {
	Lookup(ctx context.Context, number string) ([]contact.Contact, error)
}

// Clock is time, so that a test can be its master.
type Clock interface {
	Now() time.Time
	// At returns a channel that fires once when t has come.
	At(t time.Time) <-chan time.Time
}

// SchemeLookup says what a launch through the URL scheme may do by itself.
type SchemeLookup string

// The values of the setting scheme.lookup.
const (
	SchemeAsk    SchemeLookup = "ask"
	SchemeAlways SchemeLookup = "always"
	SchemeOff    SchemeLookup = "off"
)

// Outgoing says how a call that this office makes is shown.
type Outgoing string

// The values of the setting card.outgoing.
const (
	OutgoingStrip Outgoing = "strip"
	OutgoingCard  Outgoing = "card"
	OutgoingOff   Outgoing = "off"
)

// AutoOpen says when a customer file is opened without a click.
type AutoOpen string

// The values of the setting card.auto_open.
const (
	AutoOpenNever    AutoOpen = "never"
	AutoOpenAnswered AutoOpen = "answered" // when a call with one contact is answered here
)

// Choices remembers whom the user chose among several contacts of one number,
// which is given as phone.Number.Key. Methods are called on the engine's
// goroutine and must not block.
type Choices interface {
	// Earlier gives the contact chosen last, false if there is none.
	Earlier(number string) (contactID string, ok bool)
	Chose(number, contactID string)
	// NotThis forgets the contact if that is the one chosen.
	NotThis(number, contactID string)
}

// Params is what an Engine needs. Rules, Clock and Log are required.
type Params struct {
	Rules *phone.Rules
	// Lookup is nil while nothing is set up: every lookup then fails as
	// contact.NotSetUp.
	Lookup Lookup
	// CheckLink returns the address to open for a contact's deep link, or an
	// error when it must not be opened. nil turns every link off.
	CheckLink func(link string) (string, error)
	// Browse opens a checked address. It may take long; it runs on a goroutine
	// of its own.
	Browse func(ctx context.Context, address string) error
	// Record takes an entry for the history. It is called on the engine's
	// goroutine and must not block.
	Record func(Entry)
	// Choices is nil where nothing is to be remembered.
	Choices Choices

	FullFor      time.Duration // setting card.full_for
	AfterCall    time.Duration // setting card.after_call
	SchemeLookup SchemeLookup
	Outgoing     Outgoing
	AutoOpen     AutoOpen

	Clock Clock
	Log   *slog.Logger
}

// Entry is all that the engine knows about a call for the history. The same call
// is recorded again, under the same Call, when that has changed: another caller,
// an answer, the end, or a name that was taken back.
type Entry struct {
	Call     call.ID
	Card     Card
	Source   call.Source
	Ended    time.Time // zero while it is not known to be over
	Reason   call.Reason
	By       string // who took it, with call.Elsewhere
	Contacts int
	// Person is the index of the contact whose name is kept, -1 for nobody: the
	// only one there is, or the one whose file was opened. Of a foreign number
	// nobody is, nor anybody whom the user left over with "Niet deze relatie".
	Person int
	Opened bool // the browser has started with a contact's file
}

// ErrStopped is returned by Take when the engine has ended.
var ErrStopped = errors.New("not running any more")

// task is something for the engine's goroutine: a report, by value since it is on
// the way from ring to card, or a function.
type task struct {
	report call.Event
	f      func(context.Context) // nil for a report
}

// Engine owns calls, cards and lookups. Make one with New and let Run own a
// goroutine; every other method may be called from anywhere.
type Engine struct {
	p        Params
	queue    chan task // to the goroutine of Run; without a buffer, so that what was taken is not lost when it ends
	done     chan struct{}
	snapshot atomic.Pointer[Snapshot]
	s        state

	mu       sync.Mutex
	ended    bool
	watchers []chan struct{}

	// published is told of every snapshot on the engine's goroutine, for tests.
	published func(*Snapshot)
}

// New makes an engine that does nothing until Run.
func New(p Params) *Engine {
	e := &Engine{p: p, queue: make(chan task), done: make(chan struct{}), s: newState()}
	e.snapshot.Store(&Snapshot{})
	return e
}

// send waits while the engine is behind, and reports whether it was there to take t.
func (e *Engine) send(t task) bool {
	select {
	case e.queue <- t:
		return true
	case <-e.done:
		return false
	}
}

// run has the engine's goroutine call f.
func (e *Engine) run(f func(context.Context)) { e.send(task{f: f}) }

// deliver has the engine's goroutine call f unless ctx ends: for goroutines that
// the engine waits for.
func (e *Engine) deliver(ctx context.Context, f func(context.Context)) {
	select {
	case e.queue <- task{f: f}:
	case <-ctx.Done():
	}
}

// Take hands a report over, which was cleaned where it came in (call.Event.Clean).
// It returns when the report is in the engine's hands, before anything is looked
// up, and ErrStopped when the engine has ended. It waits while the engine is
// behind, which is what holds a flood back.
func (e *Engine) Take(ev call.Event) error {
	if !e.send(task{report: ev}) {
		return ErrStopped
	}
	return nil
}

// SourceGone tells that a connection has ended, so that its calls will never be
// reported as over.
func (e *Engine) SourceGone(w call.Source) { e.run(func(context.Context) { e.sourceGone(w) }) }

// Do carries out what the user did with a card. It never blocks the caller for
// long: actions for cards that are gone mean nothing.
func (e *Engine) Do(a Action) { e.run(func(ctx context.Context) { e.act(ctx, a) }) }

// Reconfigure changes settings while the engine runs. set is called on the
// engine's goroutine and may change everything but Clock and Log.
func (e *Engine) Reconfigure(set func(*Params)) { e.run(func(context.Context) { set(&e.p) }) }

// Forget lets go of the last call, and of how often callers rang, where gone says
// so, and of how often who rang: DoShow brings nobody back who was deleted. A card
// that is on screen stays until its time. gone is called on the engine's goroutine.
func (e *Engine) Forget(gone func(LastCall) bool, who phone.Number) {
	e.run(func(context.Context) {
		delete(e.s.rings, e.caller(who))
		e.forgetLast(gone)
	})
}

// Resumed tells that the computer has slept for so long. A call does not outlive a
// sleep of a minute, and no phone says so: such calls and their cards are over.
func (e *Engine) Resumed(slept time.Duration) {
	e.run(func(context.Context) {
		if slept >= call.StaleAfter {
			e.allOver(slept)
		}
	})
}

// Snapshot returns the newest snapshot. Never nil.
func (e *Engine) Snapshot() *Snapshot { return e.snapshot.Load() }

// Watch returns a channel that has a value whenever there may be a newer
// snapshot than the last one read. Several changes may come as one. It is
// closed when the engine ends.
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

// Run owns the engine until ctx ends. It starts lookups and browsers on
// goroutines of their own, all of which have ended when it returns.
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
				e.take(ctx, t.report)
			} else {
				t.f(ctx)
			}
		case <-timer:
		}
		next := e.pass(ctx, e.p.Clock.Now())
		e.publish()
		timer = nil
		if !next.IsZero() {
			timer = e.p.Clock.At(next)
		}
	}
}

// publish makes a snapshot if anything changed and wakes the watchers.
func (e *Engine) publish() {
	if !e.s.dirty {
		return
	}
	e.s.rev++
	snap := &Snapshot{Rev: e.s.rev, Last: e.s.last, Recent: e.s.listed, Lookup: e.s.lookup}
	e.rank() // what folded just now may have been what lived
	snap.Closed = closedFirst(e.s.cards)
	shown, more := seen(e.s.cards, e.held(e.p.Clock.Now()))
	for _, c := range e.s.cards {
		c.shown = false
	}
	for _, c := range shown {
		c.shown = true
		snap.Cards = append(snap.Cards, c.Card)
	}
	for _, c := range e.s.cards {
		if !c.shown {
			c.attention, c.gaveWay = attention{}, c.gaveWay || c.Aside && !c.raised.IsZero() // nobody points at what is not there
			c.raised, c.Raised = time.Time{}, time.Time{}
		}
		if c.on {
			snap.On++
		}
	}
	if snap.More = more; more == 0 {
		e.s.onMore = attention{}
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
