// Package listener serves softphones that report calls themselves: a WebSocket at
// /v1/events and plain HTTP at /v1/call, on loopback only.
//
// It is one-way. Answers are an acknowledgement or one of a dozen fixed error codes, never
// anything about a caller: a forged report can produce a card but cannot read data. Host,
// browser headers and token are checked before a connection becomes a WebSocket.
//
// Goroutines: Start runs one accept loop per loopback address; net/http runs one
// goroutine per connection, and every WebSocket adds one that pings. Close ends them
// all and waits for them.
package listener

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"
	"golang.org/x/time/rate"

	"wiebelt/internal/core/call"
)

// Limits that other programs may rely on.
const (
	MaxMessage     = 16 << 10 // per WebSocket message or posted form, in bytes
	MaxConnections = 16       // concurrent WebSockets
	EventsPerSec   = 50       // per WebSocket, or for HTTP per token
	EventsBurst    = 100
)

var (
	// ErrPortTaken is returned by Start if other programs hold every port that it may try.
	ErrPortTaken = errors.New("port is taken")
	// ErrStopping means that the listener has been closed.
	ErrStopping = errors.New("stopping")
)

// Config is the configuration of a Listener. It must not change after Start.
type Config struct {
	// Port to listen on, normally from the settings; 0 means any free one, for tests.
	Port int
	// Tries is how many ports from Port upwards may be tried, at least 1. More than one
	// is for users to whom no recipe has shown a port yet; if all of those are
	// taken, as on a server with many users, any free one is used (Listener.HasStablePort).
	Tries int
	// SocketToken authorises the WebSocket, and /v1/call as a bearer token. PathToken is
	// the last element of /v1/call/<token> and only authorises reporting calls there. An
	// empty token authorises nothing.
	SocketToken, PathToken string
	// AllowedOrigins are the web origins that may connect from a browser,
	// exactly as browsers write them ("https://phone.example").
	AllowedOrigins []string
	// HTTP enables /v1/call.
	HTTP bool
	// Receive passes an event to the engine; required. It is called from many goroutines
	// and may block, which slows down whoever reports too much. The event is acknowledged
	// only if it returns nil.
	Receive func(call.Event) error
	// SourceGone, if set, is called when a WebSocket has ended: the end of the calls it reported
	// will not be reported.
	SourceGone func(call.Source)
	Log        *slog.Logger     // nil: silent
	Now        func() time.Time // nil: time.Now
}

// timing holds every interval that tests shorten.
type timing struct {
	ping    time.Duration // between pings of an idle WebSocket
	pong    time.Duration // silence after which a peer counts as lost
	message time.Duration // for a complete message, from its start
	write   time.Duration
	header  time.Duration // for the headers of a request
	body    time.Duration // for a whole request
}

var defaultTiming = timing{
	ping:    25 * time.Second,
	pong:    55 * time.Second,
	message: 5 * time.Second,
	write:   5 * time.Second,
	header:  2 * time.Second,
	body:    5 * time.Second,
}

// Listener accepts reports of calls until it is closed. It is safe for concurrent use.
type Listener struct {
	cfg         Config
	time        timing
	guard       guard
	log         refusalLog
	server      *http.Server
	silentConns silentConns
	port        int
	upgrader    websocket.Upgrader

	socketToken, pathToken token

	rates    struct{ bearer, path *rate.Limiter }
	lastConn atomic.Uint64

	serving sync.WaitGroup // accept loops and WebSockets
	closing sync.Once

	mu        sync.Mutex  // guards the following fields
	unhook    func() bool // detaches Close from Start's context
	stopping  bool
	sockets   map[*socket]bool // including those in the handshake
	announced string
}

// Start listens on loopback (IPv4 and, if available, IPv6) and serves until ctx ends or
// Close is called. The error wraps ErrPortTaken if another program holds the port.
func Start(ctx context.Context, cfg Config) (*Listener, error) {
	return start(ctx, cfg, defaultTiming)
}

func start(ctx context.Context, cfg Config, t timing) (*Listener, error) {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	listens, port, err := listen(ctx, cfg.Port, max(cfg.Tries, 1))
	if err != nil {
		return nil, fmt.Errorf("listener: %w", err)
	}
	l := &Listener{
		cfg:         cfg,
		time:        t,
		guard:       newGuard(port, cfg.AllowedOrigins, cfg.Log),
		log:         refusalLog{log: cfg.Log, now: cfg.Now},
		port:        port,
		socketToken: newToken(cfg.SocketToken),
		pathToken:   newToken(cfg.PathToken),
		sockets:     map[*socket]bool{},
	}
	l.rates.bearer, l.rates.path = newRate(), newRate()
	l.upgrader = websocket.Upgrader{
		HandshakeTimeout: t.write,
		Subprotocols:     []string{Subprotocol},
		// The guard has already checked the origin, more strictly.
		CheckOrigin: func(*http.Request) bool { return true },
		Error: func(w http.ResponseWriter, r *http.Request, _ int, _ error) {
			l.refuse(w, r, badRequest)
		},
		// Never set EnableCompression: the read limit counts compressed bytes.
	}
	l.server = &http.Server{
		Handler:           l,
		ReadHeaderTimeout: t.header,
		ReadTimeout:       t.body,
		WriteTimeout:      t.body + t.write,
		MaxHeaderBytes:    8 << 10,
		// The guard must check "OPTIONS *" too.
		DisableGeneralOptionsHandler: true,
		ErrorLog:                     slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug), // it would print peers' input
		ConnState:                    l.silentConns.watch,
		BaseContext:                  func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
	}
	// A phone reports a handful of times per call; persistent connections would only help
	// an attacker hold connections.
	l.server.SetKeepAlivesEnabled(false)
	for _, ln := range listens {
		l.serving.Go(func() {
			if err := l.server.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
				l.cfg.Log.Error("listener stopped", "error", err)
			}
		})
	}
	l.mu.Lock() // the context may already have ended
	l.unhook = context.AfterFunc(ctx, l.Close)
	l.mu.Unlock()
	l.cfg.Log.Info("listening for calls", "port", port, "addresses", len(listens))
	return l, nil
}

