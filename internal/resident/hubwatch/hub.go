// Package hubwatch checks independently of calls what would otherwise be noticed only when
// a call goes wrong: that the hub refuses the credentials, that another secret was set, and
// how many calls the last working day had.
//
// Hub, SecretWatcher and UsualCalls each run on one goroutine, their Run, and own only the last
// results, which are safe to read concurrently. They know the facts of package health, but
// neither the resident nor its hub, which they reach through the functions given to them.
package hubwatch

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"wiebelt/internal/core/contact"
	"wiebelt/internal/health"
)

// Intervals of token requests without calls: refused credentials are noticed before
// the first call of the day.
const (
	checkEvery   = 4 * time.Hour
	checkAgain   = time.Hour // refused: somebody may have fixed it
	retryFirst   = 15 * time.Second
	retryLast    = 10 * time.Minute
	afterWaking  = 5 * time.Second // for the network to come back
	checkTimeout = 30 * time.Second
)

// HubState is the result of the last check of the hub. Safe for concurrent use; the
// zero value knows nothing.
type HubState struct {
	mu      sync.Mutex
	at      time.Time
	failure contact.Failure
}

// note records the result of a check and reports whether it is new.
func (h *HubState) note(f contact.Failure, at time.Time) (news bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	news = h.failure != f
	h.failure, h.at = f, at
	return news
}

func (h *HubState) fails() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.failure != ""
}

// unproved are failures of lookups that a token neither confirms nor refutes.
var unproved = []contact.Failure{contact.HubError, contact.NotUnderstood, contact.ScopeRefused, contact.NeverRang}

// AddTo adds to the facts what a check knows better than the last lookup.
func (h *HubState) AddTo(f *health.Facts) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.at.IsZero() || f.Lookup.At.After(h.at):
	case h.failure != "":
		f.Lookup.At, f.Lookup.Failure = h.at, h.failure
	case !slices.Contains(unproved, f.Lookup.Failure):
		f.Lookup.Failure = ""
	}
	f.SecretMissing = h.failure == contact.NotSetUp && f.Lookup.Failure == contact.NotSetUp
}

// TokenChecker is the part of the hub's client used here.
type TokenChecker interface {
	Check(ctx context.Context) (life time.Duration, err error)
}

// Hub requests a token from the hub every few hours, at the start, after a sleep, after a
// failed lookup and when settings have changed. Run is its only goroutine.
type Hub struct {
	p    HubParams
	seen *HubState
	wake chan time.Duration

	lastFailedAt   time.Time   // of the last failed lookup passed to NoteLookup; its caller's own
	checkRequested atomic.Bool // it has triggered a check, and none has succeeded since
}

// HubParams configures a Hub. Client and Recovered are called on Run's goroutine.
type HubParams struct {
	Client    func() TokenChecker // the current one, nil for none
	Changed   func()              // the result has changed; from any goroutine, must not block
	Recovered func()              // the hub issues tokens again
	Log       *slog.Logger
}

// NewHub returns a Hub that records its results in seen.
func NewHub(p HubParams, seen *HubState) *Hub {
	return &Hub{p: p, seen: seen, wake: make(chan time.Duration, 1)}
}

// CheckAfter requests a check after a delay. It never blocks.
func (w *Hub) CheckAfter(in time.Duration) {
	select {
	case w.wake <- in:
	default: // one is pending
	}
}

// SettingsChanged must be called when the client has changed, Resumed after a sleep.
func (w *Hub) SettingsChanged() { w.CheckAfter(0) }
func (w *Hub) Resumed()         { w.CheckAfter(afterWaking) }

// NoteLookup reports the result of the last lookup. After a failure nobody would notice
// until the next call that the hub is back, and the icon would still show it as gone;
// so the hub is checked soon, unless that is already happening. It never blocks; only
// one goroutine may call it.
func (w *Hub) NoteLookup(at time.Time, f contact.Failure) {
	if f == "" || slices.Contains(unproved, f) || at.Equal(w.lastFailedAt) || w.seen.fails() {
		return
	}
	w.lastFailedAt = at
	w.checkRequested.Store(true)
	w.CheckAfter(jitter(retryFirst))
}

// Run checks until ctx ends.
func (w *Hub) Run(ctx context.Context) {
	failures := 0 // consecutive
	for {
		select {
		case <-ctx.Done():
		case <-time.After(w.check(ctx, &failures)):
		case in := <-w.wake:
			failures = 0
			for due := time.After(in); due != nil; {
				select {
				case <-ctx.Done():
					due = nil
				case <-due:
					due = nil
				case again := <-w.wake:
					in = min(in, again)
					due = time.After(in)
				}
			}
		}
		if ctx.Err() != nil {
			return
		}
	}
}

// check checks once and returns the delay until the next check. A transient failure only
// counts if it occurs twice in a row: after a start or a sleep the network takes a moment.
func (w *Hub) check(ctx context.Context, failures *int) time.Duration {
	c := w.p.Client()
	if c == nil {
		w.seen.note("", time.Time{})
		return jitter(checkEvery)
	}
	asking, cancel := context.WithTimeout(ctx, checkTimeout)
	_, err := c.Check(asking)
	cancel()
	if ctx.Err() != nil || w.p.Client() != c {
		return 0 // the result belongs to earlier settings
	}
	f := contact.FailureOf(err)
	if f == "" {
		*failures = 0
	} else {
		*failures++
	}
	if f == "" || f.NeedsAdmin() || *failures > 1 {
		w.reportChange(f)
	}
	if f == "" && w.checkRequested.Swap(false) {
		w.p.Changed() // no news for the checks, but for those who saw the lookup fail
	}
	switch {
	case f == "":
		return jitter(checkEvery)
	case f.NeedsAdmin():
		return jitter(checkAgain)
	}
	return jitter(min(retryFirst<<min(*failures-1, 10), retryLast))
}

func (w *Hub) reportChange(f contact.Failure) {
	if !w.seen.note(f, time.Now()) {
		return
	}
	if f == "" {
		w.p.Log.Info("the hub gives tokens again")
		w.p.Recovered()
	} else {
		w.p.Log.Warn("the hub gives no token", "failure", string(f))
	}
	w.p.Changed()
}

// jitter returns a time near d, so that an office's computers do not all connect at once.
func jitter(d time.Duration) time.Duration { return d*7/8 + rand.N(d/4) }
