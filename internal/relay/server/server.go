// Package server runs a relay: its NATS server, the calls that exchanges report and that
// are published to users, and the HTTPS server through which computers join.
//
// Goroutines: Run's own; one each for the buckets, the feed, the users, the reports, the
// web server, the settings and the relay's own state, those of the links to exchanges, and
// those of NATS. All have ended when Run returns.
package server

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"
	"golang.org/x/time/rate"

	"wiebelt/internal/core/phone"
	"wiebelt/internal/relay/calls"
	"wiebelt/internal/relay/certificates"
	"wiebelt/internal/relay/journal"
	"wiebelt/internal/relay/links"
	"wiebelt/internal/relay/node"
	"wiebelt/internal/relay/setup"
	"wiebelt/internal/relay/users"
	"wiebelt/internal/relay/wire"
	"wiebelt/internal/softphone/registry"
	"wiebelt/internal/softphone/webhook"
	"wiebelt/internal/text"
)

// Config configures a relay. It must not be changed after Run.
type Config struct {
	*setup.Folder
	Rules *phone.Rules
	Office
	// Changes delivers later settings of the office; nil if there are
	// none. It is not closed.
	Changes <-chan Office
	Log     *slog.Logger
}

// Office is the part of a relay's settings that can change while it runs.
type Office struct {
	Hub   Hub // nil if users ask it themselves
	Links []links.Link
	// Webhooks read messages that need a mapping, by the last part of the path.
	Webhooks map[string]webhook.Reader
	// InvalidKeys are the keys of unusable settings. If there are any, the previous
	// settings stay in force.
	InvalidKeys []string
}

// Ready is where a relay listens, for programs on the same computer.
type Ready struct {
	NATS  string `json:"nats"`
	Web   string `json:"web"`
	Admin string `json:"admin,omitempty"`
}

// Limits of the web server.
const (
	readTime  = 5 * time.Second
	writeTime = 10 * time.Second
	idleTime  = time.Minute
	maxHeader = 8 << 10
	queueSize = 4096 // reports not in the bucket yet
	warnEvery = 10 * time.Second
)

type relay struct {
	Config
	counts
	node         *node.Node
	feed         *calls.Feed        // owned by retryStorage
	leases       jetstream.KeyValue // likewise, and the same when reopened
	bucket       *calls.Bucket      // likewise: it knows from the feed whether there is room
	users        atomic.Pointer[users.Directory]
	storage      storage
	journal      *journal.Journal
	table        atomic.Pointer[users.Table]
	reports      chan report
	lookups      *lookups
	links        *links.Links
	unknown      unknownExtensions
	webhooks     webhooks
	inbound      *inbound
	stateChanged chan struct{} // Status has changed
	joins        *limiter      // attempts with wrong codes
	startedAt    time.Time
	// wrongSettings are the keys of unusable settings.
	wrongSettings atomic.Pointer[[]string]
}

// counts counts reports since the start.
type counts struct {
	stored    atomic.Int64
	unmatched atomic.Int64 // of calls for no known user
	dropped   atomic.Int64 // unreadable, or too many
	late      lateCalls
	warned    rate.Sometimes // that some were not understood, or not taken
}

// storage is the state of the relay's buckets, and what is known of their users.
type storage struct {
	fault    atomic.Value // string: one of the constants fault…, "" if none
	diskFull atomic.Bool
	users    atomic.Pointer[[]users.Entry] // as in the bucket, to be backed up
	revoked  map[string]time.Time          // as in revokedFile; owned by retryStorage
}

// Run serves until ctx ends; it calls ready once calls and users are accepted.
func Run(ctx context.Context, c Config, ready func(Ready)) error {
	return run(ctx, c, func(_ *relay, at Ready) { ready(at) })
}

