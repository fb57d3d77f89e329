package server

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"wiebelt/internal/config/secret"
	"wiebelt/internal/core/call"
	"wiebelt/internal/core/phone"
	"wiebelt/internal/relay/certificates"
	"wiebelt/internal/relay/credentials"
	"wiebelt/internal/relay/links"
	"wiebelt/internal/relay/setup"
	"wiebelt/internal/relay/users"
	"wiebelt/internal/relay/wire"
	"wiebelt/internal/simulate"
	"wiebelt/internal/softphone/ari"
	"wiebelt/internal/softphone/exchangelink"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/softphone/registry"
	"wiebelt/internal/softphone/relaylink"
	"wiebelt/internal/softphone/webhook"
	"wiebelt/internal/testutil/linktest"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/natstest"
	"wiebelt/internal/text"
)

// office is a running relay and its clients.
type office struct {
	*relay
	t      *testing.T
	config Config
	end    func()
	stored map[wire.User]string // what they joined with
	at     Ready
	secret string // webhook secret
	http   *http.Client
}

func start(t *testing.T, change ...func(*Config)) *office {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "relay")
	must.Do(t, setup.Create(dir, must.Get(credentials.New("kantoor"))(t), setup.Settings{Name: "r1", Host: "127.0.0.1", Admin: "127.0.0.1:0", PublicHosts: []string{"127.0.0.1"}}))
	folder := must.Get(setup.Load(dir))(t)
	secrets := must.Get(setup.LoadWebhookSecrets(dir))(t)
	rules := must.Get(phone.NewRules(phone.Config{Region: "NL"}))(t)
	c := Config{Folder: folder, Rules: rules, Log: slog.New(slog.DiscardHandler)}
	for _, f := range change {
		f(&c)
	}
	o := &office{t: t, config: c, stored: map[wire.User]string{}, secret: secrets.Current, http: &http.Client{Transport: &http.Transport{TLSClientConfig: certificates.PinnedTLS(folder.Authority.Fingerprint(), "127.0.0.1")}}}
	t.Cleanup(func() { o.http.CloseIdleConnections(); o.end() })
	o.run()
	return o
}

// run starts the relay, and end ends it; it can be restarted in the same folder.
func (o *office) run() {
	o.t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	ready, ended := make(chan *relay, 1), make(chan error, 1)
	go func() { ended <- run(ctx, o.config, func(r *relay, at Ready) { o.at = at; ready <- r }) }()
	select {
	case o.relay = <-ready:
	case err := <-ended:
		stop()
		o.end = func() {}
		o.t.Fatal(err)
	}
	o.end = sync.OnceFunc(func() {
		stop()
		if err := <-ended; err != nil {
			o.t.Error(err)
		}
	})
}

func (o *office) post(path, body string) (status int, answer []byte) {
	o.t.Helper()
	a := must.Get(o.http.Post(o.at.Web+path, "application/json", strings.NewReader(body)))(o.t)
	defer a.Body.Close()
	b := must.Get(io.ReadAll(a.Body))(o.t)
	return a.StatusCode, b
}

// report sends a message to the relay's address for plain reports, or one below it.
func (o *office) report(below, body string) {
	o.t.Helper()
	if status, answer := o.post("/in/"+o.secret+below, body); status != http.StatusNoContent || len(answer) > 0 {
		o.t.Errorf("%s: %d %q", body, status, answer)
	}
}

// add adds or changes a user, and waits until the relay knows.
func (o *office) add(e users.Entry) {
	o.t.Helper()
	must.Do(o.t, o.users.Load().Put(o.t.Context(), e))
	must.Soon(o.t, func() (bool, any) {
		table := o.table.Load()
		return table.Knows(e.User) && table.Label(e.User) == e.Label(), "nobody new"
	})
}

// invite is like add, and returns a code.
func (o *office) invite(e users.Entry) string {
	o.t.Helper()
	o.add(e)
	return must.Get(o.users.Load().Invite(o.t.Context(), e.User))(o.t)
}

