// Package link keeps a connection to a softphone's own interface: it connects,
// listens, and connects again for ever, says honestly how it is doing, and
// remembers which calls the phone has told of, so that they are not left behind
// when it goes. What is said on the connection is the business of the packages
// beside it, one for each protocol.
//
// Goroutines: Run runs in the caller's. A session has one beside it that hears
// when this computer has slept.
package link

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"syscall"
	"time"

	"wiebelt/internal/core/call"
)

// Phone is one softphone, or one extension of an exchange, and its protocol.
type Phone interface {
	// Traits is constant.
	Traits() Traits
	// Session connects, calls r.Up when events can come, and takes events until
	// the connection or the context ends. The error says why; see ErrNotThere,
	// ErrClosed, ErrReplaced and Refusal. It is called again and again, never
	// twice at one time.
	Session(ctx context.Context, r *Reporter) error
}

// Traits are what Run must know of a phone.
type Traits struct {
	Source call.Source
	// Local is a phone on this computer: asking again costs nothing.
	Local bool
	// OneClient is a phone that serves one program at a time and drops it for the
	// next without a word. A phone that says so (ErrReplaced) needs no mark.
	OneClient bool
	// MaxWait is how long to wait at most before it is tried again; 0 is a minute.
	MaxWait time.Duration
	// RetryAfter is how soon it is tried after a connection that stood for some seconds, if
	// not as usual: another computer serves as well.
	RetryAfter time.Duration
	// ManyExtensions is a link that tells of many extensions, and of more calls therefore.
	ManyExtensions bool
}

// How a session ends. Anything else is a connection that broke.
var (
	ErrNotThere = errors.New("nobody listens there") // the phone is not running, or was started anew; its calls are over
	ErrClosed   = errors.New("the phone closed the connection")
	ErrReplaced = errors.New("another program took our place")
)

// Refusal is a phone that answers and does not let us in. The text is for the
// administrator, in English, without anything secret.
type Refusal struct {
	Why   string
	Cause Cause
}

func (r *Refusal) Error() string { return r.Why }

// Config is what a link needs. It is not changed after Run.
type Config struct {
	// Name is what the settings call this link, for the log.
	Name string
	// Take hands an event to the tracker and should return at once. An error
	// means that the event was not taken; it is not sent again, since the call
	// goes on meanwhile.
	Take func(call.Event) error
	// Gone, if set, is told when the connection has ended: what it reported may
	// not be reported as over any more.
	Gone func(call.Source)
	// State, if set, is told every change of the link's state, in order, from
	// Run's goroutine.
	State func(State)
	// Wake, if set, tells that the computer has slept, or that a secret is another
	// one: a link that waits tries at once, one to another computer connects anew,
	// any other stays.
	Wake <-chan struct{}
	Log  *slog.Logger // nil: silent
}

// Phase is how a link is doing.
type Phase uint8

// The phases of a link.
const (
	Connecting Phase = iota // not tried yet, or for the first time since the computer woke
	Connected
	Waiting // not connected; tries again at State.Retry
	Kicked  // another program took our place; tries again at State.Retry
	Refused // the phone does not let us in; tries again at State.Retry
)

// String gives the phase in a word, for logs and doctor.
func (p Phase) String() string {
	return [...]string{"connecting", "connected", "waiting", "kicked", "refused"}[p]
}

// State is what a link honestly knows of itself.
type State struct {
	Phase Phase
	Since time.Time // of this phase
	Retry time.Time // with Waiting, Kicked and Refused
	Err   error     // why not connected; holds the address, nothing of a call
	Cause Cause     // of Err, NoCause where nothing is known
	// Behind is, with Connected and a Cause, since when something behind the phone does
	// not work.
	Behind time.Time
}

// Intervals of reconnecting. A softphone may be off all day, so failing is
// cheap, silent and goes on for ever.
const (
	atOnce      = time.Millisecond
	soon        = 250 * time.Millisecond // within which a phone that goes on listening lets us in
	firstWait   = 500 * time.Millisecond
	maxWait     = 60 * time.Second
	localWait   = 1500 * time.Millisecond // with jitter still below 2 s
	quickEnd    = 30 * time.Second        // a connection that lived shorter ended quickly
	shortEnd    = 2 * time.Second         // the same where another computer serves as well
	kickedWait  = time.Minute
	kickedMax   = 10 * time.Minute
	refusedWait = 10 * time.Second // somebody may be clicking "allow" just now
	refusedMax  = 5 * time.Minute
)

// Run keeps the link until ctx ends.
func Run(ctx context.Context, cfg Config, p Phone) {
	newLink(cfg, p).run(ctx)
}

type link struct {
	cfg    Config
	phone  Phone
	traits Traits
	state  State
	rep    Reporter
	said   map[Cause]bool                    // to the log, of this phase
	jitter func(time.Duration) time.Duration // tests replace it
}

func newLink(cfg Config, p Phone) *link {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	l := &link{cfg: cfg, phone: p, traits: p.Traits(), jitter: jitter}
	l.rep = Reporter{l: l, calls: map[string]*known{}}
	return l
}

