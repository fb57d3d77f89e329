// Package link maintains a connection to a softphone's interface: it connects, listens,
// reconnects for ever, reports its true state, and remembers which calls the phone has
// reported, so that they do not linger when it is gone. The protocols are implemented by
// the packages beside it, one each.
//
// Goroutines: Run runs in the caller's. Each session has one more, which listens for
// wake-ups of this computer.
package link

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"sync"
	"syscall"
	"time"

	"wiebelt/internal/core/call"
)

// Phone is a softphone, or an extension of an exchange, with its protocol.
type Phone interface {
	// Traits is constant.
	Traits() Traits
	// Session connects, calls r.Up when events can arrive, and processes events until
	// the connection or the context ends. The error says why; see ErrNotRunning, ErrClosed,
	// ErrReplaced and Refusal. It is called repeatedly, never concurrently.
	Session(ctx context.Context, r *Reporter) error
}

// Traits describe a phone to Run.
type Traits struct {
	Source call.Source
	// Local means a phone on this computer: retrying costs nothing.
	Local bool
	// OneClient means a phone that serves one program at a time and silently drops it
	// for the next. A phone that reports that (ErrReplaced) does not need this flag.
	OneClient bool
	// MaxWait is the longest wait before a retry; 0 is a minute.
	MaxWait time.Duration
	// RetryAfter is the wait after a connection that lasted some seconds, if it differs
	// from the default: another computer can take over.
	RetryAfter time.Duration
	// ManyExtensions means a link that reports many extensions, and therefore more calls.
	ManyExtensions bool
}

// How a session ends. Any other error is a broken connection.
var (
	ErrNotRunning = errors.New("nobody listens there") // the phone is not running, or was restarted; its calls are over
	ErrClosed     = errors.New("the phone closed the connection")
	ErrReplaced   = errors.New("another program took our place")
)

// Refusal reports a phone that answers but does not admit us. The
// text is for the administrator, in English, and contains no secrets.
type Refusal struct {
	Why   string
	Cause Cause
}

func (r *Refusal) Error() string { return r.Why }

// Config is the configuration of a link. It must not change after Run.
type Config struct {
	// Name is the link's name in the settings, for the log.
	Name string
	// Receive passes an event to the tracker and should return at once. An error means that
	// the event was not accepted; it is not sent again, since the call has moved on.
	Receive func(call.Event) error
	// SourceGone, if set, is called when the connection has ended: the end of reported calls
	// may never be reported.
	SourceGone func(call.Source)
	// StateChanged, if set, is called with every change of the link's state, in order,
	// from Run's goroutine.
	StateChanged func(State)
	// Wake, if set, signals that the computer has slept, or that a secret has changed: a
	// waiting link retries at once, one to another computer reconnects, any other stays.
	Wake <-chan struct{}
	Log  *slog.Logger // nil: silent
}

// Phase is the connection state of a link.
type Phase uint8

// The phases of a link.
const (
	Connecting Phase = iota // not tried yet, or for the first time since the computer woke
	Connected
	Waiting // not connected; retries at State.Retry
	Kicked  // replaced by another program; retries at State.Retry
	Refused // refused by the phone; retries at State.Retry
)

// String returns the phase as a word, for logs and doctor.
func (p Phase) String() string {
	return [...]string{"connecting", "connected", "waiting", "kicked", "refused"}[p]
}

// State is the state of a link.
type State struct {
	Phase Phase
	Since time.Time // of this phase
	Retry time.Time // with Waiting, Kicked and Refused
	Err   error     // why not connected; holds the address, nothing of a call
	Cause Cause     // of Err, NoCause if unknown
	// BackendFaultSince is, for Connected with a Cause, the time since
	// which something behind the phone has not worked.
	BackendFaultSince time.Time
}

