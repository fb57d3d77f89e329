// Package listener serves softphones that report calls themselves:
// a WebSocket at /v1/events and plain HTTP at /v1/call, on loopback only.
//
// It is one-way. What goes back is an acknowledgement or one of a dozen fixed
// error codes, never anything about a caller, so that a forged report can cost
// a card but cannot read data. Host, browser headers and token are judged
// before a connection becomes a WebSocket.
//
// Goroutines: Start runs one accept loop per loopback address; net/http runs
// one goroutine per connection, and every WebSocket adds one that pings. Close
// ends them all and waits for them.
package listener

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"maps"
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
	MaxMessage     = 16 << 10 // bytes of a WebSocket message or a posted form
	MaxConnections = 16       // WebSockets at one time
	EventsPerSec   = 50       // of one WebSocket, or of HTTP with one token
	EventsBurst    = 100
)

var (
	// ErrPortTaken is returned by Start when another program holds every port
	// that it was allowed to try.
	ErrPortTaken = errors.New("port is taken")
	// ErrStopping says that the listener has been closed.
	ErrStopping = errors.New("stopping")
)

// Config is what a Listener needs. It is not changed after Start.
type Config struct {
	// Port to listen on, normally that of the settings; 0 is any free one, for tests.
	Port int
	// Tries is how many ports from Port upwards may be tried, at least 1. More
	// than one is for users whose recipes hold no port as text yet; when all of
	// those are taken, as on a server with many users, it is any free one
	// (Listener.Lasting).
	Tries int
	// SocketToken opens the WebSocket, and /v1/call as a bearer token.
	// PathToken is the last element of /v1/call/<token> and can do nothing but
	// report calls there. An empty token opens nothing.
	SocketToken, PathToken string
	// AllowedOrigins are the web origins that may connect from a browser,
	// exactly as browsers write them ("https://phone.example").
	AllowedOrigins []string
	// HTTP switches /v1/call on.
	HTTP bool
	// Take hands an event to the engine. It is called from many goroutines, and
	// may wait, which slows whoever reports too much; nil means taken over, and
	// only then is the event acknowledged.
	Take func(call.Event) error
	// Gone, if set, is told when a WebSocket has ended: what it reported will
	// not be reported as over any more.
	Gone func(call.Source)
	Log  *slog.Logger     // nil: silent
	Now  func() time.Time // nil: time.Now
}

// timing is every interval that tests shorten.
type timing struct {
	ping    time.Duration // between pings of an idle WebSocket
	pong    time.Duration // silence after which a peer counts as gone
	message time.Duration // for all of one message, once it has begun
	write   time.Duration
	header  time.Duration // for the headers of a request
	body    time.Duration // for a whole request
}

var normal = timing{
	ping:    25 * time.Second,
	pong:    55 * time.Second,
	message: 5 * time.Second,
	write:   5 * time.Second,
	header:  2 * time.Second,
	body:    5 * time.Second,
}

// Listener accepts reports of calls until it is closed. Its methods may be
// called from any goroutine.
type Listener struct {
	cfg      Config
	time     timing
	guard    guard
	log      refusalLog
	server   *http.Server
	crowd    crowd
	port     int
	upgrader websocket.Upgrader

	socketToken, pathToken token

	rates    struct{ bearer, path *rate.Limiter }
	lastConn atomic.Uint64

	serving sync.WaitGroup // accept loops and WebSockets
	closing sync.Once

	mu        sync.Mutex  // protects what follows
	unhook    func() bool // parts Close from Start's context
	stopping  bool
	sockets   map[*socket]struct{}
	slots     int // WebSockets, those in the handshake included
	announced string
}

// Start listens on loopback, IPv4 and where the machine has it IPv6, and serves
// until ctx ends or Close is called. The error wraps ErrPortTaken if another
// program holds the port.
func Start(ctx context.Context, cfg Config) (*Listener, error) {
	return start(ctx, cfg, normal)
}

