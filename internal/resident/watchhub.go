package resident

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"wiebelt/internal/contact"
	"wiebelt/internal/health"
	"wiebelt/internal/profile"
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

// hubSeen is what the last check of the hub came to. Safe for concurrent use;
// the zero value knows nothing.
type hubSeen struct {
	mu      sync.Mutex
	at      time.Time
	failure contact.Failure
}

// note keeps what a check came to and reports whether that is news.
func (h *hubSeen) note(f contact.Failure, at time.Time) (news bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	news = h.failure != f
	h.failure, h.at = f, at
	return news
}

// fails reports whether the last check that counts failed.
func (h *hubSeen) fails() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.failure != ""
}

// unproved are failures of lookups that a token says nothing about.
var unproved = []contact.Failure{contact.HubError, contact.NotUnderstood, contact.ScopeRefused}

// into adds to the facts what a check knows better than the last lookup.
func (h *hubSeen) into(f *health.Facts) {
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

// tokenChecker is the hub's client as far as it matters here.
type tokenChecker interface {
	Check(ctx context.Context) (life time.Duration, err error)
}

// hubWatch asks the hub for a token every few hours, at the start, after a sleep,
// after a look-up that failed and when settings have changed. Its run is its only goroutine.
type hubWatch struct {
	client  func() tokenChecker // that holds now, nil for none
	seen    *hubSeen
	changed func() // what was seen is news
	mended  func() // the hub gives tokens again
	expires func() time.Time
	warned  func(day string) bool // whether that day's warning was given; from now on it was
	log     *slog.Logger
	poke    chan time.Duration

	asked   time.Time   // of the failed look-up that failed was told of last; tell's own
	doubted atomic.Bool // a check is coming because of it
}

// newHubWatch watches the hub of r.
func newHubWatch(r *Resident, seen *hubSeen) *hubWatch {
	return &hubWatch{seen: seen,
		client: func() tokenChecker {
			if c := r.current().client; c != nil {
				return c
			}
			return nil
		},
		changed: func() {
			select {
			case r.retell <- struct{}{}:
			default: // it is about to look anyway
			}
		},
		mended:  func() { r.deliveries.mended() },
		expires: func() time.Time { return r.set().Hub.SecretExpires },
		warned:  func(day string) bool { return onceADay(filepath.Join(r.o.Dirs.State, "expiry-warned"), day) },
		log:     r.o.Log, poke: make(chan time.Duration, 1)}
}

// onceADay reports whether a file names that day, and has it do so.
func onceADay(path, day string) bool {
	if b, err := os.ReadFile(path); err == nil && strings.TrimSpace(string(b)) == day {
		return true
	}
	// One that cannot be written warns at every look, which is better than never.
	_ = profile.WriteFile(path, []byte(day+"\n"), 0o600)
	return false
}

// look asks for a check in a while. It never blocks.
func (w *hubWatch) look(in time.Duration) {
	select {
	case w.poke <- in:
	default: // one is coming
	}
}

// settingsChanged is called when another client holds, woke after a sleep.
func (w *hubWatch) settingsChanged() { w.look(0) }
func (w *hubWatch) woke()            { w.look(afterWaking) }

// failed tells how the last look-up went. Until the next call nobody would hear
// that the hub is back, and the icon would go on saying that it is gone; so the
// hub is asked soon after, unless that is being done already. It never blocks; only
// one goroutine may call it.
func (w *hubWatch) failed(at time.Time, f contact.Failure) {
	if f == "" || slices.Contains(unproved, f) || at.Equal(w.asked) || w.seen.fails() {
		return
	}
	w.asked = at
	w.doubted.Store(true)
	w.look(around(retryFirst))
}

// run checks until ctx ends.
func (w *hubWatch) run(ctx context.Context) {
	failures := 0 // in a row
	for {
		wait := w.check(ctx, &failures)
		w.warn(time.Now())
		t := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-t.C:
		case in := <-w.poke:
			failures = 0
			select {
			case <-ctx.Done():
			case <-time.After(in):
			}
		}
		t.Stop()
		if ctx.Err() != nil {
			return
		}
	}
}

// check asks once and returns when to ask again. A failure that passes by itself
// is believed when it comes twice in a row: after a start or a sleep the network
// takes a moment.
func (w *hubWatch) check(ctx context.Context, failures *int) time.Duration {
	c := w.client()
	if c == nil {
		w.seen.note("", time.Time{})
		return around(checkEvery)
	}
	asking, cancel := context.WithTimeout(ctx, checkIn)
	_, err := c.Check(asking)
	cancel()
	if ctx.Err() != nil || w.client() != c {
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
		w.changed() // no news to the checks, but to whoever was told of the look-up
	}
	switch {
	case f == "":
		return around(checkEvery)
	case f.NeedsAdmin():
		return around(checkAgain)
	}
	return around(min(retryFirst<<min(*failures-1, 10), retryLast))
}

func (w *hubWatch) note(f contact.Failure) {
	if !w.seen.note(f, time.Now()) {
		return
	}
	if f == "" {
		w.log.Info("the hub gives tokens again")
		if w.mended != nil {
			w.mended()
		}
	} else {
		w.log.Warn("the hub gives no token", "failure", string(f))
	}
	w.changed()
}

// around is a time near d, so that the computers of an office do not all come in
// the same moment.
func around(d time.Duration) time.Duration { return d*7/8 + rand.N(d/4) }

// warn writes once a day, for administrators, that the secret expires.
func (w *hubWatch) warn(now time.Time) {
	stage, days := health.Expiry(now, w.expires())
	if stage < health.ExpirySoon || w.warned(now.Format(time.DateOnly)) {
		return
	}
	msg := "the hub's secret expires soon"
	if stage == health.ExpiryPast {
		msg = "the hub's secret has expired"
	}
	w.log.Warn(msg, "id", health.ExpiryMessage, "days", days)
}