// desk joins like a user's computer, and links to the relay.
func (o *office) desk(e users.Entry) (calls <-chan call.Event, states <-chan link.State) {
	t := o.t
	t.Helper()
	stored, err := relaylink.Join(t.Context(), o.at.Web, o.invite(e), o.Authority.Fingerprint())
	if err != nil || len(stored) > secret.MaxLength {
		t.Fatalf("%d bytes, %v", len(stored), err)
	}
	o.stored[e.User] = stored
	calls, states = o.link(e.User)
	wait(t, states, inPhase(link.Connected))
	return calls, states
}

// key returns the public key with which a user has joined.
func (o *office) key(u wire.User) string {
	o.t.Helper()
	e, _, err := o.users.Load().Find(o.t.Context(), u)
	must.Do(o.t, err)
	return e.Keys[0].Public
}

// link links a user's computer to the relay, with what it joined with.
func (o *office) link(u wire.User) (<-chan call.Event, <-chan link.State) {
	o.t.Helper()
	p := must.Get(relaylink.New(exchangelink.Account{Address: o.at.Web, Secret: linktest.Secret(o.stored[u])}))(o.t)
	w := linktest.Run(o.t, p)
	return w.Events, w.States
}

func wait[T any](t *testing.T, from <-chan T, ok func(T) bool) T {
	t.Helper()
	for {
		if v := must.Receive(t, from); ok(v) {
			return v
		}
	}
}

func next[T any](t *testing.T, from <-chan T) T {
	t.Helper()
	return must.Receive(t, from)
}

func is(state call.State) func(call.Event) bool {
	return func(e call.Event) bool { return e.State == state }
}

func inPhase(p link.Phase) func(link.State) bool {
	return func(s link.State) bool { return s.Phase == p }
}

// TestOffice: an exchange's report rings only at those it names, over TLS from the
// office's own authority. If it only names a queue, it rings at the queue's members, and
// its end is the end for all.
func TestOffice(t *testing.T) {
	o := start(t)
	anna, _ := o.desk(users.Entry{User: "anna", Name: "Anna de Boer", Extensions: []string{"101"}})
	bob, _ := o.desk(users.Entry{User: "bob", Extensions: []string{"102"}, Queues: []string{"Leven"}})
	say := func(body string) { t.Helper(); o.report("", body) }
	say(`{"event":"call","id":"7","state":"ringing","number":"0698760011","name":"J. de Vries","extension":101,"queue":"Schade","weather":[1]}`)
	if e := next(t, anna); e.Number != "0698760011" || e.Name != "J. de Vries" || e.State != call.Ringing {
		t.Errorf("%+v", e)
	}
	say(`{"id":"7","state":"answered","extension":"101"}`)
	if e := next(t, anna); e.State != call.Answered {
		t.Errorf("%+v", e)
	}
	say(`{"id":"8","state":"ringing","number":"0698760012","extension":"999"}`)
	must.Do(t, o.node.Conn.Publish(o.Keys.Site.ReportSubject(),
		[]byte(`{"id":"9","state":"proceeding","number":"0698760013","extension":"102"}`)))
	if e := next(t, bob); e.ID != "9" || e.State != call.Ringing {
		t.Errorf("%+v", e)
	}
	say(`{"id":"7","state":"ended"}`)
	if e := next(t, anna); e.State != call.Ended {
		t.Errorf("%+v", e)
	}
	if o.unmatched.Load() != 1 || len(bob) > 0 {
		t.Errorf("%d for nobody; bob hears of %d more", o.unmatched.Load(), len(bob))
	}
	say(`{"id":"10","state":"ringing","number":"0698760014","queue":"Balie"}`)
	say(`{"id":"11","state":"ringing","number":"0698760014","queue":"LEVEN"}`)
	if e := next(t, bob); e.ID != "11" || e.Queue != "LEVEN" {
		t.Errorf("%+v", e)
	}
	say(`{"id":"11","state":"answered","extension":"101"}`)
	wait(t, anna, is(call.Answered))
	say(`{"id":"11","state":"ended","queue":"LEVEN"}`)
	wait(t, anna, is(call.Ended))
	wait(t, bob, is(call.Ended))
	if o.unmatched.Load() != 2 {
		t.Errorf("%d for nobody", o.unmatched.Load())
	}
}