func run(ctx context.Context, c Config, ready func(*relay, Ready)) error {
	s := c.Settings
	hosts := s.CertifiedHosts()
	secure := c.Authority.ServerTLS(hosts)
	n, err := c.node(hosts, secure)
	if err != nil {
		return err
	}
	defer n.Close()
	r := &relay{Config: c, counts: counts{warned: rate.Sometimes{Interval: warnEvery}}, node: n, webhooks: webhooks{mapped: c.Webhooks, states: map[string]wire.LinkState{}, paces: map[string]*rate.Limiter{}}, reports: make(chan report, queueSize), stateChanged: make(chan struct{}, 1), joins: newLimiter(wrongCodes), startedAt: time.Now()}
	r.storage.fault.Store(faultStarting)
	r.wrongSettings.Store(new([]string))
	r.lookups = newLookups(c, func(u wire.User) bool { return r.table.Load().Knows(u) }, r.changed)
	ongoing := func(ctx context.Context, prefix string) ([]calls.Record, error) {
		return r.bucket.Ongoing(ctx, prefix)
	}
	r.links = links.New(links.Config{Relay: s.Name, Ongoing: ongoing, HasExtension: r.knowsExtension, UsersOf: r.usersOf, Receive: r.handleLinkEvent, Changed: r.changed, Log: c.Log})
	r.table.Store(users.NewTable(nil, r.Rules))
	if s.TLS.HasCertificate() {
		if secure, err = certificates.LoadTLS(c.ResolvePath(s.TLS.Cert), c.ResolvePath(s.TLS.Key)); err != nil {
			return text.Errorf(text.RelayTLS, err)
		}
	}
	web, err := listen(net.JoinHostPort(s.Host, strconv.Itoa(s.WebPort)))
	if err != nil {
		return err
	}
	defer web.Close()
	reached := Ready{NATS: c.URLs()[0]}
	if !s.NATS.External() {
		reached.NATS = "tls://" + s.Local(n.Port())
	}
	reached.Web = "https://" + s.Local(web.Addr().(*net.TCPAddr).Port)
	var admin net.Listener
	if s.Admin != "" {
		if admin, err = listen(s.Admin); err != nil {
			return err
		}
		defer admin.Close()
		reached.Admin = "http://" + admin.Addr().String()
	}
	group, ctx := errgroup.WithContext(ctx)
	r.inbound = &inbound{ctx: ctx, accepted: make(chan *inboundConn, 1)}
	defer func() { _ = r.lookups.work.Wait() }() // once nobody can start a lookup any more
	sets := make(chan []links.Link)
	group.Go(func() error { return r.follow(ctx, sets) })
	group.Go(func() error { return r.publishState(ctx) })
	open := sync.OnceFunc(func() {
		group.Go(func() error { return r.writeReports(ctx) })
		group.Go(func() error { return r.links.Run(ctx, r.leases, sets) })
		group.Go(func() error { return r.serveRequests(ctx, func() { ready(r, reached) }) })
	})
	group.Go(func() error { return r.retryStorage(ctx, open) })
	group.Go(func() error { return r.watchDisk(ctx) })
	group.Go(func() error { return serve(ctx, tls.NewListener(web, secure), r.routes()) })
	if admin != nil {
		group.Go(func() error { return serve(ctx, admin, r.admin()) })
	}
	if err := group.Wait(); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// node starts the NATS server, or connects to somebody else's.
func (c Config) node(hosts []string, secure *tls.Config) (*node.Node, error) {
	s := c.Settings
	if s.NATS.External() {
		roots, _, err := c.Authorities()
		if err != nil {
			return nil, err
		}
		return node.ConnectExternal(s.Name, s.NATS.URLs, roots, c.Keys)
	}
	ports := []int{s.NATSPort}
	if len(s.Cluster) > 0 {
		ports = append(ports, s.ClusterPort)
	}
	for _, port := range ports { // the NATS server does not say why it cannot start
		l, err := listen(net.JoinHostPort(s.Host, strconv.Itoa(port)))
		if err != nil {
			return nil, err
		}
		_ = l.Close()
	}
	at := node.Config{Name: s.Name, Dir: filepath.Join(c.Dir, singleDir), Host: s.Host, Port: s.NATSPort, TLS: secure.Clone(), Revoked: c.revoked()}
	if len(s.Cluster) > 0 {
		at.Dir = filepath.Join(c.Dir, clusterDir)
		at.Cluster = &node.Cluster{Name: string(c.Keys.Site), Port: s.ClusterPort, TLS: c.Authority.ClusterTLS(hosts),
			Hosts: slices.Collect(maps.Values(s.Cluster))}
	}
	return node.Start(at, c.Keys)
}

// setUsers applies the current list of users.
func (r *relay) setUsers(all []users.Entry) {
	r.table.Store(users.NewTable(all, r.Rules))
	gone := users.Revoked(all, time.Now())
	if err := cmp.Or(r.node.Revoke(gone), r.saveRevoked(gone)); err != nil {
		r.Log.Error("keys that hold no more could not be revoked", "why", err)
	}
	r.purgeRemoved(all)
}

// routes handles HTTPS requests from the network.
func (r *relay) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /join", r.handleJoin)
	mux.HandleFunc("POST /in/{secret}", r.handleReport)
	mux.HandleFunc("GET /in/{secret}/"+registry.ARIOutbound, r.acceptInbound)
	mux.HandleFunc("GET /in/{secret}/{name}", r.handleWebhook)
	mux.HandleFunc("POST /in/{secret}/{name}", r.handleWebhook)
	if to, err := url.Parse(r.node.Tunnel()); err == nil && to.Host != "" {
		mux.Handle("GET "+wire.Tunnel, tunnel(to))
	}
	return mux
}

