package node

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"

	"wiebelt/internal/relay/credentials"
	"wiebelt/internal/relay/wire"
	"wiebelt/internal/testutil/must"
)

const site wire.Site = "kantoor"

// desk is a user's computer: its key pair and credentials.
type desk struct {
	t      *testing.T
	user   wire.User
	pair   nkeys.KeyPair
	public string
	token  string
	errs   chan error
}

func newDesk(t *testing.T, a *credentials.Authority, u wire.User) *desk {
	t.Helper()
	pair := must.Get(nkeys.CreateUser())(t)
	d := &desk{t: t, user: u, pair: pair, errs: make(chan error, 256)}
	d.public = must.Get(pair.PublicKey())(t)
	d.token = must.Get(a.UserToken(u, d.public, time.Now().Add(time.Hour)))(t)
	return d
}

func (d *desk) connect(url string, more ...nats.Option) (*nats.Conn, error) {
	return nats.Connect(url, append(more, nats.CustomInboxPrefix(wire.Inbox(d.user)), nats.NoReconnect(),
		nats.UserJWT(func() (string, error) { return d.token, nil }, d.pair.Sign),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { d.errs <- err }))...)
}

func start(t *testing.T) (*Node, *credentials.Authority) {
	t.Helper()
	a := must.Get(credentials.New(site))(t)
	a = must.Get(credentials.Parse(must.Get(a.Encode())(t)))(t) // a stored one works too
	n := must.Get(Start(Config{Name: "r1", Dir: t.TempDir(), Host: "127.0.0.1"}, a))(t)
	t.Cleanup(n.Close)
	return n, a
}

