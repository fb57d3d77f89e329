// Package node runs a relay's own NATS server, with JetStream in the relay's data
// folder, and gives the relay its connection to it, within the process. The servers
// of a site's three relays form a cluster: what one of them knows, two know.
//
// Goroutines: those of the server and the connection, which Close ends.
package node

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"wiebelt/internal/relay/credentials"
)

// Limits of what one connection may do.
const (
	maxPayload = 512 << 10 // bytes of a message between relays; users have a limit of their own
	// Bytes that a connection has not read; then it has to connect anew. What watches a
	// bucket, as the relay itself does, is sent up to 32 MB ahead; a desk that does not
	// read is cut off by writeTime.
	maxPending     = 64 << 20
	maxConnections = 10_000
	loginTime      = 5.0 // seconds
	startTime      = 10 * time.Second
	// pingEvery finds out, by one ping that is not answered, that a computer has gone
	// without a word: until then its user is believed to hear his calls. To ask a
	// thousand computers more often costs more than all else that they do when idle.
	pingEvery = 30 * time.Second
	routePing = 500 * time.Millisecond // between the servers of a cluster
	// A write that waits longer ends its connection. Meanwhile it holds up what goes to
	// others; the server's own ten seconds held up a whole site.
	writeTime      = 2 * time.Second
	routeWriteTime = 2 * routePing
)

// Config is where a server listens and what it keeps.
type Config struct {
	Name string // of this relay; one of a kind within the site
	Dir  string // of JetStream's files; nobody else may write there
	Host string
	Port int         // 0: any free one
	TLS  *tls.Config // nil on loopback only
	// Revoked are public keys that are worth nothing from the start; see Revoke.
	Revoked map[string]time.Time
	// Cluster is nil for a relay that is alone.
	Cluster *Cluster
}

// Cluster is how the servers of a site reach each other.
type Cluster struct {
	Name  string
	Port  int
	Hosts []string    // all of them, this one too
	TLS   *tls.Config // of both sides, each of which must be certified
}

func (c *Cluster) options(o *server.Options) {
	// One connection between two servers: of several, one that is lost can stay away, and
	// what goes over it with it, while the servers say that they reach each other.
	o.Cluster = server.ClusterOpts{PoolSize: -1, Name: c.Name, Host: o.Host, Port: c.Port, TLSConfig: c.TLS, TLSTimeout: loginTime,
		PingInterval: routePing, MaxPingsOut: 2, WriteDeadline: routeWriteTime, ConnectRetries: -1, NoAdvertise: true}
	for _, host := range c.Hosts {
		o.Routes = append(o.Routes, &url.URL{Scheme: "nats-route", Host: net.JoinHostPort(host, strconv.Itoa(c.Port))})
	}
}

// Node is a running server, or a connection to somebody else's. Its methods may be
// called from any goroutine.
type Node struct {
	Conn *nats.Conn // the relay's own, which may do everything within the site

	server    *server.Server // nil for somebody else's
	accounts  *server.MemAccResolver
	authority *credentials.Authority
	account   string // the site's

	mu      sync.Mutex // protects the rest
	revoked map[string]time.Time
	claims  *jwt.AccountClaims // with them
	again   *time.Timer        // when they are revoked once more
	closed  bool
}

// Start runs a server and connects to it.
func Start(c Config, a *credentials.Authority) (*Node, error) {
	who, err := a.Server(c.Revoked)
	if err != nil {
		return nil, err
	}
	n := &Node{authority: a, accounts: &server.MemAccResolver{}, revoked: c.Revoked}
	n.account = who.Account
	if err := n.store(who); err != nil {
		return nil, err
	}
	port := c.Port
	if port == 0 {
		port = server.RANDOM_PORT
	}
	o := &server.Options{
		ServerName: c.Name, Host: c.Host, Port: port, JetStream: true, StoreDir: c.Dir,
		TrustedOperators: []*jwt.OperatorClaims{who.Operator}, AccountResolver: n.accounts, SystemAccount: who.System,
		MaxPayload: maxPayload, MaxPending: maxPending, MaxConn: maxConnections, AuthTimeout: loginTime, WriteDeadline: writeTime,
		PingInterval: pingEvery, MaxPingsOut: 1, NoSigs: true, NoLog: true, TLSConfig: c.TLS, TLSTimeout: loginTime,
		Websocket: server.WebsocketOpts{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoTLS: true},
	}
	if c.Cluster != nil {
		c.Cluster.options(o)
	}
	if n.server, err = server.NewServer(o); err != nil {
		return nil, err
	}
	// The token has no room for years of revoked keys; the claims have.
	n.claims = who.AccountClaims
	if err := n.enforce(); err != nil {
		return nil, err
	}
	go n.server.Start()
	if !n.server.ReadyForConnections(startTime) {
		n.Close()
		return nil, errors.New("the NATS server does not start")
	}
	if n.Conn, err = dial(c.Name, a, nats.InProcessServer(n.server), nats.MaxReconnects(-1)); err != nil {
		n.Close()
		return nil, fmt.Errorf("the relay's own connection: %w", err)
	}
	return n, nil
}

