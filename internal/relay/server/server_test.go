package server

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

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
	rules := phone.DefaultRules()
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
func (o *office) desk(e users.Entry) *linktest.Watch {
	t := o.t
	t.Helper()
	stored, err := relaylink.Join(t.Context(), o.at.Web, o.invite(e), o.Authority.Fingerprint())
	if err != nil || len(stored) > secret.MaxLength {
		t.Fatalf("%d bytes, %v", len(stored), err)
	}
	o.stored[e.User] = stored
	return o.link(e.User).Connected()
}

// key returns the public key with which a user has joined.
func (o *office) key(u wire.User) string {
	o.t.Helper()
	e, _, err := o.users.Load().Find(o.t.Context(), u)
	must.Do(o.t, err)
	return e.Keys[0].Public
}

// link links a user's computer to the relay, with what it joined with.
func (o *office) link(u wire.User) *linktest.Watch {
	o.t.Helper()
	return linktest.Run(o.t, must.Get(relaylink.New(exchangelink.Account{Address: o.at.Web, Secret: linktest.Secret(o.stored[u])}))(o.t))
}

// states follows the states that the relay publishes; until waits for one.
func (o *office) states() (until func(ok func(wire.State) bool)) {
	o.t.Helper()
	told := must.Get(o.node.Conn.SubscribeSync(o.Keys.Site.StateSubject()))(o.t)
	return func(ok func(wire.State) bool) {
		o.t.Helper()
		for {
			m := must.Get(told.NextMsg(must.Patience))(o.t)
			if s, err := wire.ParseState(m.Data); err == nil && ok(s) {
				return
			}
		}
	}
}

// TestOffice: an exchange's report rings only at those it names. If it only names a queue, it rings
// at the queue's members, and its end is the end for all.
func TestOffice(t *testing.T) {
	o := start(t)
	anna := o.desk(users.Entry{User: "anna", Name: "Anna de Boer", Extensions: []string{"101", "103"}})
	bob := o.desk(users.Entry{User: "bob", Extensions: []string{"102"}, Queues: []string{"Leven"}})
	say := func(body string) { t.Helper(); o.report("", body) }
	say(`{"event":"call","id":"7","state":"ringing","number":"0698760011","name":"J. de Vries","extension":101,"queue":"Schade","weather":[1]}`)
	anna.Expect("ringing incoming #7 0698760011 (J. de Vries)")
	say(`{"id":"7","state":"answered","extension":"101"}`)
	anna.Want(call.Answered)
	say(`{"id":"8","state":"ringing","number":"0698760012","extension":"999"}`)
	must.Do(t, o.node.Conn.Publish(o.Keys.Site.ReportSubject(),
		[]byte(`{"id":"9","state":"proceeding","number":"0698760013","extension":"102"}`)))
	bob.Expect("ringing incoming #9 0698760013")
	say(`{"id":"7","state":"ended"}`)
	anna.Want(call.Ended)
	if o.unmatched.Load() != 1 || len(bob.Events) > 0 {
		t.Errorf("%d for nobody; bob hears of %d more", o.unmatched.Load(), len(bob.Events))
	}
	say(`{"id":"10","state":"ringing","number":"0698760014","queue":"Balie"}`)
	say(`{"id":"11","state":"ringing","number":"0698760014","queue":"LEVEN"}`)
	if e := bob.Next(); e.ID != "11" || e.Queue != "LEVEN" {
		t.Errorf("%+v", e)
	}
	say(`{"id":"11","state":"answered","extension":"101"}`)
	anna.Await(call.Answered)
	say(`{"id":"11","state":"ended","queue":"LEVEN"}`)
	anna.Await(call.Ended)
	bob.Await(call.Ended)
	if o.unmatched.Load() != 2 {
		t.Errorf("%d for nobody", o.unmatched.Load())
	}
	say(`{"id":"12","state":"ringing","number":"0698760015","extension":"101"}`)
	say(`{"id":"12","state":"ringing","number":"0698760015","extension":"103"}`)
	anna.Await(call.Ringing)
	say(`{"id":"12","state":"answered","extension":"103"}`)
	anna.Await(call.Answered)
	say(`{"id":"12","state":"ended","extension":"101"}`)
	say(`{"id":"12","state":"answered","extension":"103","name":"K. Bakker"}`)
	if e := anna.Next(); e.State != call.Answered || e.Name != "K. Bakker" {
		t.Errorf("her other phone stops ringing: %+v", e)
	}
	say(`{"id":"12","state":"ended","extension":"103"}`)
	anna.Await(call.Ended)
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

// TestLink: an exchange's report about an extension rings at its user; everybody receives the state
// of relay and link, and the status names the extensions that belong to nobody.
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
	says := o.states()
	anna := o.desk(users.Entry{User: "anna", Extensions: []string{"101"}})
	says(func(s wire.State) bool {
		return s.Relay == "r1" && s.Hub == "off" && len(s.Links) == 1 && s.Links[0].Name == "centrale" &&
			s.Links[0].State == link.Connected.String()
	})
	for _, extension := range []string{"109", "101"} {
		linktest.AtAsterisk(a, "1."+extension, extension, "0698760011", call.Ringing)
	}
	anna.Expect("ringing incoming #centrale/1.101 0698760011 on 101")
	if s := o.status(); !slices.Equal(s.UnknownExtensions, []string{"109"}) || s.Links[0].LastCallAt.IsZero() {
		t.Errorf("%+v", s)
	}
	_ = a.Close()
	says(func(s wire.State) bool { return len(s.Links) == 1 && s.Links[0].State == link.Waiting.String() })
	o.report("", `{"id":"8","state":"ringing","number":"0698760012","extension":"101","queue":"Schade","via":"Receptie"}`)
	e := anna.Next()
	for e.ID != "8" {
		e = anna.Next()
	}
	if e.Queue != "Schade" || e.Via != "Receptie" {
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
	port := other.Addr().(*net.TCPAddr).Port
	for _, s := range []setup.Settings{{NATSPort: port}, {ClusterPort: port, Cluster: map[string]string{"r1": "a"}}} {
		s.Host = "127.0.0.1"
		if _, err := (Config{Folder: &setup.Folder{Settings: s}}).node(nil, nil); err == nil || !strings.HasPrefix(err.Error(), at+": ") {
			t.Errorf("%+v: %v", s, err)
		}
	}
}
