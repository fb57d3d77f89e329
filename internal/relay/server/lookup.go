package server

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"golang.org/x/sync/errgroup"
	"golang.org/x/time/rate"

	"wiebelt/internal/core/call"
	"wiebelt/internal/core/contact"
	"wiebelt/internal/core/phone"
	"wiebelt/internal/relay/wire"
)

// Hub looks numbers up. Callers with the same number share one request, and answers are
// reused for a minute, in memory: *hub.Client does so.
type Hub interface {
	Lookup(ctx context.Context, number string) ([]contact.Contact, error)
}

const (
	lookupsAtOnce = 1024 // including those sharing an answer
	lookupsMinute = 120  // per user, as are questions for missed calls
	remembered    = 64   // numbers remembered per user
	lookupTime    = 5 * time.Second
	// How many numbers are looked up ahead per second, and at once: an exchange that floods
	// the relay with calls must not make it flood the hub.
	aheadPerSecond = 100
	aheadAtOnce    = 300
	// seenTime is how far the feed may lag behind a user who asks: another
	// relay published the call.
	seenTime = 500 * time.Millisecond
)

// lookups answers users' lookups. Contacts are kept in the hub's client, for a minute, and
// nowhere else. It is safe for concurrent use.
type lookups struct {
	hub           atomic.Pointer[Hub] // nil if the office has none
	rules         *phone.Rules
	manual        bool // allow numbers that never rang for the user
	knows         func(wire.User) bool
	log           *slog.Logger
	lookupLimit   *limiter
	missedLimit   *limiter      // for missed calls
	prefetchRate  *rate.Limiter // of lookups ahead
	work          errgroup.Group
	last          atomic.Pointer[contact.Failure] // of the newest lookup; nil before that
	onStateChange func()                          // called when state changes

	mu          sync.Mutex
	rang        map[wire.User][]string // keys of numbers, newest last
	rangChanged chan struct{}          // closed when rang grows
	asking      map[string]bool        // numbers being looked up ahead, reply subjects being answered
}

func newLookups(c Config, knows func(wire.User) bool, news func()) *lookups {
	l := &lookups{rules: c.Rules, manual: c.Settings.Lookup.Manual, knows: knows, onStateChange: news, log: c.Log,
		lookupLimit: newLimiter(lookupsMinute), missedLimit: newLimiter(lookupsMinute), prefetchRate: rate.NewLimiter(aheadPerSecond, aheadAtOnce), rang: map[wire.User][]string{}, rangChanged: make(chan struct{}), asking: map[string]bool{}}
	l.work.SetLimit(lookupsAtOnce)
	l.set(c.Hub)
	return l
}

// set replaces the hub; nil means none.
func (l *lookups) set(h Hub) {
	l.hub.Store(&h)
	l.last.Store(nil)
}

// prefetch asks the hub as soon as a call is reported: usually the answer is there when the
// phones ring. A call reported for each of many phones is looked up once.
func (l *lookups) prefetch(ctx context.Context, e call.Event) {
	if n := l.rules.Parse(e.Number, e.Name); *l.hub.Load() != nil && e.State == call.Ringing && n.CanLookUp() {
		l.startOnce(n.Query(), func() { // if not started, users look it up themselves, as in a flood
			if l.prefetchRate.Allow() {
				_, _ = l.lookUp(ctx, n.Query())
			}
		})
	}
}

func (l *lookups) lookUp(ctx context.Context, number string) ([]contact.Contact, error) {
	hub := *l.hub.Load()
	if hub == nil {
		return nil, &contact.LookupError{Failure: contact.NotSetUp}
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTime)
	defer cancel()
	found, err := hub.Lookup(ctx, number)
	failure := contact.FailureOf(err)
	if was := l.last.Swap(&failure); was == nil || *was != failure {
		l.onStateChange()
	}
	return found, err
}

// rememberNumber remembers that a number rang for users.
func (l *lookups) rememberNumber(number string, all ...wire.User) {
	key := l.rules.Parse(number, "").Key()
	if key == "" {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, u := range all {
		if !l.knows(u) {
			continue // user removed
		}
		known := l.rang[u]
		if i := slices.Index(known, key); i >= 0 {
			known = slices.Delete(known, i, i+1)
		}
		known = append(known, key)
		l.rang[u] = known[max(0, len(known)-remembered):]
	}
	close(l.rangChanged)
	l.rangChanged = make(chan struct{})
}

func (l *lookups) forget(gone []wire.User) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, u := range gone {
		delete(l.rang, u)
	}
}

// allowed reports whether a user may look up a number. It waits a moment for one that, as
// far as is known here, has yet to ring.
func (l *lookups) allowed(ctx context.Context, u wire.User, n phone.Number) bool {
	ctx, cancel := context.WithTimeout(ctx, seenTime)
	defer cancel()
	for {
		l.mu.Lock()
		may, more := l.manual || slices.Contains(l.rang[u], n.Key()), l.rangChanged
		l.mu.Unlock()
		if may {
			return true
		}
		select {
		case <-more:
		case <-ctx.Done():
			return false
		}
	}
}

// handle answers a user, identified by the subject.
func (l *lookups) handle(ctx context.Context, m *nats.Msg) {
	u, err := wire.Asker(m.Subject, m.Reply)
	var q wire.LookupRequest
	if err != nil || !l.knows(u) || len(m.Data) > wire.MaxRequest || json.Unmarshal(m.Data, &q) != nil {
		return
	}
	if started := l.startOnce(m.Reply, func() { _ = m.Respond(l.answer(ctx, u, q).Encode()) }); !started {
		_ = m.Respond(wire.LookupAnswer{Failure: contact.HubSlow}.Encode())
	}
}

// startOnce runs do unless it is already running for what. It is not started
// if too much is running.
func (l *lookups) startOnce(what string, do func()) (started bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.asking[what] {
		return true
	}
	started = l.work.TryGo(func() error {
		do()
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.asking, what)
		return nil
	})
	if started {
		l.asking[what] = true
	}
	return started
}

func (l *lookups) answer(ctx context.Context, u wire.User, q wire.LookupRequest) (a wire.LookupAnswer) {
	n := l.rules.Parse(q.Number, "")
	switch {
	case *l.hub.Load() == nil:
		return wire.LookupAnswer{Failure: contact.NotSetUp}
	case !l.lookupLimit.try(string(u), time.Now()): // not logged: these could be endless
		return wire.LookupAnswer{Failure: contact.HubSlow}
	case !n.CanLookUp() || !l.allowed(ctx, u, n):
		a.Failure = contact.NeverRang
	default:
		found, err := l.lookUp(ctx, n.Query())
		a = wire.LookupAnswer{Contacts: found, Failure: contact.FailureOf(err)}
	}
	outcome := "none"
	switch {
	case a.Failure != "":
		outcome = string(a.Failure)
	case len(a.Contacts) > 0:
		outcome = "found"
	}
	l.log.Info("lookup", "audit", true, "user", string(u), "outcome", outcome) // no number or name
	return a
}

// state returns the outcome of the newest lookup: "off", "untried", "ok" or the failure.
func (l *lookups) state() string {
	last := l.last.Load()
	switch {
	case *l.hub.Load() == nil:
		return "off"
	case last == nil:
		return "untried"
	case *last == "":
		return "ok"
	}
	return string(*last)
}
