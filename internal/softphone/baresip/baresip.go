// Package baresip is the link to the softphone baresip: a client of its module
// ctrl_tcp, which sends an event for everything that happens to a call
// (softphones.md 4). We only listen and never send a command.
//
// baresip serves one client at a time and drops the old one for a new one
// without a word, so two programs that both reconnect would fight for ever; the
// link notices that and stands back for a while, in state Kicked.
//
// Goroutines: Run runs in the caller's and has one helper, which closes the
// connection when the context ends.
package baresip

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"syscall"
	"time"

	"wiebelt/internal/call"
)

// Config is what a link needs. It is not changed after Run.
type Config struct {
	// Address is host:port of ctrl_tcp, "127.0.0.1:4444" as baresip comes.
	Address string
	// Name is what the settings call this link, for the log.
	Name string
	// Take hands an event to the tracker and should return at once. An error
	// means that the event was not taken; it is counted and not sent again,
	// since the call goes on meanwhile.
	Take func(call.Event) error
	// Gone, if set, is told when the connection has ended: what it reported may
	// not be reported as over any more.
	Gone func(call.Way)
	// State, if set, is told every change of the link's state, in order, from
	// Run's goroutine.
	State func(State)
	Log   *slog.Logger     // nil: silent
	Now   func() time.Time // nil: time.Now
	// Dial connects; nil is an ordinary TCP dialler.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Phase is how a link is doing.
type Phase uint8

// The phases of a link.
const (
	Connecting Phase = iota // not tried yet, or trying now for the first time
	Connected
	Waiting // not connected; tries again at State.Retry
	Kicked  // another program took our place; tries again at State.Retry
)

// String gives the phase in a word, for logs and doctor.
func (p Phase) String() string {
	return [...]string{"connecting", "connected", "waiting", "kicked"}[p]
}

// State is what a link honestly knows of itself.
type State struct {
	Phase Phase
	Since time.Time // of this phase
	Retry time.Time // with Waiting and Kicked
	Err   error     // why not connected; holds the address, nothing of a call
}

// Intervals of reconnecting. A softphone may be off all day, so failing is
// cheap, silent and goes on for ever.
const (
	firstWait  = 500 * time.Millisecond
	maxWait    = 60 * time.Second
	localWait  = 1500 * time.Millisecond // with jitter still below 2 s
	dialTime   = 5 * time.Second
	frameTime  = 10 * time.Second // for the rest of a frame that has begun
	quickEnd   = 30 * time.Second // a connection that lived shorter ended quickly
	kickedWait = time.Minute
	kickedMax  = 10 * time.Minute
)

// errClosed is the reason of a connection that baresip ended in good order:
// it went away or preferred another client.
var errClosed = errors.New("baresip closed the connection")

type link struct {
	cfg   Config
	way   call.Way
	local bool
	calls map[string]*known // by the phone's id
	state State
	odd   int // frames of this connection that could not be read

	sleep  func(context.Context, time.Duration) // tests replace it
	jitter func(time.Duration) time.Duration
}

// Run keeps the link until ctx ends, then returns nil. An error is returned for
// a Config that cannot work, at once.
func Run(ctx context.Context, cfg Config) error {
	l, err := newLink(cfg)
	if err != nil {
		return err
	}
	l.run(ctx)
	return nil
}

func newLink(cfg Config) (*link, error) {
	host, port, err := net.SplitHostPort(cfg.Address)
	if err != nil || port == "" {
		return nil, errors.New("baresip: address is not host:port")
	}
	if cfg.Take == nil {
		return nil, errors.New("baresip: no receiver for events")
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Dial == nil {
		cfg.Dial = (&net.Dialer{Timeout: dialTime}).DialContext
	}
	ip := net.ParseIP(host)
	return &link{
		cfg:    cfg,
		way:    call.Way{Kind: call.KindBaresip, Conn: cfg.Address, Tells: call.TellsAll},
		local:  host == "localhost" || ip != nil && ip.IsLoopback(),
		calls:  map[string]*known{},
		sleep:  sleep,
		jitter: jitter,
	}, nil
}

// jitter spreads d by a fifth either way, so that many links do not come back
// in the same instant.
func jitter(d time.Duration) time.Duration {
	return d - d/5 + rand.N(2*d/5+1)
}

func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// run connects, listens, and connects again.
func (l *link) run(ctx context.Context) {
	l.enter(State{Phase: Connecting})
	wait := backoff{l: l}
	for ctx.Err() == nil {
		conn, err := l.dial(ctx)
		if err != nil {
			if ctx.Err() != nil {
				return
			}
			if errors.Is(err, syscall.ECONNREFUSED) {
				l.over() // nobody listens there: baresip is gone, and its calls with it
			}
			l.rest(ctx, Waiting, wait.failed(), err)
			continue
		}
		began := l.cfg.Now()
		l.enter(State{Phase: Connected})
		err = l.listen(ctx, conn)
		if l.cfg.Gone != nil {
			l.cfg.Gone(l.way)
		}
		if ctx.Err() != nil {
			return
		}
		phase, d := wait.ended(err, l.cfg.Now().Sub(began))
		l.rest(ctx, phase, d, err)
	}
}

// backoff decides how long to wait.
type backoff struct {
	l      *link
	fails  int // dials without success, one after another
	quick  int // 1 once baresip has ended a connection, and no dial failed since
	kicked int // times that we stood back
}

// failed is called after a dial without success: baresip is not running, so it
// was no other client that ended the connection before.
func (b *backoff) failed() time.Duration {
	b.quick, b.kicked = 0, 0
	d := firstWait << min(b.fails, 10)
	b.fails++
	return b.l.jitter(min(d, b.l.longest()))
}

// ended is called when a connection that lived for so long has ended.
func (b *backoff) ended(err error, lived time.Duration) (Phase, time.Duration) {
	closed := errors.Is(err, errClosed)
	if lived > quickEnd {
		*b = backoff{l: b.l}
	}
	switch {
	case !closed: // it broke, or something else than baresip answers there
		b.quick = 0
		d := firstWait << min(b.fails, 10)
		b.fails++
		return Waiting, b.l.jitter(min(d, b.l.longest()))
	case b.quick == 0:
		b.quick, b.fails = 1, 1
		return Waiting, b.l.jitter(firstWait)
	}
	d := min(kickedWait<<min(b.kicked, 10), kickedMax)
	b.kicked++
	return Kicked, b.l.jitter(d)
}

// longest is the cap of the wait: a phone on this computer costs nothing to ask.
func (l *link) longest() time.Duration {
	if l.local {
		return localWait
	}
	return maxWait
}

func (l *link) rest(ctx context.Context, p Phase, d time.Duration, err error) {
	l.enter(State{Phase: p, Retry: l.cfg.Now().Add(d), Err: err})
	l.sleep(ctx, d)
}

// enter publishes a state. Repeated failures are one state to the log.
func (l *link) enter(s State) {
	s.Since = l.cfg.Now()
	if s.Phase == l.state.Phase && !l.state.Since.IsZero() {
		s.Since = l.state.Since
	} else if s.Phase != Connecting {
		l.cfg.Log.Info("baresip link", "name", l.cfg.Name, "state", s.Phase.String())
	}
	l.state = s
	if l.cfg.State != nil {
		l.cfg.State(s)
	}
}

func (l *link) dial(ctx context.Context) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	conn, err := l.cfg.Dial(ctx, "tcp", l.cfg.Address)
	if err != nil {
		return nil, fmt.Errorf("connect to baresip: %w", err)
	}
	return conn, nil
}

// listen takes events until the connection ends; the error is why. An idle
// connection is normal for hours, so only a frame that has begun has a
// deadline; TCP's keep-alive finds a peer that is gone.
func (l *link) listen(ctx context.Context, conn net.Conn) error {
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	defer conn.Close()
	l.odd = 0
	r := newFrameReader(bufio.NewReaderSize(conn, 4<<10))
	r.began = func() { conn.SetReadDeadline(time.Now().Add(frameTime)) }
	r.ended = func() { conn.SetReadDeadline(time.Time{}) }
	for {
		b, err := r.next()
		switch {
		case err == io.EOF:
			return errClosed
		case err != nil:
			return fmt.Errorf("read from baresip: %w", err)
		}
		l.frame(b)
	}
}
