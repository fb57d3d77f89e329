package localhub

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// DefaultRelationField is the JSON name of the relation number in
// hub-api.md 2.3.
const DefaultRelationField = "backofficerelatienummer"

// DefaultIntermediary is where messages may be sent to if nothing else is set.
// The document has a neutral word in its place (hub-api.md 4.2).
const DefaultIntermediary = "intermediary"

// Config says how a hub is run. The zero value is an empty hub in memory on a
// free port of 127.0.0.1.
type Config struct {
	Dir            string           // folder of the database; "" keeps everything in memory until Close
	Listen         string           // literal loopback address and port; "" is 127.0.0.1:0
	Synthetic      int              // invented contacts put into a database that has none
	Seed           uint64           // of the invented contacts; 0 is 1
	Demo           bool             // the login page shows and fills in its user; synthetic contacts only
	Intermediaries []string         // that messages may be sent to (hub-api.md 4.2); none: DefaultIntermediary
	RelationField  string           // JSON name of the relation number; "" is DefaultRelationField
	BackOfficeURL  string           // click-through, with {relation} for the relation number; "" is a page of the hub itself
	TokenLifetime  time.Duration    // 0 is an hour
	Log            *slog.Logger     // nil: silent
	Now            func() time.Time // nil: time.Now
	Faults         *Faults          // nil: a set of its own, see Hub.Faults
}

// Hub is a running hub. Its methods may be used from any goroutine.
type Hub struct {
	*Data
	cfg     Config
	log     *slog.Logger
	faults  *Faults
	addr    string // host:port, the same for the whole life of the hub
	handler http.Handler
	pages   map[string]*template.Template
	limits  *limiter
	hashing chan struct{} // a slot for each password hashed at one time
	uploads chan struct{} // a slot for each delivery taken at one time
	jwtKey  []byte
	csrfKey []byte
	stats   counters

	life    context.Context // ends with Close: ends waiting requests
	cancel  context.CancelFunc
	closing sync.Once
	closed  error

	mu      sync.Mutex // guards srv, served, ended and release
	srv     *http.Server
	served  chan struct{} // closed when srv's accept loop has ended
	ended   bool
	release func() bool // unhooks Start's context
}

// Stats counts requests that were answered, faults included.
type Stats struct {
	Tokens   int64 // requests for a token
	Lookups  int64 // contact lookups
	Messages int64 // requests to deliver messages
	Files    int64 // customer files shown to a user who was logged in
}

type counters struct{ tokens, lookups, messages, files atomic.Int64 }

// Start opens the database, fills it if asked to, and listens. The hub answers
// when Start returns. It ends with Close or with ctx. An address that is not a
// literal loopback address is refused.
func Start(ctx context.Context, cfg Config) (*Hub, error) {
	cfg = cfg.withDefaults()
	if err := loopback(cfg.Listen); err != nil {
		return nil, err
	}
	h := &Hub{
		cfg: cfg, log: cfg.Log, faults: cfg.Faults,
		limits: newLimiter(), hashing: make(chan struct{}, 2), uploads: make(chan struct{}, uploadsAtOne),
	}
	h.life, h.cancel = context.WithCancel(context.Background())
	var err error
	if h.pages, err = parsePages(); err != nil {
		h.cancel()
		return nil, err
	}
	store, err := openStore(ctx, cfg.Dir)
	if err != nil {
		h.cancel()
		return nil, err
	}
	h.Data = &Data{store: store, dir: cfg.Dir, demo: cfg.Demo, now: cfg.Now}
	if err := h.own(ctx); err != nil {
		h.cancel()
		return nil, errors.Join(err, h.Data.Close())
	}
	if err := h.prepare(ctx); err != nil {
		h.cancel()
		return nil, errors.Join(err, h.Data.Close())
	}
	h.handler = h.routes()
	l, err := net.Listen("tcp", cfg.Listen)
	if err != nil {
		h.cancel()
		return nil, errors.Join(fmt.Errorf("local hub: %w", err), h.Data.Close())
	}
	h.addr = l.Addr().String()
	h.serve(l)
	if err := h.faults.attach(h.setGone); err != nil {
		return nil, errors.Join(err, h.Close())
	}
	release := context.AfterFunc(ctx, func() { _ = h.Close() })
	h.mu.Lock()
	h.release = release
	h.mu.Unlock()
	h.log.Info("local hub ready", "address", h.addr, "demo", cfg.Demo)
	return h, nil
}