// TestStateOften: however often it changes, the relay rarely publishes its state.
func TestStateOften(t *testing.T) {
	o := start(t)
	said := make(chan *nats.Msg, 64)
	heard := must.Get(o.node.Conn.ChanSubscribe(o.Keys.Site.StateSubject(), said))(t)
	defer func() { _ = heard.Unsubscribe() }()
	var before time.Time
	for range 3 {
		var s wire.State
		for s.At.IsZero() {
			o.changed()
			select {
			case m := <-said:
				s = must.Get(wire.ParseState(m.Data))(t)
			case <-time.After(time.Millisecond):
			}
		}
		if gap := s.At.Sub(before); gap < minStateInterval {
			t.Errorf("said again after %v", gap)
		}
		before = s.At
	}
}

// TestWebhookSecrets: a secret is valid as soon as it is created, and guesses do not make the
// relay read its file again.
func TestWebhookSecrets(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, setup.RenewWebhookSecret(dir))
	first := must.Get(setup.LoadWebhookSecrets(dir))(t)
	var s webhookSecrets
	is := func(want setup.WebhookSecrets) {
		t.Helper()
		if got, err := s.current(dir); err != nil || got != want {
			t.Errorf("%+v, %v", got, err)
		}
	}
	is(first)
	file, written := filepath.Join(dir, "reports.json"), setup.WebhookSecretsWritten(dir)
	b := must.Get(os.ReadFile(file))(t)
	must.Do(t, os.WriteFile(file, []byte("?"), 0o600), os.Chtimes(file, written, written))
	is(first)
	must.Do(t, os.Chtimes(file, written, written.Add(time.Second)))
	if got, err := s.current(dir); err == nil || got != first {
		t.Errorf("%+v, %v: what cannot be read changes nothing, and is told", got, err)
	}
	is(first)
	must.Do(t, os.WriteFile(file, b, 0o600), setup.RenewWebhookSecret(dir))
	is(must.Get(setup.LoadWebhookSecrets(dir))(t))
}

// barred blocks all addresses for a user's computer but the one at which it joined.
func (o *office) barred(u wire.User) {
	o.stored[u] = strings.Replace(o.stored[u], fmt.Sprintf(`:%d"`, o.node.Port()), `:1"`, 1)
}

// TestTunnel: a computer that only reaches HTTPS receives its user's calls, until the user
// is removed; even if the relay at which it joined is gone, but never through a relay with
// a certificate other than the one it joined with.
func TestTunnel(t *testing.T) {
	o := start(t)
	o.desk(users.Entry{User: "anna", Extensions: []string{"101"}})
	o.barred("anna")
	o.stored["eve"] = strings.Replace(o.stored["anna"], `"print":"`, `"print":"00`, 1)
	_, states := o.link("eve")
	if s := wait(t, states, func(s link.State) bool { return s.Phase != link.Connecting }); s.Phase != link.Waiting {
		t.Errorf("by another certificate: %+v", s)
	}
	web := o.at.Web
	o.at.Web = strings.Replace(web, "127.0.0.1", "127.0.0.9", 1)
	anna, states := o.link("anna")
	o.at.Web = web
	wait(t, states, inPhase(link.Connected))
	o.report("", `{"id":"7","state":"ringing","number":"0698760011","extension":"101"}`)
	if e := next(t, anna); e.ID != "7" {
		t.Errorf("%+v", e)
	}
	must.Do(t, o.users.Load().Remove(t.Context(), "anna"))
	if s := wait(t, states, inPhase(link.Refused)); s.Cause != link.CauseDenied {
		t.Errorf("%+v", s)
	}
}