// tunnel forwards connections to the NATS server. If that closes one, because nobody has
// logged in, it is closed for the client too, which may never send anything.
func tunnel(to *url.URL) http.Handler {
	return &httputil.ReverseProxy{ErrorLog: discardLogger(), Rewrite: func(p *httputil.ProxyRequest) {
		p.SetURL(to)
		p.Out.URL.Path = "/"
	}, ModifyResponse: func(a *http.Response) error {
		if c, ok := a.Body.(io.ReadWriteCloser); ok {
			a.Body = tunnelled{c}
		}
		return nil
	}}
}

// tunnelled is the NATS server's side of a connection. It turns the end into an error: after
// a plain end the proxy would wait until the other side ends too.
type tunnelled struct{ io.ReadWriteCloser }

func (t tunnelled) Read(b []byte) (n int, err error) {
	if n, err = t.ReadWriteCloser.Read(b); err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// listen opens one of the relay's ports; an error names the one it is about.
func listen(addr string) (net.Listener, error) {
	l, err := net.Listen("tcp", addr)
	if no, is := errors.AsType[syscall.Errno](err); is {
		err = text.Errorf(text.ErrorAt, addr, no)
	}
	return l, err
}

// serve serves HTTP until ctx ends.
func serve(ctx context.Context, l net.Listener, h http.Handler) error {
	s := &http.Server{Handler: h, ReadTimeout: readTime, WriteTimeout: writeTime, IdleTimeout: idleTime, MaxHeaderBytes: maxHeader,
		ErrorLog: discardLogger()}
	stop := context.AfterFunc(ctx, func() { _ = s.Close() })
	defer stop()
	if err := s.Serve(l); ctx.Err() == nil {
		return err
	}
	return ctx.Err()
}

// discardLogger discards errors caused by clients.
func discardLogger() *log.Logger { return slog.NewLogLogger(slog.DiscardHandler, slog.LevelError) }

// serveRequests answers users' requests and takes reports, over NATS, until ctx ends.
func (r *relay) serveRequests(ctx context.Context, ready func()) error {
	for subject, do := range map[string]nats.MsgHandler{
		r.Keys.Site.AllUsersSubject(wire.TopicRenew):   r.renew,
		r.Keys.Site.AllUsersSubject(wire.TopicJournal): func(m *nats.Msg) { r.answerMissed(ctx, m) },
		r.Keys.Site.AllUsersSubject(wire.TopicLookup):  func(m *nats.Msg) { r.lookups.handle(ctx, m) },
		r.Keys.Site.ReportSubject():                    r.handlePublished,
	} {
		s, err := r.node.Conn.QueueSubscribe(subject, "relays", do)
		if err != nil {
			return err
		}
		defer func() { _ = s.Unsubscribe() }()
	}
	// Flush, since publishers may start as soon as we are ready, and what arrives before
	// the NATS server knows the subscriptions is lost. If the connection breaks now,
	// it is restored with them.
	_ = r.node.Conn.Flush()
	ready()
	<-ctx.Done()
	return ctx.Err()
}