func (c Config) withDefaults() Config {
	if c.Listen == "" {
		c.Listen = "127.0.0.1:0"
	}
	if c.Seed == 0 {
		c.Seed = 1
	}
	if c.RelationField == "" {
		c.RelationField = DefaultRelationField
	}
	if len(c.Intermediaries) == 0 {
		c.Intermediaries = []string{DefaultIntermediary}
	}
	if c.TokenLifetime <= 0 {
		c.TokenLifetime = time.Hour
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Faults == nil {
		c.Faults = &Faults{}
	}
	return c
}

// loopback refuses names as well: a hosts file can move "localhost"
// (corrections.md 26).
func loopback(listen string) error {
	a, err := netip.ParseAddrPort(listen)
	if err != nil || !a.Addr().IsLoopback() || a.Addr().Zone() != "" {
		return errors.New("local hub: listens on a literal loopback address only, such as 127.0.0.1:0")
	}
	return nil
}

// prepare makes keys, invented contacts and the demo's user. Hashing the
// demo's password takes as long as filling the database, so they run side by
// side.
func (h *Hub) prepare(ctx context.Context) error {
	var err error
	if h.jwtKey, err = h.store.key(ctx, "jwt"); err != nil {
		return err
	}
	if h.csrfKey, err = h.store.key(ctx, "csrf"); err != nil {
		return err
	}
	hashed := make(chan hashResult, 1)
	if h.cfg.Demo {
		go func() { hashed <- hashPassword(demoPassword) }() // ends by itself; the channel never blocks it
	}
	if h.cfg.Synthetic > 0 {
		if err := h.store.fill(ctx, Synthetic(h.cfg.Seed, h.cfg.Synthetic)); err != nil {
			return err
		}
	}
	if !h.cfg.Demo {
		return nil
	}
	pw := <-hashed
	if pw.err != nil {
		return pw.err
	}
	real, err := h.store.hasReal(ctx)
	if err != nil {
		return err
	}
	if real {
		return errors.New("local hub: the demo is for invented contacts only, and this database holds others")
	}
	return h.store.putUser(ctx, DemoUser, pw.hash, true)
}

// serve runs an HTTP server on l until stop.
func (h *Hub) serve(l net.Listener) {
	srv := &http.Server{
		Handler:           h.handler,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       15 * time.Second,
		WriteTimeout:      60 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    16 << 10,
		BaseContext:       func(net.Listener) context.Context { return h.life },
		ErrorLog:          slog.NewLogLogger(slog.DiscardHandler, slog.LevelError), // may quote what a client sent
	}
	served := make(chan struct{})
	h.mu.Lock()
	h.srv, h.served = srv, served
	h.mu.Unlock()
	go func() {
		defer close(served)
		if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			h.log.Error("local hub stopped listening", "error", err)
		}
	}()
}

// setGone closes the port and every connection, or listens again on the same
// port.
func (h *Hub) setGone(gone bool) error {
	h.mu.Lock()
	srv, served, ended := h.srv, h.served, h.ended
	if gone {
		h.srv = nil
	}
	h.mu.Unlock()
	if ended || gone == (srv == nil) {
		return nil
	}
	if gone {
		err := srv.Close()
		<-served
		return err
	}
	l, err := net.Listen("tcp", h.addr)
	if err != nil {
		return fmt.Errorf("local hub: come back: %w", err)
	}
	h.serve(l)
	return nil
}

// BaseURL is {base_url} of hub-api.md, without a trailing slash.
func (h *Hub) BaseURL() string { return "http://" + h.addr }

// HubURL is {hub_url} of hub-api.md: the same address.
func (h *Hub) HubURL() string { return h.BaseURL() }

// Faults is what can be broken on purpose while the hub runs.
func (h *Hub) Faults() *Faults { return h.faults }

// Stats is what has been answered so far.
func (h *Hub) Stats() Stats {
	return Stats{Tokens: h.stats.tokens.Load(), Lookups: h.stats.lookups.Load(), Messages: h.stats.messages.Load(), Files: h.stats.files.Load()}
}

// Close ends the hub: requests under way get two seconds, then everything is
// closed, and what was in memory is gone. Later calls wait for the first and
// return its result.
func (h *Hub) Close() error {
	h.closing.Do(func() {
		h.faults.detach()
		h.cancel()
		h.mu.Lock()
		srv, served, release := h.srv, h.served, h.release
		h.srv, h.ended = nil, true
		h.mu.Unlock()
		if release != nil {
			release()
		}
		if srv != nil {
			ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
			if srv.Shutdown(ctx) != nil {
				_ = srv.Close() // a client that does not go away in time
			}
			cancel()
			<-served
		}
		h.closed = h.Data.Close()
	})
	return h.closed
}

// guardHost refuses requests under a foreign name: a page elsewhere whose name
// was pointed at this computer.
func (h *Hub) guardHost(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, port, _ := net.SplitHostPort(h.addr)
		if r.Host == h.addr || strings.EqualFold(r.Host, "localhost:"+port) {
			next.ServeHTTP(w, r)
			return
		}
		writeError(w, http.StatusMisdirectedRequest, "invalid_host", "this hub is reached by its address only")
	})
}
