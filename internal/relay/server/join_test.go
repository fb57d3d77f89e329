package server

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nkeys"

	"wiebelt/internal/relay/certificates"
	"wiebelt/internal/relay/credentials"
	"wiebelt/internal/relay/setup"
	"wiebelt/internal/relay/users"
	"wiebelt/internal/relay/wire"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/softphone/relaylink"
	"wiebelt/internal/softphone/webhook"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/natstest"
)

// barred blocks all addresses for a user's computer but the one at which it joined.
func (o *office) barred(u wire.User) {
	o.stored[u] = strings.Replace(o.stored[u], fmt.Sprintf(`:%d"`, o.node.Port()), `:1"`, 1)
}

// TestTunnel: a computer that only reaches HTTPS receives its user's calls, until the user is
// removed, but never through a relay with another certificate.
func TestTunnel(t *testing.T) {
	o := start(t)
	o.desk(users.Entry{User: "anna", Extensions: []string{"101"}})
	o.barred("anna")
	o.stored["eve"] = strings.Replace(o.stored["anna"], `"print":"`, `"print":"00`, 1)
	eve := o.link("eve")
	s := <-eve.States
	for s.Phase == link.Connecting {
		s = <-eve.States
	}
	if s.Phase != link.Waiting {
		t.Errorf("by another certificate: %+v", s)
	}
	web := o.at.Web
	o.at.Web = strings.Replace(web, "127.0.0.1", "127.0.0.9", 1)
	anna := o.link("anna")
	o.at.Web = web
	anna.Connected()
	o.report("", `{"id":"7","state":"ringing","number":"0698760011","extension":"101"}`)
	anna.Expect("ringing incoming #7 0698760011")
	must.Get(o.users.Load().Remove(t.Context(), "anna"))(t)
	if s := anna.Until(link.Refused); s.Cause != link.CauseDenied {
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

// TestRemoved: a removed user is disconnected at once, with the reason, and stays out when
// the relay restarts, even before it has loaded any user; others reconnect by themselves.
func TestRemoved(t *testing.T) {
	o := start(t)
	anna := o.desk(users.Entry{User: "anna", Extensions: []string{"101"}})
	bob := o.desk(users.Entry{User: "bob", Extensions: []string{"102"}})
	must.Get(o.users.Load().Remove(t.Context(), "anna"))(t)
	if s := anna.Until(link.Refused); s.Cause != link.CauseDenied {
		t.Errorf("%+v", s)
	}
	port := o.node.Port()
	o.end()
	o.config.Settings.NATSPort = port // the one that users know
	hosts := []string{"127.0.0.1"}
	n := must.Get(o.config.node(hosts, o.Authority.ServerTLS(hosts)))(t)
	o.link("anna").Until(link.Refused) // like after a restart of her computer
	n.Close()
	o.run()
	o.link("anna").Until(link.Refused)
	bob.Connected()
	o.report("", `{"id":"7","state":"ringing","number":"0698760011","extension":"102"}`)
	bob.Expect("ringing incoming #7 0698760011")
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

// TestReplacedComputer: the log names the key that is replaced when a user joins on one computer too
// many, if only somebody else can revoke it.
func TestReplacedComputer(t *testing.T) {
	_, js := natstest.Start(t, t.TempDir())
	directory := must.Get(users.Open(t.Context(), js, 1))(t)
	for u, urls := range map[wire.User][]string{"anna": {"tls://nats.example:4222"}, "bob": nil} {
		must.Do(t, directory.Put(t.Context(), users.Entry{User: u}))
		var log bytes.Buffer
		r := &relay{joins: newLimiter(wrongCodes), Config: Config{Log: slog.New(slog.NewTextHandler(&log, nil)), Folder: &setup.Folder{
			Settings: setup.Settings{NATS: setup.NATS{URLs: urls}}, Keys: must.Get(credentials.New("kantoor"))(t), Authority: must.Get(certificates.New("kantoor", time.Now()))(t)}}}
		r.users.Store(directory)
		var keys []string
		for range 10 {
			pair := must.Get(nkeys.CreateUser())(t)
			keys = append(keys, must.Get(pair.PublicKey())(t))
			body := fmt.Sprintf(`{"code":%q,"key":%q}`, must.Get(directory.Invite(t.Context(), u))(t), keys[len(keys)-1])
			r.handleJoin(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/join", strings.NewReader(body)))
		}
		var named []string
		for _, k := range keys {
			if strings.Contains(log.String(), k) {
				named = append(named, k)
			}
		}
		if want := keys[:2*len(urls)]; !slices.Equal(named, want) {
			t.Errorf("%s: %q, want %q: %s", u, named, want, log.String())
		}
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
			for j := range each {
				guess := fmt.Sprintf("%s-%04d", code[:14], i*each+j) // mostly right, but no real code has a 0
				q := httptest.NewRequest(http.MethodPost, "/join", strings.NewReader(fmt.Sprintf(`{"code":%q,"key":%q}`, guess, key)))
				q.RemoteAddr = fmt.Sprintf("192.0.2.%d:1", i)
				a := httptest.NewRecorder()
				o.handleJoin(a, q)
				answers <- fmt.Sprint(a.Code, " ", a.Body)
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
	if count["403 "] == 0 || count["403 "]+count["503 "] != computers*wrongCodes || count["429 "] != computers*(each-wrongCodes) {
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
