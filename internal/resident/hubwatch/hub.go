// Package hubwatch looks, although nobody calls, at what would otherwise be noticed
// only when a call goes wrong: that the hub refuses our credentials, that somebody
// has set another secret, and how many calls the last working day had.
//
// Hub, Secret and UsualCalls each run on one goroutine of their own, their Run, and own
// no more than what they saw last, which may be read from any. They know the facts
// of package health, and neither the resident nor its hub: they ask and tell
// through what they are made with.
package hubwatch

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/core/contact"
	"wiebelt/internal/health"
)

// Times of asking the hub for a token although nobody calls: refused credentials
// are noticed before the first call of the day is.
const (
	checkEvery  = 4 * time.Hour
	checkAgain  = time.Hour // refused: somebody may have mended it
	retryFirst  = 15 * time.Second
	retryLast   = 10 * time.Minute
	afterWaking = 5 * time.Second // for the network to come back
	checkIn     = 30 * time.Second
)

// HubSeen is what the last check of the hub came to. Safe for concurrent use;
// the zero value knows nothing.
type HubSeen struct {
	mu      sync.Mutex
	at      time.Time
	failure contact.Failure
}

// note keeps what a check came to and reports whether that is news.
func (h *HubSeen) note(f contact.Failure, at time.Time) (news bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	news = h.failure != f
	h.failure, h.at = f, at
	return news
}

// fails reports whether the last check that counts failed.
func (h *HubSeen) fails() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.failure != ""
}

// unproved are failures of lookups that a token says nothing about.
var unproved = []contact.Failure{contact.HubError, contact.NotUnderstood, contact.ScopeRefused, contact.NeverRang}

// Into adds to the facts what a check knows better than the last lookup.
func (h *HubSeen) Into(f *health.Facts) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.at.IsZero() || f.Lookup.At.After(h.at):
	case h.failure != "":
		f.Lookup.At, f.Lookup.Failure = h.at, h.failure
	case !slices.Contains(unproved, f.Lookup.Failure):
		f.Lookup.Failure = ""
	}
}

// TokenChecker is the hub's client as far as it matters here.
type TokenChecker interface {
	Check(ctx context.Context) (life time.Duration, err error)
}

// Hub asks the hub for a token every few hours, at the start, after a sleep, after
// a look-up that failed and when settings have changed. Its Run is its only
// goroutine.
type Hub struct {
	p    HubParams
	seen *HubSeen
	wake chan time.Duration

	asked   time.Time   // of the failed look-up that Failed was told of last; its caller's own
	doubted atomic.Bool // a check is coming because of it
}

// HubParams is what a hub is watched with. The functions are called on Run's
// goroutine.
type HubParams struct {
	Client    func() TokenChecker // that holds now, nil for none
	Changed   func()              // what was seen is news; from any goroutine, it must not block
	Recovered func()              // the hub gives tokens again
	Expires   func() time.Time
	Warned    func(day string) bool // whether that day's warning was given; from now on it was
	Log       *slog.Logger
}

// NewHub watches a hub and keeps what it came to in seen.
func NewHub(p HubParams, seen *HubSeen) *Hub {
	return &Hub{p: p, seen: seen, wake: make(chan time.Duration, 1)}
}

// OnceADay reports whether a file names that day, and has it do so.
func OnceADay(path, day string) (was bool, err error) {
	if b, _ := os.ReadFile(path); strings.TrimSpace(string(b)) == day {
		return true, nil
	}
	return false, profile.WriteFile(path, []byte(day+"\n"), 0o600)
}

// Look asks for a check in a while. It never blocks.
func (w *Hub) Look(in time.Duration) {
	select {
	case w.wake <- in:
	default: // one is coming
	}
}

// SettingsChanged is called when another client holds, Resumed after a sleep.
func (w *Hub) SettingsChanged() { w.Look(0) }
func (w *Hub) Resumed()         { w.Look(afterWaking) }

// Failed tells how the last look-up went. Until the next call nobody would hear
// that the hub is back, and the icon would go on saying that it is gone; so the
// hub is asked soon after, unless that is being done already. It never blocks; only
// one goroutine may call it.
func (w *Hub) Failed(at time.Time, f contact.Failure) {
	if f == "" || slices.Contains(unproved, f) || at.Equal(w.asked) || w.seen.fails() {
		return
	}
	w.asked = at
	w.doubted.Store(true)
	w.Look(around(retryFirst))
}

// Run checks until ctx ends.
func (w *Hub) Run(ctx context.Context) {
	failures := 0 // in a row
	for {
		wait := w.check(ctx, &failures)
		w.warn(time.Now())
		select {
		case <-ctx.Done():
		case <-time.After(wait):
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

// check asks once and returns when to ask again. A failure that passes by itself
// is believed when it comes twice in a row: after a start or a sleep the network
// takes a moment.
func (w *Hub) check(ctx context.Context, failures *int) time.Duration {
	c := w.p.Client()
	if c == nil {
		w.seen.note("", time.Time{})
		return around(checkEvery)
	}
	asking, cancel := context.WithTimeout(ctx, checkIn)
	_, err := c.Check(asking)
	cancel()
	if ctx.Err() != nil || w.p.Client() != c {
		return 0 // what was heard is of the settings of before
	}
	f := contact.FailureOf(err)
	if f == "" {
		*failures = 0
	} else {
		*failures++
	}
	doubted := w.doubted.Swap(false)
	if f == "" || f.NeedsAdmin() || *failures > 1 {
		w.note(f)
	}
	if doubted && f == "" {
		w.p.Changed() // no news to the checks, but to whoever was told of the look-up
	}
	switch {
	case f == "":
		return around(checkEvery)
	case f.NeedsAdmin():
		return around(checkAgain)
	}
	return around(min(retryFirst<<min(*failures-1, 10), retryLast))
}

func (w *Hub) note(f contact.Failure) {
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

// around is a time near d, so that the computers of an office do not all come in
// the same moment.
func around(d time.Duration) time.Duration { return d*7/8 + rand.N(d/4) }

// warn writes once a day, for administrators, that the secret expires.
func (w *Hub) warn(now time.Time) {
	stage, days := health.Expiry(now, w.p.Expires())
	if stage < health.ExpirySoon || w.p.Warned(now.Format(time.DateOnly)) {
		return
	}
	msg := "the hub's secret expires soon"
	if stage == health.ExpiryPast {
		msg = "the hub's secret has expired"
	}
	w.p.Log.Warn(msg, "id", health.ExpiryMessage, "days", days)
}