// TestTunnelEnds: a client that opens a tunnel and then sends nothing is disconnected.
func TestTunnelEnds(t *testing.T) {
	o := start(t)
	raw := must.Get(net.Dial("tcp", strings.TrimPrefix(o.at.Web, "https://")))(t)
	defer raw.Close()
	must.Do(t, raw.SetDeadline(time.Now().Add(time.Minute)))
	c := tls.Client(raw, certificates.PinnedTLS(o.Authority.Fingerprint(), "127.0.0.1"))
	must.Get(io.WriteString(c, "GET "+wire.Tunnel+" HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"))(t)
	b, err := io.ReadAll(c)
	if err != nil || !strings.HasPrefix(string(b), "HTTP/1.1 101 ") || !strings.Contains(string(b), "Authentication") {
		t.Errorf("%q, %v", b, err)
	}
	if n, err := raw.Read(make([]byte, 1)); err != io.EOF { // below TLS
		t.Errorf("the connection stays: %d, %v", n, err)
	}
}

// TestLink: an exchange's report about an extension rings at its user, with the queue
// through which the call came; everybody receives the state of relay and link, and the
// status names the extensions that belong to nobody.
func TestLink(t *testing.T) {
	a := must.Get(simulate.StartARI(t.Context(), "", linktest.Known))(t)
	t.Cleanup(func() { _ = a.Close() })
	o := start(t, func(c *Config) {
		c.Links = []links.Link{{Name: "centrale", Kind: registry.ARI, Identity: 1, Open: func(hears func(string) bool) (link.Phone, error) {
			account := linktest.Account(a.Address())
			account.Extension, account.HasExtension = "", hears
			return ari.New(account)
		}}}
	})
	told := must.Get(o.node.Conn.SubscribeSync(o.Keys.Site.StateSubject()))(t)
	says := func(ok func(wire.State) bool) {
		t.Helper()
		for {
			m := must.Get(told.NextMsg(time.Minute))(t)
			s, err := wire.ParseState(m.Data)
			if err != nil || s.Relay != "r1" || s.Hub != "off" {
				t.Fatalf("%s, %v", m.Data, err)
			}
			if ok(s) {
				return
			}
		}
	}
	anna, _ := o.desk(users.Entry{User: "anna", Extensions: []string{"101"}})
	says(func(s wire.State) bool {
		return len(s.Links) == 1 && s.Links[0].Name == "centrale" && s.Links[0].State == link.Connected.String()
	})
	for _, extension := range []string{"109", "101"} {
		a.Send(`{"type":"ChannelStateChange","channel":{"id":"1.` + extension + `","name":"PJSIP/` + extension + `-00000001","state":"Ringing","connected":{"number":"0698760011"}}}`)
	}
	if e := next(t, anna); e.ID != "centrale/1.101" || e.Number != "0698760011" {
		t.Errorf("%+v", e)
	}
	if s := o.status(); !slices.Equal(s.UnknownExtensions, []string{"109"}) || s.Links[0].LastCallAt.IsZero() {
		t.Errorf("%+v", s)
	}
	_ = a.Close()
	says(func(s wire.State) bool { return len(s.Links) == 1 && s.Links[0].State == link.Waiting.String() })
	o.report("", `{"id":"8","state":"ringing","number":"0698760012","extension":"101","queue":"Schade","via":"Receptie"}`)
	if e := wait(t, anna, func(e call.Event) bool { return e.ID == "8" }); e.Queue != "Schade" || e.Via != "Receptie" {
		t.Errorf("%+v", e)
	}
}

// TestRemoved: a removed user is disconnected at once, with the reason, and stays out when
// the relay restarts, even before it has loaded any user; others reconnect by themselves.
func TestRemoved(t *testing.T) {
	o := start(t)
	_, states := o.desk(users.Entry{User: "anna", Extensions: []string{"101"}})
	bob, others := o.desk(users.Entry{User: "bob", Extensions: []string{"102"}})
	must.Do(t, o.users.Load().Remove(t.Context(), "anna"))
	if s := wait(t, states, inPhase(link.Refused)); s.Cause != link.CauseDenied {
		t.Errorf("%+v", s)
	}
	port := o.node.Port()
	o.end()
	o.config.Settings.NATSPort = port // the one that users know
	hosts := []string{"127.0.0.1"}
	n := must.Get(o.config.node(hosts, o.Authority.ServerTLS(hosts)))(t)
	_, again := o.link("anna") // like after a restart of her computer
	wait(t, again, inPhase(link.Refused))
	n.Close()
	o.run()
	_, again = o.link("anna")
	wait(t, again, inPhase(link.Refused))
	wait(t, others, inPhase(link.Connected))
	o.report("", `{"id":"7","state":"ringing","number":"0698760011","extension":"102"}`)
	if e := next(t, bob); e.ID != "7" {
		t.Errorf("%+v", e)
	}
}