// TestRights: a user can only receive and request their own data.
func TestRights(t *testing.T) {
	n, a := start(t)
	js := must.Get(jetstream.New(n.Conn))(t)
	bucket := must.Get(js.CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "users", Storage: jetstream.MemoryStorage}))(t)
	must.Get(bucket.Put(t.Context(), "bob", []byte("secret")))(t)
	answers := must.Get(n.Conn.Subscribe("wiebelt.>", func(m *nats.Msg) { _ = m.Respond([]byte("secret")) }))(t)
	defer func() { _ = answers.Unsubscribe() }()

	// A name that is a prefix of another is the hardest case.
	anna := newDesk(t, a, "anna")
	c := must.Get(anna.connect(n.server.ClientURL()))(t)
	defer c.Close()
	own := make(chan *nats.Msg, 16)
	for _, s := range []string{site.UserSubject(wire.TopicCalls, "anna"), site.StateSubject()} {
		must.Get(c.ChanSubscribe(s, own))(t)
	}
	for _, topic := range wire.Topics[1:] {
		if m, err := c.Request(site.UserSubject(topic, "anna"), nil, 10*time.Second); err != nil || string(m.Data) != "secret" {
			t.Errorf("%s: %v", topic, err)
		}
	}

	stolen := make(chan *nats.Msg, 1024)
	var tried []string
	for _, other := range []wire.User{"bob", "anna.b", "ann", "anna-b"} {
		for _, topic := range wire.Topics {
			tried = append(tried, site.UserSubject(topic, other))
		}
		tried = append(tried, wire.Inbox(other)+".>", wire.Inbox(other)+".x.1")
	}
	for _, topic := range wire.Topics {
		tried = append(tried, site.AllUsersSubject(topic), string("wiebelt.*."+topic+".anna"), string("wiebelt.kantoor."+topic+".>"))
	}
	tried = append(tried, ">", "*", "wiebelt.>", "wiebelt.kantoor.>", "wiebelt.*.*.*", site.ReportSubject(), "_INBOX.>", "_INBOX.*.>", "_INBOX.anna", "_INBOX.an*.>",
		"$KV.users.>", "$KV.users.bob", "$KV.>", "$JS.>", "$JS.API.>", "$JS.EVENT.>", "$JS.ACK.>", "$SYS.>", "$SYS.ACCOUNT.>", "$SYS.REQ.>", "$O.>",
		"wiebelt.kantoor.calls", "wiebelt.kantoor.calls.anna.>", "wiebelt.other.calls.anna", "wiebelt.kantoor.calls.*anna")
	for _, s := range tried {
		if _, err := c.ChanSubscribe(s, stolen); err != nil && !errors.Is(err, nats.ErrBadSubject) {
			t.Fatal(s, err)
		}
	}
	asked := slices.Concat(tried, []string{"$JS.API.INFO", "$JS.API.STREAM.LIST", "$JS.API.STREAM.NAMES", "$JS.API.STREAM.INFO.KV_users", "$JS.API.STREAM.MSG.GET.KV_users",
		"$JS.API.DIRECT.GET.KV_users", "$JS.API.DIRECT.GET.KV_users.$KV.users.bob", "$JS.API.CONSUMER.CREATE.KV_users", "$JS.API.STREAM.PURGE.KV_users",
		"$JS.API.STREAM.DELETE.KV_users", "$SYS.REQ.SERVER.PING", "$SYS.REQ.USER.INFO", "$SYS.REQ.ACCOUNT.PING.CONNZ", site.UserSubject(wire.TopicCalls, "anna"), site.StateSubject()})
	for _, s := range asked {
		_ = c.PublishRequest(s, wire.Inbox("anna")+".stolen", []byte("{}"))
	}
	must.Get(c.ChanSubscribe(wire.Inbox("anna")+".stolen", stolen))(t)
	must.Do(t, c.Flush())
	for _, s := range []string{site.UserSubject(wire.TopicCalls, "bob"), site.UserSubject(wire.TopicCalls, "anna.b"), wire.Inbox("bob") + ".x.1", wire.Inbox("anna.b") + ".x.1"} {
		must.Do(t, n.Conn.Publish(s, []byte("secret")))
	}
	must.Do(t, n.Conn.Publish(site.UserSubject(wire.TopicCalls, "anna"), []byte("hers")), n.Conn.Flush(), c.Flush())
	if m := <-own; string(m.Data) != "hers" {
		t.Errorf("her own calls: %s", m.Data)
	}
	if len(tried)+len(asked) < 60 {
		t.Errorf("only %d subjects", len(tried)+len(asked))
	}
	for len(stolen) > 0 {
		if m := <-stolen; m.Header.Get("Status") != "503" {
			t.Errorf("on %s: %.60q", m.Subject, m.Data)
		}
	}
	if v, err := bucket.Get(t.Context(), "bob"); err != nil || string(v.Value()) != "secret" {
		t.Errorf("the bucket: %v", err)
	}
}

// TestPublisher: a program that reports calls may do only that.
func TestPublisher(t *testing.T) {
	n, a := start(t)
	heard := make(chan *nats.Msg, 1024)
	all := must.Get(n.Conn.ChanSubscribe(">", heard))(t)
	defer func() { _ = all.Unsubscribe() }()
	creds, _, err := a.PublisherCreds("kamailio")
	must.Do(t, err)
	c := must.Get(nats.Connect(n.server.ClientURL(), nats.NoReconnect(), nats.UserCredentialBytes(creds),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {})))(t)
	defer c.Close()
	stolen := make(chan *nats.Msg, 1024)
	subjects := []string{">", "*", "wiebelt.>", site.ReportSubject(), site.ReportSubject() + ".x", site.StateSubject(), "_INBOX.>", "_INBOX.kamailio.x", "wiebelt.other.in", "$JS.API.INFO", "$JS.API.STREAM.NAMES",
		"$JS.API.STREAM.DELETE.KV_users", "$JS.API.DIRECT.GET.KV_users.$KV.users.bob", "$KV.users.bob", "$KV.leases.x", "$SYS.REQ.USER.INFO", "$SYS.REQ.SERVER.PING"}
	for _, topic := range wire.Topics {
		subjects = append(subjects, site.UserSubject(topic, "anna"), site.UserSubject(topic, "kamailio"), site.AllUsersSubject(topic))
	}
	for _, s := range subjects {
		if _, err := c.ChanSubscribe(s, stolen); err != nil && !errors.Is(err, nats.ErrBadSubject) {
			t.Fatal(s, err)
		}
		if s != site.ReportSubject() {
			_ = c.PublishRequest(s, "_INBOX.kamailio.x", []byte("odd"))
		}
	}
	must.Do(t, c.Publish(site.ReportSubject(), []byte("report")), c.Flush(), n.Conn.Publish(site.StateSubject(), []byte("state")), n.Conn.Flush(), c.Flush())
	for m := (*nats.Msg)(nil); m == nil || string(m.Data) != "state"; {
		if m = <-heard; m.Subject != site.ReportSubject() && string(m.Data) != "state" {
			t.Errorf("it may publish on %s", m.Subject)
		}
	}
	for len(stolen) > 0 {
		t.Errorf("it hears %s", (<-stolen).Subject)
	}
}