// Reconnect intervals. A softphone may be off all day, so failing is cheap, silent
// and goes on for ever.
const (
	atOnce      = time.Millisecond
	soon        = 250 * time.Millisecond // in which a listening phone accepts a connection
	firstWait   = 500 * time.Millisecond
	maxWait     = 60 * time.Second
	localWait   = 1500 * time.Millisecond // below 2 s even with jitter
	quickEnd    = 30 * time.Second        // a shorter connection ended quickly
	shortEnd    = 2 * time.Second         // the same if another computer can take over
	kickedWait  = time.Minute
	kickedMax   = 10 * time.Minute
	refusedWait = 10 * time.Second // somebody may be clicking "allow" just now
	refusedMax  = 5 * time.Minute
)

// Run maintains the link until ctx ends.
func Run(ctx context.Context, cfg Config, p Phone) {
	newLink(cfg, p).run(ctx)
}

type link struct {
	cfg    Config
	phone  Phone
	traits Traits
	state  State
	rep    Reporter
	logged map[Cause]bool                    // logged in this phase
	jitter func(time.Duration) time.Duration // replaced in tests
}

func newLink(cfg Config, p Phone) *link {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	l := &link{cfg: cfg, phone: p, traits: p.Traits(), jitter: jitter}
	l.rep = Reporter{l: l, calls: map[string]*knownCall{}}
	return l
}

// jitter spreads d by a fifth either way, so that many links do not reconnect
// in the same instant.
func jitter(d time.Duration) time.Duration {
	return d - d/5 + rand.N(2*d/5+1)
}

func (l *link) wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	case <-l.cfg.Wake:
	}
}

func (l *link) run(ctx context.Context) {
	l.setState(State{Phase: Connecting})
	b := backoff{l: l}
	for ctx.Err() == nil {
		began := time.Now()
		l.rep.begin()
		err := l.session(ctx)
		if l.rep.up && l.cfg.SourceGone != nil {
			l.cfg.SourceGone(l.traits.Source)
		}
		if ctx.Err() != nil {
			return
		}
		if errors.Is(err, ErrNotRunning) {
			l.rep.EndAll() // the phone is gone, and its calls with it
		}
		phase, d := b.next(err, l.rep.up, l.rep.since.Sub(began), time.Since(began))
		if d == 0 {
			l.setState(State{Phase: phase}) // in any case it is not connected now
			continue
		}
		l.setState(State{Phase: phase, Retry: time.Now().Add(d), Err: err, Cause: CauseOf(err)})
		l.wait(ctx, d)
	}
}

var errWoken = errors.New("the computer has slept")

// session runs one connection. After a sleep, a connection to another computer is dropped:
// it might appear alive for an unknown time. One on this computer stays; it consumes the
// wake-up, which must not cut a later wait short.
func (l *link) session(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ended := make(chan struct{})
	var task sync.WaitGroup
	task.Go(func() {
		for {
			select {
			case <-l.cfg.Wake:
				if !l.traits.Local {
					cancel(errWoken)
				}
			case <-ended:
				return
			}
		}
	})
	err := l.phone.Session(ctx, &l.rep)
	close(ended)
	task.Wait() // otherwise it could consume a wake-up meant for the following wait
	if errors.Is(context.Cause(ctx), errWoken) {
		return errWoken
	}
	return err
}

// setState publishes a state. Repeated failures are logged as one state, and each cause once.
func (l *link) setState(s State) {
	s.Since = time.Now()
	log := l.cfg.Log.With("kind", l.traits.Source.Kind, "name", l.cfg.Name)
	switch {
	case s.Phase != l.state.Phase || l.state.Since.IsZero():
		l.logged = map[Cause]bool{NoCause: true, s.Cause: true}
		if s.Phase != Connecting {
			log.Info("softphone link", "state", s.Phase.String(), "why", string(s.Cause))
		}
	default:
		s.Since = l.state.Since
		if !l.logged[s.Cause] {
			l.logged[s.Cause] = true
			log.Info("softphone link: still the same state", "state", s.Phase.String(), "why", string(s.Cause))
		}
	}
	l.state = s
	if l.cfg.StateChanged != nil {
		l.cfg.StateChanged(s)
	}
}