// jitter spreads d by a fifth either way, so that many links do not come back
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

// run connects, listens, and connects again.
func (l *link) run(ctx context.Context) {
	l.enter(State{Phase: Connecting})
	b := backoff{l: l}
	for ctx.Err() == nil {
		began := time.Now()
		l.rep.begin()
		err := l.session(ctx)
		if l.rep.up && l.cfg.Gone != nil {
			l.cfg.Gone(l.traits.Source)
		}
		if ctx.Err() != nil {
			return
		}
		if errors.Is(err, ErrNotThere) {
			l.rep.EndAll() // the phone is gone, and its calls with it
		}
		phase, d := b.next(err, l.rep.up, l.rep.since.Sub(began), time.Since(began))
		if d == 0 {
			l.enter(State{Phase: phase}) // whatever it was, it does not stand now
			continue
		}
		l.enter(State{Phase: phase, Retry: time.Now().Add(d), Err: err, Cause: CauseOf(err)})
		l.wait(ctx, d)
	}
}

var errWoken = errors.New("the computer has slept")

// session is one connection. After a sleep, one to another computer is given
// up: nobody knows how long it would seem to be alive. One on this computer
// stays, and has no use for a wake, which must not cut a later wait short.
func (l *link) session(ctx context.Context) error {
	if l.cfg.Wake == nil {
		return l.phone.Session(ctx, &l.rep)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ended, done := make(chan struct{}), make(chan struct{})
	go func() { // ends with the session
		defer close(done)
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
	}()
	err := l.phone.Session(ctx, &l.rep)
	close(ended)
	<-done // or it could take a wake that belongs to the wait that follows
	if errors.Is(context.Cause(ctx), errWoken) {
		return errWoken
	}
	return err
}

// enter publishes a state. Repeated failures are one state to the log, and each
// cause is told once.
func (l *link) enter(s State) {
	s.Since = time.Now()
	log := l.cfg.Log.With("kind", l.traits.Source.Kind, "name", l.cfg.Name)
	switch {
	case s.Phase != l.state.Phase || l.state.Since.IsZero():
		l.said = map[Cause]bool{NoCause: true, s.Cause: true}
		if s.Phase != Connecting {
			log.Info("softphone link", "state", s.Phase.String(), "why", string(s.Cause))
		}
	default:
		s.Since = l.state.Since
		if !l.said[s.Cause] {
			l.said[s.Cause] = true
			log.Info("softphone link: still the same state", "state", s.Phase.String(), "why", string(s.Cause))
		}
	}
	l.state = s
	if l.cfg.State != nil {
		l.cfg.State(s)
	}
}

// backoff decides how long to wait.
//
// A phone with one client that is started anew and one that has handed our place
// to another program both close the connection without a word. What tells them
// apart is the dial that follows at once: a phone that has ended refuses it (and
// Windows then goes on trying for a while), one that drops us goes on listening
// and lets us in again at once. A session that can tell more gives ErrNotThere.
type backoff struct {
	l       *link
	fails   int  // sessions without success, one after another
	closed  bool // the phone closed the last session, and we dialled again at once
	kicks   int  // times that it then let us in at once
	kicked  int  // times that we stood back
	refused int  // times that we were not let in, one after another
}

// maxKicks is how often somebody may take our place before we stand back.
const maxKicks = 2

// next is called when a session has ended, which was up after so long, or never,
// and lived for so long. No wait at all means to try again at once.
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
	case errors.Is(err, ErrNotThere) && up: // it has ended, and may be starting anew
		b.kicks, b.kicked, b.fails = 0, 0, 0
	case !up: // it is not running, so it was no other client that ended the connection before
		b.kicks, b.kicked = 0, 0
	default: // it broke, or something else than the phone answers there
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

// quickEnd is the life below which a connection ended quickly.
func (t Traits) quickEnd() time.Duration {
	if t.RetryAfter > 0 {
		return shortEnd
	}
	return quickEnd
}

// longestWait is the cap of the wait: a phone on this computer costs nothing to ask.
func (l *link) longestWait() time.Duration {
	if l.traits.Local {
		return localWait
	}
	return cmp.Or(l.traits.MaxWait, maxWait)
}

// NotThere marks an error as ErrNotThere, which stays in its text.
func NotThere(err error) error { return fmt.Errorf("%w: %w", ErrNotThere, err) }

// IsLocal tells whether a host's name means this computer.
func IsLocal(host string) bool { return host == "localhost" || net.ParseIP(host).IsLoopback() }

// Nobody reports whether a dial failed because nothing listens there. Windows has
// a number of its own for it, which package syscall does not name.
func Nobody(err error) bool {
	const windows = syscall.Errno(10061)
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, windows)
}

// Once keeps the link for one session, where there is no other: the phone has come by
// itself, and may come again.
func Once(ctx context.Context, cfg Config, p Phone) error {
	l := newLink(cfg, p)
	err := l.session(ctx)
	if ctx.Err() == nil {
		b := backoff{l: l}
		phase, _ := b.next(err, l.rep.up, 0, 0)
		l.enter(State{Phase: phase, Err: err, Cause: CauseOf(err)})
	}
	return err
}
