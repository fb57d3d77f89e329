// Package recorder stores calls: it converts the engine's reports into history entries and
// writes them, so that no card ever waits for a disk.
//
// It owns the entries waiting to be written and the mapping from calls to entries. Its only
// goroutine is Run, which does all the writing; Enqueue is safe for concurrent use. It knows
// the engine's entries and the history, but neither windows nor the resident.
package recorder

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/core/engine"
	"wiebelt/internal/core/phone"
	"wiebelt/internal/core/wake"
	"wiebelt/internal/store/history"
)

// Recorder writes the engine's entries to the history, in order.
type Recorder struct {
	store   *history.Store
	more    chan struct{} // has a value while entries are waiting
	changed func()
	log     *slog.Logger
	calls   map[call.ID]recorded
	order   []call.ID // the keys of calls, oldest first

	mu    sync.Mutex
	queue []engine.Entry // oldest first, at most maxQueue

	dropped   atomic.Int64  // dropped and not reported yet
	lossReady chan struct{} // has a value when there is something to report
	failures  int           // not written and not reported yet; Run's own, like lastErr
	lastErr   error
	after     func(time.Duration) <-chan time.Time // replaced in tests
}

// recorded is what is remembered of a written call: only what later entries need, and
// nothing about the caller.
type recorded struct {
	id     int64
	ended  time.Time // zero during the call
	result string
	opened bool // its customer file was opened
}

const (
	// Entries beyond maxQueue are dropped and counted: a flood must not exhaust memory.
	maxQueue = 1024
	// maxRemembered limits the number of ended calls whose entries are remembered.
	maxRemembered = 64
	// tellEvery is the interval of log lines about losses: a flood must not
	// fill the log either.
	tellEvery = 10 * time.Second
	// finalWriteTimeout limits writing one call at the end. A disk that takes longer counts as
	// hung, and the rest is given up; the next resident waits a little longer than this.
	finalWriteTimeout = 4 * time.Second
)

// New returns a Recorder for a history. changed is called on Run's goroutine after every
// successful write, and after a failed one that has changed the store's state.
func New(store *history.Store, changed func(), log *slog.Logger) *Recorder {
	return &Recorder{store: store, more: make(chan struct{}, 1), changed: changed, log: log,
		calls: map[call.ID]recorded{}, lossReady: make(chan struct{}, 1), after: time.After}
}

// Enqueue queues an entry for writing. It never blocks. If too many are waiting, the newest of
// the source with the most is dropped: a flood takes nothing from another source.
func (r *Recorder) Enqueue(e engine.Entry) {
	r.mu.Lock()
	r.queue = append(r.queue, e)
	full := len(r.queue) > maxQueue
	if full {
		r.dropNewest()
	}
	r.mu.Unlock()
	if full {
		r.dropped.Add(1)
		wake.Up(r.lossReady)
	}
	wake.Up(r.more)
}

// dropNewest drops the newest entry of the source with the most entries. r.mu is held.
func (r *Recorder) dropNewest() {
	waiting, busiest := map[call.Source]int{}, call.Source{}
	for _, e := range r.queue {
		if waiting[e.Source]++; waiting[e.Source] >= waiting[busiest] {
			busiest = e.Source
		}
	}
	for i, e := range slices.Backward(r.queue) {
		if e.Source == busiest {
			r.queue = slices.Delete(r.queue, i, i+1)
			return
		}
	}
}

func (r *Recorder) next() (e engine.Entry, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.queue) == 0 {
		return e, false
	}
	e = r.queue[0]
	if r.queue = slices.Delete(r.queue, 0, 1); len(r.queue) == 0 {
		r.queue = nil // a flood may have made it large
	}
	return e, true
}

// logLosses logs one line about all losses since the last one.
func (r *Recorder) logLosses() {
	left, wrong := r.dropped.Swap(0), r.failures
	if left > 0 {
		r.log.Warn("history is behind; calls were left out", "count", left)
	}
	if wrong > 0 {
		r.log.Warn("calls not written to the history", "count", wrong, "why", r.lastErr)
	}
	r.failures, r.lastErr = 0, nil
}