func start(ctx context.Context, cfg Config, t timing) (*Listener, error) {
	if cfg.Take == nil {
		return nil, errors.New("listener: no receiver for events")
	}
	if cfg.Port < 0 || cfg.Port > 65535 {
		return nil, fmt.Errorf("listener: port %d is out of range", cfg.Port)
	}
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
		sockets:     map[*socket]struct{}{},
	}
	l.rates.bearer, l.rates.path = newRate(), newRate()
	l.upgrader = websocket.Upgrader{
		HandshakeTimeout: t.write,
		Subprotocols:     []string{Subprotocol},
		// The guard has judged the origin before, and more strictly.
		CheckOrigin: func(*http.Request) bool { return true },
		Error: func(w http.ResponseWriter, r *http.Request, _ int, _ error) {
			l.refuse(w, r, badRequest)
		},
		// EnableCompression stays off for good: the read limit counts
		// compressed bytes.
	}
	l.server = &http.Server{
		Handler:           l,
		ReadHeaderTimeout: t.header,
		ReadTimeout:       t.body,
		WriteTimeout:      t.body + t.write,
		MaxHeaderBytes:    8 << 10,
		// "OPTIONS *" too is judged by the guard.
		DisableGeneralOptionsHandler: true,
		ErrorLog:                     slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug), // it would print peers' input
		ConnState:                    l.crowd.watch,
		BaseContext:                  func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
	}
	// A phone reports a handful of times a call; connections that stay open
	// would only be something to hold on to for those who mean harm.
	l.server.SetKeepAlivesEnabled(false)
	for _, ln := range listens {
		l.serving.Go(func() {
			if err := l.server.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
				l.cfg.Log.Error("listener stopped", "error", err)
			}
		})
	}
	l.mu.Lock() // the context may have ended already
	l.unhook = context.AfterFunc(ctx, l.Close)
	l.mu.Unlock()
	l.cfg.Log.Info("listening for calls", "port", port, "addresses", len(listens))
	return l, nil
}

// listen takes the first free port of tries from port upwards on both loopback
// addresses. A port that is free on one of them only counts as taken: "localhost"
// may mean either, and the other one's owner would receive our callers.
func listen(ctx context.Context, port, tries int) ([]net.Listener, int, error) {
	lc := net.ListenConfig{Control: exclusive}
	if port == 0 {
		tries = 16 // the one the system gives may be taken on IPv6
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
			if !Taken(err) {
				return nil, 0, err
			}
			continue
		}
		got := v4.Addr().(*net.TCPAddr).Port
		v6, err := lc.Listen(ctx, "tcp6", net.JoinHostPort("::1", strconv.Itoa(got)))
		switch {
		case err == nil:
			return []net.Listener{v4, v6}, got, nil
		case Taken(err):
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

// Port is the port that Start got.
func (l *Listener) Port() int { return l.port }

// Lasting reports whether Start got a port that it was allowed to try, and not just
// any: the next Start may get the same.
func (l *Listener) Lasting() bool {
	return l.port >= l.cfg.Port && l.port < l.cfg.Port+max(l.cfg.Tries, 1)
}

// Connections is the number of WebSockets that are open now.
func (l *Listener) Connections() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.sockets)
}

// Close refuses what is new ("stopping"), tells every WebSocket that we go,
// removes the announced file, and returns when all goroutines have ended. It
// may be called again.
func (l *Listener) Close() {
	l.closing.Do(func() {
		l.mu.Lock()
		l.unhook()
		l.stopping = true
		open := slices.Collect(maps.Keys(l.sockets))
		l.mu.Unlock()
		l.withdraw()
		for _, s := range open {
			s.goAway()
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

// take hands e over and gives the code for the phone, none if it was taken.
func (l *Listener) take(e call.Event) code {
	l.mu.Lock()
	over := l.stopping
	l.mu.Unlock()
	if over || l.cfg.Take(e.Clean()) != nil {
		return stopping
	}
	return none
}

// newRate allows EventsBurst things at once and EventsPerSec a second in the long run.
func newRate() *rate.Limiter { return rate.NewLimiter(EventsPerSec, EventsBurst) }

// token is kept as its hash: comparing hashes takes the same time for every
// guess, whatever its length.
type token struct {
	sum [sha256.Size]byte
	set bool
}

func newToken(s string) token { return token{sha256.Sum256([]byte(s)), s != ""} }