// TestRevoke: a revoked user is disconnected and stays out, even with a token issued by a
// clock an hour ahead; a new token for a new key works again, and others notice nothing.
func TestRevoke(t *testing.T) {
	n, a := start(t)
	anna, bob := newDesk(t, a, "anna"), newDesk(t, a, "bob")
	ca := must.Get(anna.connect(n.server.ClientURL()))(t)
	cb := must.Get(bob.connect(n.server.ClientURL()))(t)
	defer cb.Close()
	out := ca.StatusChanged(nats.CLOSED)
	must.Do(t, n.Revoke(map[string]time.Time{anna.public: time.Now().Add(-time.Hour)}))
	<-out
	if _, err := anna.connect(n.server.ClientURL()); err == nil {
		t.Error("she is let in again")
	}
	if err := cb.Flush(); err != nil {
		t.Errorf("bob: %v", err)
	}
	if _, err := newDesk(t, a, "anna").connect(n.server.ClientURL()); err != nil {
		t.Errorf("with a new key: %v", err)
	}
}

// TestRevokedWhileConnecting: a user admitted at the moment their key was revoked, whom the
// server has therefore not disconnected, is disconnected a little later.
func TestRevokedWhileConnecting(t *testing.T) {
	n, a := start(t)
	anna := newDesk(t, a, "anna")
	must.Do(t, n.Revoke(map[string]time.Time{anna.public: time.Now()}))
	out := func() chan nats.Status {
		n.mu.Lock() // blocks everything else meanwhile
		defer n.mu.Unlock()
		before := must.Get(a.Server())(t)
		n.server.UpdateAccountClaims(must.Get(n.server.LookupAccount(n.account))(t), before.AccountClaims)
		return must.Get(anna.connect(n.server.ClientURL()))(t).StatusChanged(nats.CLOSED)
	}()
	<-out
	if _, err := anna.connect(n.server.ClientURL()); err == nil {
		t.Error("she is let in again")
	}
}

// TestTokens: tokens of another site, for another key, or expired are
// refused, and so are invalid public keys.
func TestTokens(t *testing.T) {
	n, a := start(t)
	foreign := must.Get(credentials.New(site))(t)
	expired := newDesk(t, a, "anna")
	expired.token = must.Get(a.UserToken("anna", expired.public, time.Now().Add(-time.Minute)))(t)
	for name, d := range map[string]*desk{"of another site": newDesk(t, foreign, "anna"), "expired": expired} {
		if _, err := d.connect(n.server.ClientURL()); err == nil {
			t.Errorf("%s: let in", name)
		}
	}
	mine, theirs := newDesk(t, a, "anna"), newDesk(t, a, "bob")
	mine.token = theirs.token
	if _, err := mine.connect(n.server.ClientURL()); err == nil {
		t.Error("with a token for another key")
	}
	for _, key := range []string{"", "anna", n.server.ID()} {
		if _, err := a.UserToken("anna", key, time.Now().Add(time.Hour)); err == nil {
			t.Errorf("a token for %q", key)
		}
	}
}