// Run writes until ctx has ended and everything queued by then is written. The history
// must be closed after it.
func (r *Recorder) Run(ctx context.Context) {
	purge := time.Tick(time.Hour)
	_ = r.store.Purge(ctx)
	defer r.logLosses()
	full, tell := r.lossReady, (<-chan time.Time)(nil)
	write := context.WithoutCancel(ctx) // the end must not interrupt a write
	for {
		select {
		case <-r.more:
			if e, ok := r.next(); ok {
				r.write(write, e)
				wake.Up(r.more)
			}
		case <-full:
			full, tell = nil, r.after(tellEvery)
		case <-tell:
			full, tell = r.lossReady, nil
			r.logLosses()
		case <-purge:
			if err := r.store.Purge(ctx); err != nil {
				r.log.Warn("old calls not removed", "why", err)
			}
		case <-ctx.Done():
			end, cancel := context.WithCancel(write)
			defer cancel()
			late := time.AfterFunc(finalWriteTimeout, cancel)
			defer late.Stop()
			_ = r.store.PrepareShutdown(end) // without it the rest takes longer
			for {
				e, ok := r.next()
				if !ok {
					return
				}
				late.Reset(finalWriteTimeout)
				r.write(end, e)
			}
		}
	}
}

func (r *Recorder) write(ctx context.Context, e engine.Entry) {
	h := entry(e)
	was, known := r.calls[e.Call]
	h.ID = was.id
	if h.Ended.IsZero() {
		h.Ended, h.Result = was.ended, cmp.Or(h.Result, was.result)
	}
	before := r.store.State()
	id, err := r.store.Put(ctx, h)
	if err != nil {
		if !errors.Is(err, history.ErrGone) {
			r.failed(err)
		}
		if r.store.State() != before {
			r.changed() // the windows show it
		}
		return
	}
	// A file opened while the phone rang is part of that call; one opened after it was
	// missed counts as handling it.
	if e.BrowserStarted && known && !was.opened && h.Missed() {
		if err := r.store.HandleNumber(ctx, h.Number); err != nil {
			r.failed(err)
		}
	}
	if e.Call != 0 {
		if !known {
			r.order = append(r.order, e.Call)
		}
		r.calls[e.Call] = recorded{id, h.Ended, h.Result, e.BrowserStarted}
		r.forgetOldest()
	}
	r.changed()
}

// forgetOldest forgets the oldest ended calls beyond maxRemembered, about which nothing more
// is reported; in a flood of calls that never end, also the oldest of those.
func (r *Recorder) forgetOldest() {
	for len(r.order) > maxRemembered {
		i := slices.IndexFunc(r.order, func(c call.ID) bool { return !r.calls[c].ended.IsZero() })
		if i < 0 {
			if len(r.order) <= 2*maxQueue { // more than can be waiting and in progress
				return
			}
			i = 0 // a flood of calls that never end
		}
		c := r.order[i]
		r.order = slices.Delete(r.order, i, i+1)
		delete(r.calls, c)
	}
}

func (r *Recorder) failed(err error) {
	r.failures++
	r.lastErr = err
	wake.Up(r.lossReady)
}

func entry(e engine.Entry) history.Entry {
	c := e.Card
	h := history.Entry{
		Rang: c.Rang, Answered: c.Answered, Ended: e.Ended, Outgoing: c.Outgoing, Kind: e.Source.Kind,
		NumberDisplay: c.Number.Display(), Line: c.LineName, LineNumber: c.LineText, Via: c.Via, AnsweredBy: e.AnsweredBy, Name: c.PhoneName,
		Matches: len(c.Contacts), Outcome: outcomes[c.Outcome],
		Result: history.ResultOf(c.ReportLevel, !c.Answered.IsZero(), !e.Ended.IsZero(), e.Reason),
	}
	if c.Number.Kind != phone.Withheld {
		h.Number = c.Number.Key()
	}
	if i := e.ContactIndex; i >= 0 && i < len(c.Contacts) {
		k := c.Contacts[i]
		h.Name, h.ContactID, h.RelationNumber = cmp.Or(k.Name(), h.Name), k.ID, k.RelationNumber
		if c.LinkOK[i] {
			h.Link = k.Link
		}
	}
	if c.RemovedCount > 0 && e.ContactIndex < 0 {
		h.PersonRejected, h.Name = true, ""
		if !c.Possible {
			h.Name = c.LastRemoved.Name()
		}
	}
	if c.Number.Kind == phone.Withheld {
		h.Name = ""
	}
	return h
}

var outcomes = map[engine.Outcome]string{
	engine.OutcomeFound: history.OutcomeFound, engine.OutcomeSeveral: history.OutcomeSeveral,
	engine.OutcomeNobody: history.OutcomeNobody, engine.OutcomeFailed: history.OutcomeFailed,
	engine.OutcomeWithheld: history.OutcomeWithheld, engine.OutcomeInternal: history.OutcomeInternal,
	engine.OutcomeShort: history.OutcomeShort, engine.OutcomeOwnLine: history.OutcomeOwn,
}