// backoff decides how long to wait.
//
// A one-client phone that restarts and one that has given our place to another program
// both close the connection silently. The immediate redial tells them apart: a phone that
// has exited refuses it (and Windows then keeps retrying for a while), one that dropped us
// keeps listening and accepts at once. A session that knows more returns ErrNotRunning.
type backoff struct {
	l       *link
	fails   int  // consecutive sessions without success
	closed  bool // the phone closed the last session, and we redialled at once
	kicks   int  // times that it then accepted at once
	kicked  int  // times that we backed off
	refused int  // consecutive refusals
}

// maxKicks is how often another program may take our place before we back off.
const maxKicks = 2

// next is called when a session has ended. up tells whether it connected, and dialled how
// long that took; lived is the session's total duration. A zero wait means to retry at once.
func (b *backoff) next(err error, up bool, dialled, lived time.Duration) (Phase, time.Duration) {
	var refusal *Refusal
	if b.closed && up && dialled < soon {
		b.kicks++
	}
	b.closed = false
	if up && lived > b.l.traits.quickEnd() {
		*b = backoff{l: b.l}
	}
	switch {
	case errors.Is(err, errWoken):
		*b = backoff{l: b.l}
		return Connecting, 0
	case errors.As(err, &refusal):
		d := min(refusedWait<<min(b.refused, 10), refusedMax)
		b.refused++
		return Refused, b.l.jitter(d)
	case errors.Is(err, ErrReplaced), errors.Is(err, ErrClosed) && up && b.kicks >= maxKicks:
		d := min(kickedWait<<min(b.kicked, 10), kickedMax)
		b.kicked++
		b.kicks = maxKicks - 1
		return Kicked, b.l.jitter(d)
	case errors.Is(err, ErrClosed) && up && b.l.traits.OneClient:
		b.closed, b.fails = true, 0
		return Waiting, atOnce
	case errors.Is(err, ErrClosed) && up:
		b.fails = 1
		return Waiting, b.l.jitter(firstWait)
	case errors.Is(err, ErrNotRunning) && up: // it has exited, and may be restarting
		b.kicks, b.kicked, b.fails = 0, 0, 0
	case !up: // not running, so no other client ended the previous connection
		b.kicks, b.kicked = 0, 0
	default: // it broke, or something other than the phone answers there
		b.kicks = 0
	}
	b.refused = 0
	d := firstWait
	if up {
		d = cmp.Or(b.l.traits.RetryAfter, firstWait)
	}
	d <<= min(b.fails, 10)
	b.fails++
	return Waiting, b.l.jitter(min(d, b.l.longestWait()))
}

// quickEnd returns the duration below which a connection counts as having ended quickly.
func (t Traits) quickEnd() time.Duration {
	if t.RetryAfter > 0 {
		return shortEnd
	}
	return quickEnd
}

// longestWait returns the maximum wait: retrying a phone on this computer costs nothing.
func (l *link) longestWait() time.Duration {
	if l.traits.Local {
		return localWait
	}
	return cmp.Or(l.traits.MaxWait, maxWait)
}

// NotRunningError wraps an error as ErrNotRunning and keeps its text.
func NotRunningError(err error) error { return fmt.Errorf("%w: %w", ErrNotRunning, err) }

// IsLocal reports whether a host name means this computer.
func IsLocal(host string) bool { return host == "localhost" || net.ParseIP(host).IsLoopback() }

// NobodyListens reports whether a dial failed because nothing listens there. Windows has
// its own error number for it, which package syscall does not name.
func NobodyListens(err error) bool {
	const windows = syscall.Errno(10061)
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, windows)
}

// RunOnce runs the link for a single session, without retries: the phone has connected to
// us, and may do so again. It returns the session's error and does not call
// Config.SourceGone.
func RunOnce(ctx context.Context, cfg Config, p Phone) error {
	l := newLink(cfg, p)
	err := l.session(ctx)
	if ctx.Err() == nil {
		b := backoff{l: l}
		phase, _ := b.next(err, l.rep.up, 0, 0)
		l.setState(State{Phase: phase, Err: err, Cause: CauseOf(err)})
	}
	return err
}
