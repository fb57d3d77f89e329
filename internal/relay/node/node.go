// Package node runs a relay's own NATS server, with JetStream in the relay's data folder,
// and provides the relay's in-process connection to it. The servers of a site's three
// relays form a cluster: what one of them knows, two know.
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

const (
	maxPayload = 512 << 10 // bytes per message between relays; users have their own limit
	// maxPending is how many unread bytes a connection may have before it is closed. Bucket
	// watchers, such as the relay, are sent up to 32 MB ahead; a desk that does not read
	// is cut off by writeTime.
	maxPending     = 64 << 20
	maxConnections = 10_000
	loginTime      = 5.0 // seconds
	startTime      = 10 * time.Second
	// pingEvery detects, by one unanswered ping, that a computer has silently disappeared.
	// Pinging a thousand computers more often would cost more than everything else they do
	// when idle.
	pingEvery = 30 * time.Second
	routePing = 500 * time.Millisecond // between the servers of a cluster
	// A write that takes longer closes its connection. Meanwhile it delays what goes to
	// others; the server's default of ten seconds held up a whole site.
	writeTime      = 2 * time.Second
	routeWriteTime = 2 * routePing
)

// Config defines where a server listens and what it keeps.
type Config struct {
	Name string // this relay's, unique within the site
	Dir  string // JetStream's files; nobody else may write there
	Host string
	Port int         // 0: any free one
	TLS  *tls.Config // nil only on loopback
	// Revoked are public keys invalid from the start; see Revoke.
	Revoked map[string]time.Time
	// Cluster is nil for a single relay.
	Cluster *Cluster
}

// Cluster defines how the servers of a site reach each other.
type Cluster struct {
	Name  string
	Port  int
	Hosts []string    // of all servers, including this one
	TLS   *tls.Config // for both sides; each needs a certificate
}

func (c *Cluster) options(o *server.Options) {
	// Use one connection between two servers: of a pool, one that is lost may stay lost,
	// with everything sent over it, while the servers report that they reach each other.
	o.Cluster = server.ClusterOpts{PoolSize: -1, Name: c.Name, Host: o.Host, Port: c.Port, TLSConfig: c.TLS, TLSTimeout: loginTime,
		PingInterval: routePing, MaxPingsOut: 2, WriteDeadline: routeWriteTime, ConnectRetries: -1, NoAdvertise: true}
	for _, host := range c.Hosts {
		o.Routes = append(o.Routes, &url.URL{Scheme: "nats-route", Host: net.JoinHostPort(host, strconv.Itoa(c.Port))})
	}
}

// Node is a running server, or a connection to somebody else's. It is
// safe for concurrent use.
type Node struct {
	Conn *nats.Conn // the relay's own, with all rights within the site

	server  *server.Server // nil at somebody else's servers
	account string         // the site's

	mu          sync.Mutex // protects the rest
	revoked     map[string]time.Time
	claims      jwt.AccountClaims // including revoked
	revokeTimer *time.Timer       // revokes them once more
	closed      bool
}