// TestAnswersTheAsker: although a client chooses where its answer goes, and a relay may
// publish everywhere, answers only go to the client's own inbox.
func TestAnswersTheAsker(t *testing.T) {
	o := start(t)
	o.add(users.Entry{User: "anna"})
	elsewhere := make(chan *nats.Msg, 64)
	for _, to := range []string{o.Keys.Site.UserSubject(wire.TopicCalls, "bob"), "$KV.users.bob", "$JS.API.STREAM.DELETE.KV_users", wire.Inbox("bob") + ".x", wire.Inbox("anna"), wire.Inbox("anna.b") + ".x"} {
		must.Get(o.node.Conn.ChanSubscribe(to, elsewhere))(t)
		for _, topic := range wire.Topics[1:] {
			must.Do(t, o.node.Conn.PublishRequest(o.Keys.Site.UserSubject(topic, "anna"), to, []byte(`{"number":"0698760011"}`)))
		}
	}
	for _, topic := range wire.Topics[1:] { // answered after the earlier ones
		must.Get(natstest.Ask(o.node.Conn, o.Keys.Site.UserSubject(topic, "anna"), []byte(`{"number":"0698760011"}`)))(t)
	}
	if n := len(elsewhere); n > 0 {
		t.Errorf("%d answers went elsewhere, one to %s", n, (<-elsewhere).Subject)
	}
}

// TestRenew: users only get a token for their own computers.
func TestRenew(t *testing.T) {
	o := start(t)
	o.desk(users.Entry{User: "anna", Extensions: []string{"101"}})
	o.desk(users.Entry{User: "bob", Extensions: []string{"102"}})
	ask := func(u wire.User, key string) wire.RenewAnswer {
		t.Helper()
		b, _ := json.Marshal(wire.RenewRequest{Key: key})
		var r wire.RenewAnswer
		must.Do(t, json.Unmarshal(must.Get(natstest.Ask(o.node.Conn, o.Keys.Site.UserSubject(wire.TopicRenew, u), b))(t), &r))
		return r
	}
	anna, bob := o.key("anna"), o.key("bob")
	for ask("anna", anna).Token == "" { // the table lags behind the bucket
	}
	if ask("anna", bob).Token != "" || ask("carla", anna).Token != "" || ask("anna", "").Token != "" {
		t.Error("a token for somebody else's key")
	}
}

// TestStrangers: anything but a report or a code is refused, without details, and counted.
func TestStrangers(t *testing.T) {
	o := start(t)
	long := `{"id":"` + strings.Repeat("x", webhook.MaxBody) + `"}`
	for body, want := range map[string]int{
		"": 400, "[]": 400, "{}": 400, `{"id":{}}`: 400,
		long: 413, `{"id":"1","state":null}`: 204,
	} {
		if got, answer := o.post("/in/"+o.secret, body); got != want || len(answer) > 0 {
			t.Errorf("%.40q: %d %q, want %d", body, got, answer, want)
		}
	}
	must.Do(t, o.node.Conn.Publish(o.Keys.Site.ReportSubject(), []byte("ringing")))
	must.Soon(t, func() (bool, any) { return o.status().Dropped >= 6, o.status() })
	for _, path := range []string{"/in/" + o.secret[1:], "/in/", "/in/x/" + o.secret, "/in/" + o.secret + "/nothing", "/in/x/voipgrid", "/", "/healthz"} {
		if got, _ := o.post(path, `{"id":"1"}`); got != http.StatusNotFound {
			t.Errorf("%s: %d", path, got)
		}
	}
	if got, _ := o.post("/join", `{"code":"2222-2222-2222-2222","key":"me"}`); got != http.StatusBadRequest {
		t.Errorf("no key: %d", got)
	}
}