// listen takes the first free port of tries from port upwards on both loopback addresses.
// A port that is free on only one of them counts as taken: "localhost" may mean either, and
// the owner of the other one would receive our callers.
func listen(ctx context.Context, port, tries int) ([]net.Listener, int, error) {
	lc := net.ListenConfig{Control: exclusive}
	if port == 0 {
		tries = 16 // the one assigned by the system may be taken on IPv6
	}
	var last error
	for try := range tries {
		p := port + try
		if port == 0 {
			p = 0
		}
		if p > 65535 {
			break
		}
		v4, err := lc.Listen(ctx, "tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(p)))
		if err != nil {
			last = err
			if !IsPortTaken(err) {
				return nil, 0, err
			}
			continue
		}
		got := v4.Addr().(*net.TCPAddr).Port
		v6, err := lc.Listen(ctx, "tcp6", net.JoinHostPort("::1", strconv.Itoa(got)))
		switch {
		case err == nil:
			return []net.Listener{v4, v6}, got, nil
		case IsPortTaken(err):
			v4.Close()
			last = err
		default: // no IPv6 on this machine
			return []net.Listener{v4}, got, nil
		}
	}
	if port != 0 && tries > 1 {
		return listen(ctx, 0, 1)
	}
	return nil, 0, fmt.Errorf("%w: %w", ErrPortTaken, last)
}

// Port returns the port Start got.
func (l *Listener) Port() int { return l.port }

// HasStablePort reports whether Start got one of the ports to try rather than an arbitrary one:
// the next Start may get the same.
func (l *Listener) HasStablePort() bool {
	return l.port >= l.cfg.Port && l.port < l.cfg.Port+max(l.cfg.Tries, 1)
}

// Close refuses new requests ("stopping"), sends every WebSocket a going-away
// close, removes the announcement, and returns when all goroutines have ended. It
// may be called repeatedly.
func (l *Listener) Close() {
	l.closing.Do(func() {
		l.mu.Lock()
		l.unhook()
		l.stopping = true
		var open []*websocket.Conn
		for s := range l.sockets {
			if s.conn != nil { // serve closes the others
				open = append(open, s.conn)
			}
		}
		l.mu.Unlock()
		l.withdraw()
		for _, c := range open {
			goAway(c)
		}
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		if l.server.Shutdown(ctx) != nil {
			l.server.Close()
		}
		l.cfg.Log.Info("listener closed")
	})
	l.serving.Wait()
}

// receive passes e on and returns the code for the phone, none if it was accepted.
func (l *Listener) receive(e call.Event) code {
	l.mu.Lock()
	over := l.stopping
	l.mu.Unlock()
	if over || l.cfg.Receive(e.Clean()) != nil {
		return stopping
	}
	return none
}

// newRate returns a limit of EventsPerSec with bursts of EventsBurst.
func newRate() *rate.Limiter { return rate.NewLimiter(EventsPerSec, EventsBurst) }

// token is kept as a hash: comparing hashes takes the same time for every guess,
// whatever its length.
type token struct {
	sum [sha256.Size]byte
	set bool
}

func newToken(s string) token { return token{sha256.Sum256([]byte(s)), s != ""} }

// maxSilent is how many open connections may not have sent a complete request yet.
const maxSilent = 64

// silentConns limits the number of silent connections: beyond the limit it closes the oldest. A
// phone sends its request at once, so it gets through however many others hold connections.
// It is safe for concurrent use.
type silentConns struct {
	mu     sync.Mutex // protects silent
	silent []net.Conn // oldest first
}

// watch implements http.Server's ConnState.
func (c *silentConns) watch(conn net.Conn, s http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s != http.StateNew {
		c.silent = slices.DeleteFunc(c.silent, func(o net.Conn) bool { return o == conn })
		return
	}
	if c.silent = append(c.silent, conn); len(c.silent) > maxSilent {
		c.silent[0].Close()
		c.silent = slices.Delete(c.silent, 0, 1)
	}
}