// Elsewhere connects to servers that are somebody else's: the site has an account there.
func Elsewhere(name string, urls []string, roots *x509.CertPool, a *credentials.Authority) (n *Node, err error) {
	n = &Node{}
	// Servers that have just started may not know the account yet.
	n.Conn, err = dial(name, a, nats.MaxReconnects(-1), nats.IgnoreAuthErrorAbort(), nats.ReconnectWait(routePing), to(urls, roots))
	if err != nil {
		return nil, fmt.Errorf("NATS: %w", err)
	}
	return n, nil
}

// to are servers that are reached over TLS.
func to(urls []string, roots *x509.CertPool) nats.Option {
	return func(o *nats.Options) error {
		o.Servers, o.Timeout = urls, startTime
		o.Secure, o.TLSConfig = true, &tls.Config{MinVersion: tls.VersionTLS13, RootCAs: roots}
		return nil
	}
}

// Dial connects to a relay's server as a relay does, for whoever has the site's keys.
func Dial(urls []string, roots *x509.CertPool, a *credentials.Authority) (*nats.Conn, error) {
	return dial("command", a, nats.NoReconnect(), to(urls, roots))
}

func dial(name string, a *credentials.Authority, o ...nats.Option) (*nats.Conn, error) {
	token, pair, err := a.Relay(name)
	if err != nil {
		return nil, err
	}
	return nats.Connect("", append(o, nats.Name(name), nats.UserJWT(func() (string, error) { return token, nil }, pair.Sign))...)
}

func (n *Node) store(who credentials.Server) error {
	for key, token := range who.Accounts {
		if err := n.accounts.Store(key, token); err != nil {
			return err
		}
	}
	return nil
}

// Connections is how many there are, the relay's own apart. At somebody else's servers
// nobody can tell.
func (n *Node) Connections() int {
	if n.server == nil {
		return 0
	}
	return max(0, n.server.NumClients()-1)
}

// Current tells whether the server has all that the others of its cluster have. They
// cannot tell: they take one that lost everything for what it was.
func (n *Node) Current() bool { return n.server == nil || n.server.Healthz(nil).Status == "ok" }

// Port is where the server listens.
func (n *Node) Port() int { return n.server.Addr().(*net.TCPAddr).Port }

// Tunnel is where the server takes connections as WebSockets, from this computer alone:
// those of computers that reach nothing but HTTPS, which somebody passes on. It is ""
// for somebody else's servers.
func (n *Node) Tunnel() string {
	if n.server == nil {
		return ""
	}
	return strings.Replace(n.server.WebsocketURL(), "ws:", "http:", 1)
}

// revokeAgain is how long after it keys are revoked once more: the server does not throw
// out whom it is letting in at that moment, between its look at his key and the connection.
const revokeAgain = 2 * time.Second

// Revoke makes the tokens of public keys worthless, which were so from a moment on, and
// throws out whoever is connected with one. It takes the whole list each time; the
// server looks at every connection, which it is spared where the list is the same.
// At somebody else's servers their administrator does so.
func (n *Node) Revoke(keys map[string]time.Time) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.server == nil || maps.EqualFunc(keys, n.revoked, time.Time.Equal) {
		return nil
	}
	who, err := n.authority.Server(keys)
	if err != nil {
		return err
	}
	if err := n.store(who); err != nil {
		return err
	}
	n.claims = who.AccountClaims
	if err := n.enforce(); err != nil {
		return err
	}
	if n.again != nil {
		n.again.Stop()
	}
	n.again = time.AfterFunc(revokeAgain, func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		_ = n.enforce() // as it could before
	})
	n.revoked = keys
	return nil
}

// enforce has the server throw out whoever is connected with a key that is revoked. The
// caller has the lock.
func (n *Node) enforce() error {
	if n.closed {
		return nil
	}
	account, err := n.server.LookupAccount(n.account)
	if err == nil {
		n.server.UpdateAccountClaims(account, n.claims)
	}
	return err
}

// Others is how many other servers of the relays' own cluster are reached.
func (n *Node) Others() int {
	if n.server == nil {
		return 0
	}
	return n.server.NumRemotes()
}

// Dismiss disconnects every user, who comes back to this relay or to another.
func (n *Node) Dismiss() error {
	if n.server == nil {
		return nil
	}
	own, err := n.Conn.GetClientID()
	if err != nil {
		return err
	}
	all, err := n.server.Connz(&server.ConnzOptions{Limit: maxConnections})
	if err != nil {
		return err
	}
	for _, c := range all.Conns {
		if c.Cid != own {
			_ = n.server.DisconnectClientByID(c.Cid) // or it has gone by itself
		}
	}
	return nil
}

// Compact has the server of a cluster rid its log of what the others know of a stream.
// It would do so by itself, minutes later.
func (n *Node) Compact(stream string) {
	if n.server != nil {
		_ = n.server.JetStreamSnapshotStream(n.account, stream) // there may be nothing to do
	}
}

// Close ends the connection and the server, and waits for both.
func (n *Node) Close() {
	n.mu.Lock()
	n.closed = true
	n.mu.Unlock()
	if n.Conn != nil {
		n.Conn.Close()
	}
	if n.server != nil {
		n.server.Shutdown()
		n.server.WaitForShutdown()
	}
}