// TestGuesses: none of a thousand codes guessed by a hundred computers is
// accepted; a computer that guesses more often than people mistype has to wait,
// but the user with the real code does not.
func TestGuesses(t *testing.T) {
	const computers, each = 100, 10
	o := start(t)
	code := o.invite(users.Entry{User: "anna"})
	pair := must.Get(nkeys.CreateUser())(t)
	key, _ := pair.PublicKey()
	var guessing sync.WaitGroup
	answers := make(chan string, computers*each)
	for i := range computers {
		guessing.Go(func() {
			from := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 1, 0, byte(1+i))}}
			client := http.Client{Transport: &http.Transport{DialContext: from.DialContext, TLSClientConfig: certificates.PinnedTLS(o.Authority.Fingerprint(), "127.0.0.1")}}
			defer client.CloseIdleConnections()
			for j := range each {
				guess := fmt.Sprintf("%s-%04d", code[:14], i*each+j) // mostly right, but no real code has a 0
				a, err := client.Post(o.at.Web+"/join", "application/json", strings.NewReader(fmt.Sprintf(`{"code":%q,"key":%q}`, guess, key)))
				if err != nil {
					t.Error(err)
					continue
				}
				b, err := io.ReadAll(a.Body)
				_ = a.Body.Close()
				answers <- fmt.Sprint(a.StatusCode, " ", string(b), err)
			}
		})
	}
	guessing.Wait()
	close(answers)
	count := map[string]int{}
	for a := range answers {
		count[a]++
	}
	// With a hundred at once, a busy server may not decide in time, and then answers 503.
	if count["403 <nil>"] == 0 || count["403 <nil>"]+count["503 <nil>"] != computers*wrongCodes || count["429 <nil>"] != computers*(each-wrongCodes) {
		t.Errorf("answers: %v", count)
	}
	if _, n := o.table.Load().Count(); n != 0 {
		t.Errorf("%d have joined", n)
	}
	must.Get(relaylink.Join(t.Context(), o.at.Web, code, o.Authority.Fingerprint()))(t)
}

// TestLimiter: attempts are limited per address, and only for a while.
func TestLimiter(t *testing.T) {
	at := time.Now()
	l := newLimiter(2)
	for _, step := range []struct {
		from  string
		after time.Duration
		ok    bool
	}{{"a", 0, true}, {"a", 1, true}, {"a", 2, false}, {"b", 2, true}, {"a", time.Minute, true}, {"a", time.Minute, false}, {"a", 3 * time.Minute, true}} {
		if got := l.try(step.from, at.Add(step.after)); got != step.ok {
			t.Errorf("%+v: %v", step, got)
		}
	}
	for i := range maxAddresses + 10 {
		l.try(fmt.Sprint(i), at.Add(4*time.Minute))
	}
	if len(l.tried) > maxAddresses || l.try("new", at.Add(4*time.Minute)) || !l.try("new", at.Add(6*time.Minute)) {
		t.Errorf("%d addresses", len(l.tried))
	}
}

// TestNamed: only short ones of the extensions without a user are named.
func TestNamed(t *testing.T) {
	var s unknownExtensions
	for _, at := range []string{"109", "0698760011", "+31698760011", "612345", "", "12345", "j.de.vries", "\u0661\u0662", "109"} {
		s.note(at)
	}
	if got := s.without(users.NewTable(nil, nil)); !slices.Equal(got, []string{"109", "12345"}) {
		t.Errorf("%q", got)
	}
}

// TestPortTaken: if another program uses a relay's port, the error names that port.
func TestPortTaken(t *testing.T) {
	other := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer other.Close()
	at := other.Addr().String()
	_, err := listen(at)
	if said := text.Dutch.Error(err); said != at+": "+text.Dutch.T(text.ErrorPort) {
		t.Errorf("%q", said)
	}
}