// Start runs a server and connects to it.
func Start(c Config, a *credentials.Authority) (*Node, error) {
	who, err := a.Server()
	if err != nil {
		return nil, err
	}
	accounts := &server.MemAccResolver{}
	for key, token := range who.Accounts {
		if err := accounts.Store(key, token); err != nil {
			return nil, err
		}
	}
	n := &Node{account: who.Account, claims: *who.AccountClaims, revoked: c.Revoked}
	port := c.Port
	if port == 0 {
		port = server.RANDOM_PORT
	}
	o := &server.Options{
		ServerName: c.Name, Host: c.Host, Port: port, JetStream: true, StoreDir: c.Dir,
		TrustedOperators: []*jwt.OperatorClaims{who.Operator}, AccountResolver: accounts, SystemAccount: who.System,
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
	n.claimRevoked(c.Revoked)
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

// ConnectExternal connects to somebody else's servers, where the site has an account.
func ConnectExternal(name string, urls []string, roots *x509.CertPool, a *credentials.Authority) (n *Node, err error) {
	n = &Node{}
	// Servers that have just started may not know the account yet.
	n.Conn, err = dial(name, a, nats.MaxReconnects(-1), nats.IgnoreAuthErrorAbort(), nats.ReconnectWait(routePing), servers(urls, roots))
	if err != nil {
		return nil, fmt.Errorf("NATS: %w", err)
	}
	return n, nil
}

// servers sets the servers to reach over TLS.
func servers(urls []string, roots *x509.CertPool) nats.Option {
	return func(o *nats.Options) error {
		o.Servers, o.Timeout = urls, startTime
		o.Secure, o.TLSConfig = true, &tls.Config{MinVersion: tls.VersionTLS13, RootCAs: roots}
		return nil
	}
}

// Dial connects to a relay's server the way a relay does; it needs the site's keys.
func Dial(urls []string, roots *x509.CertPool, a *credentials.Authority) (*nats.Conn, error) {
	return dial("command", a, nats.NoReconnect(), servers(urls, roots))
}

func dial(name string, a *credentials.Authority, o ...nats.Option) (*nats.Conn, error) {
	token, pair, err := a.RelayToken(name)
	if err != nil {
		return nil, err
	}
	return nats.Connect("", append(o, nats.Name(name), nats.UserJWT(func() (string, error) { return token, nil }, pair.Sign))...)
}

// Connections returns their number, without the relay's own; 0 at somebody else's
// servers, where it is unknown.
func (n *Node) Connections() int {
	if n.server == nil {
		return 0
	}
	return max(0, n.server.NumClients()-1)
}

// IsCaughtUp reports whether the server has everything the others in its cluster have. They
// cannot tell, since to them a server that lost everything is still what it was.
func (n *Node) IsCaughtUp() bool { return n.server == nil || n.server.Healthz(nil).Status == "ok" }

// Port is the port on which the server listens.
func (n *Node) Port() int { return n.server.Addr().(*net.TCPAddr).Port }

// Tunnel returns where the server accepts WebSockets, from this computer only:
// connections forwarded for computers that can reach nothing but HTTPS. It is "" at
// somebody else's servers.
func (n *Node) Tunnel() string {
	if n.server == nil {
		return ""
	}
	return strings.Replace(n.server.WebsocketURL(), "ws:", "http:", 1)
}

// revokeAgain is the delay before keys are revoked once more: the server does not
// disconnect a client that is just logging in, after its key was checked.
const revokeAgain = 2 * time.Second

// Revoke invalidates the tokens of public keys, each from a given time, and
// disconnects whoever uses one. It takes the complete list. The server goes through
// all connections, so an unchanged list is skipped. At somebody else's servers their
// administrator revokes keys.
func (n *Node) Revoke(keys map[string]time.Time) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.server == nil || maps.EqualFunc(keys, n.revoked, time.Time.Equal) {
		return nil
	}
	n.claimRevoked(keys)
	if err := n.enforce(); err != nil {
		return err
	}
	if n.revokeTimer != nil {
		n.revokeTimer.Stop()
	}
	n.revokeTimer = time.AfterFunc(revokeAgain, func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		_ = n.enforce() // the account was found before
	})
	n.revoked = keys
	return nil
}

// claimRevoked puts the revoked keys into the account's claims; its token has no room for years
// of them. The server compares the time of revocation with a token's issue time, which may
// come from a clock ahead of ours. Since keys are never reused, all tokens of a revoked key
// are meant.
func (n *Node) claimRevoked(keys map[string]time.Time) {
	n.claims.Revocations = nil
	for key, when := range keys {
		n.claims.RevokeAt(key, when.Add(credentials.Lifetime))
	}
}

// enforce makes the server disconnect whoever uses a revoked key. The
// caller holds the lock.
func (n *Node) enforce() error {
	if n.closed {
		return nil
	}
	account, err := n.server.LookupAccount(n.account)
	if err == nil {
		n.server.UpdateAccountClaims(account, &n.claims)
	}
	return err
}

// Peers returns how many other servers of the relays' own cluster are reached.
func (n *Node) Peers() int {
	if n.server == nil {
		return 0
	}
	return n.server.NumRemotes()
}

// DisconnectUsers disconnects all users, who reconnect to this relay or another.
func (n *Node) DisconnectUsers() error {
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
			_ = n.server.DisconnectClientByID(c.Cid) // or it is already gone
		}
	}
	return nil
}

// Compact makes a clustered server drop from its log what the others already have of a
// stream. By itself it would do so minutes later.
func (n *Node) Compact(stream string) {
	if n.server != nil {
		_ = n.server.JetStreamSnapshotStream(n.account, stream) // there may be nothing to do
	}
}

// Close closes the connection and the server, and waits for both.
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