// TestIsCaughtUp: a member of a cluster is not current, and so cannot lead, until the others
// have sent it everything, even if it lost its data; a single relay always is.
func TestIsCaughtUp(t *testing.T) {
	alone, a := start(t)
	if !alone.IsCaughtUp() {
		t.Error("alone, and not current")
	}
	one := must.Get(Start(Config{Name: "r1", Dir: t.TempDir(), Host: "127.0.0.1", Cluster: &Cluster{Name: string(site), Port: server.RANDOM_PORT, Hosts: []string{"127.0.0.1", "127.0.0.2", "127.0.0.3"}}}, a))(t)
	defer one.Close()
	if one.IsCaughtUp() {
		t.Error("current without the others")
	}
}

// TestManyRevoked: a relay with more revoked keys than fit in a token
// starts, and enforces them.
func TestManyRevoked(t *testing.T) {
	a := must.Get(credentials.New(site))(t)
	revoked := map[string]time.Time{}
	for i := range 12_000 {
		var seed [32]byte
		binary.BigEndian.PutUint32(seed[:], uint32(i))
		pair := must.Get(nkeys.FromRawSeed(nkeys.PrefixByteUser, seed[:]))(t)
		revoked[must.Get(pair.PublicKey())(t)] = time.Now()
	}
	gone, stays := newDesk(t, a, "anna"), newDesk(t, a, "bram")
	revoked[gone.public] = time.Now()
	n := must.Get(Start(Config{Name: "r1", Dir: t.TempDir(), Host: "127.0.0.1", Revoked: revoked}, a))(t)
	defer n.Close()
	if _, err := gone.connect(n.server.ClientURL()); err == nil {
		t.Error("a revoked key connects")
	}
	c := must.Get(stays.connect(n.server.ClientURL()))(t)
	c.Close()
}

// TestMuchAtOnce: a relay that watches a large bucket receives all of it, and is not
// taken for a slow consumer.
func TestMuchAtOnce(t *testing.T) {
	n, _ := start(t)
	kv := must.Get(must.Get(jetstream.New(n.Conn))(t).CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "large", Storage: jetstream.MemoryStorage}))(t)
	const size, keys = 100 << 10, 80
	for i := range keys {
		must.Get(kv.Put(t.Context(), fmt.Sprint(i), make([]byte, size)))(t)
	}
	w := must.Get(kv.WatchAll(t.Context()))(t)
	got := 0
	for range w.Updates() {
		if got++; got == keys {
			break
		}
	}
	if again := n.Conn.Stats().Reconnects; again != 0 {
		t.Errorf("connected anew %d times", again)
	}
	must.Do(t, w.Stop())
}

// idle is a connection that reads until told to stop.
type idle struct {
	net.Conn
	stop, over chan struct{}
}

func (c idle) Dial(network, address string) (net.Conn, error) {
	conn, err := net.Dial(network, address)
	c.Conn = conn
	return c, err
}

func (c idle) Read(b []byte) (int, error) {
	select {
	case <-c.stop:
		<-c.over
		return 0, net.ErrClosed
	default:
		return c.Conn.Read(b)
	}
}

// TestDeskThatDoesNotRead checks that such a desk is disconnected long before a
// relay buffers its maximum for it.
func TestDeskThatDoesNotRead(t *testing.T) {
	n, a := start(t)
	line := idle{stop: make(chan struct{}), over: make(chan struct{})}
	c := must.Get(newDesk(t, a, "anna").connect(n.server.ClientURL(), nats.SetCustomDialer(line)))(t)
	defer c.Close()
	defer close(line.over)
	calls := site.UserSubject(wire.TopicCalls, "anna")
	must.Get(c.Subscribe(calls, func(*nats.Msg) {}))(t)
	must.Do(t, c.Flush())
	close(line.stop)
	before, sent := n.server.NumClients(), 0
	must.Soon(t, func() (bool, any) {
		sent += 100 << 10
		must.Do(t, n.Conn.Publish(calls, make([]byte, 100<<10)), n.Conn.Flush())
		return n.server.NumClients() < before, before
	})
	if sent > maxPending/2 {
		t.Errorf("cut off after %d MB", sent>>20)
	}
}
