package relaylink

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"

	"wiebelt/internal/core/call"
	"wiebelt/internal/core/contact"
	"wiebelt/internal/relay/calls"
	"wiebelt/internal/relay/credentials"
	"wiebelt/internal/relay/node"
	"wiebelt/internal/relay/wire"
	"wiebelt/internal/softphone/exchangelink"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/softphone/registry"
	"wiebelt/internal/testutil/linktest"
	"wiebelt/internal/testutil/must"
)

const site wire.Site = "kantoor"

// relay is a relay that can stop and come back at the same address.
type relay struct {
	t         *testing.T
	authority *credentials.Authority
	dir       string
	port      int
	node      *node.Node
	bucket    *calls.Bucket
	end       func()
}

func newRelay(t *testing.T) *relay {
	t.Helper()
	a := must.Get(credentials.New(site))(t)
	r := &relay{t: t, authority: a, dir: t.TempDir()}
	r.start()
	t.Cleanup(func() { r.end() })
	return r
}

func (r *relay) start() {
	r.t.Helper()
	n := must.Get(node.Start(node.Config{Name: "r1", Dir: r.dir, Host: "127.0.0.1", Port: r.port}, r.authority))(r.t)
	js := must.Get(jetstream.New(n.Conn))(r.t)
	r.node, r.port = n, n.Port()
	r.bucket = must.Get(calls.Open(context.Background(), js, 1))(r.t)
	f := calls.NewFeed(r.bucket, n.Conn, site, "r1", slog.New(slog.DiscardHandler))
	stop := must.Run(r.t, func(ctx context.Context) { _ = f.Run(ctx) })
	r.end = sync.OnceFunc(func() { stop(); n.Close() })
}

func (r *relay) url() string { return fmt.Sprintf("nats://127.0.0.1:%d", r.node.Port()) }

func (r *relay) tell(id string, s call.State, at time.Time) {
	r.t.Helper()
	e := call.Event{ID: id, State: s, Number: "0698760011", At: at}
	must.Do(r.t, r.bucket.Store(r.t.Context(), calls.Report{Event: e, Users: []wire.User{"anna"}}))
}

// publish sends the user a snapshot.
func (r *relay) publish(s wire.Snapshot) {
	r.t.Helper()
	must.Do(r.t, r.node.Conn.Publish(site.UserSubject(wire.TopicCalls, "anna"), s.Encode()))
}

// answer answers the user's requests until the returned function is called.
func (r *relay) answer(about wire.Topic, do nats.MsgHandler) (stop func() error) {
	r.t.Helper()
	s := must.Get(r.node.Conn.Subscribe(site.UserSubject(about, "anna"), do))(r.t)
	must.Do(r.t, r.node.Conn.Flush())
	return s.Unsubscribe
}

// desk is a Wiebelt that has joined.
type desk struct {
	*linktest.Watch // once running
	t               *testing.T
	public          string
	phone           *Phone
	kept            chan string
	stored          atomic.Pointer[string] // stored membership
	save            MissedSaver
	silence         time.Duration // instead of the default
}

// address is where the user supposedly joined.
const address = "https://relay.kantoor.example"

func newDesk(t *testing.T, r *relay) *desk {
	t.Helper()
	return newDeskUntil(t, r, time.Now().Add(90*24*time.Hour))
}

// connected returns a running, connected desk.
func connected(t *testing.T, r *relay) *desk {
	t.Helper()
	d := newDesk(t, r)
	d.run()
	d.Until(link.Connected)
	return d
}

func newDeskUntil(t *testing.T, r *relay, until time.Time) *desk {
	t.Helper()
	pair := must.Get(nkeys.CreateUser())(t)
	d := &desk{t: t, kept: make(chan string, 64)}
	d.public = must.Get(pair.PublicKey())(t)
	token := must.Get(r.authority.UserToken("anna", d.public, until))(t)
	seed := must.Get(pair.Seed())(t)
	stored := membership{Joined: wire.Joined{V: 1, Site: site, User: "anna", URLs: []string{r.url()}, Token: token}, Seed: string(seed)}.encode()
	d.stored.Store(&stored)
	return d
}

func (d *desk) run() {
	d.t.Helper()
	p := must.Get(New(exchangelink.Account{Address: address, Secret: func(context.Context) (string, error) { return *d.stored.Load(), nil },
		StoreSecret: func(_ context.Context, stored string) error { d.kept <- stored; return nil }}))(d.t)
	d.phone = p.(*Phone)
	d.phone.SaveMissed(d.save)
	d.phone.silence = cmp.Or(d.silence, d.phone.silence)
	d.Watch = linktest.Run(d.t, p)
}

func (d *desk) next(want string) call.Event {
	d.t.Helper()
	e := d.Next()
	if got := fmt.Sprint(e.State, " ", e.ID); got != want || e.Source.Kind != registry.Relay || e.Source.ReportLevel != call.AllStates {
		d.t.Fatalf("%+v, want %s", e, want)
	}
	return e
}

// TestCalls: calls reach the desk once, and a desk that starts late receives
// a call with its age.
func TestCalls(t *testing.T) {
	r := newRelay(t)
	r.tell("wazo/1", call.Ringing, time.Now().Add(-40*time.Second))
	d := newDesk(t, r)
	d.run()
	e := d.next("ringing wazo/1")
	if age := time.Since(e.StateSince); age < 40*time.Second || age > 40*time.Second+time.Minute || e.Number != "0698760011" {
		t.Errorf("rings since %v: %+v", age, e)
	}
	r.tell("wazo/2", call.Ringing, time.Now())
	d.next("ringing wazo/2")
	r.tell("wazo/1", call.Answered, time.Now())
	d.next("answered wazo/1")
	r.tell("wazo/1", call.Ended, time.Now())
	if e := d.next("ended wazo/1"); e.Reason != call.Completed {
		t.Errorf("%+v", e)
	}
	at := time.Now()
	must.Do(t, r.bucket.Store(t.Context(), calls.Report{Event: call.Event{ID: "wazo/3", State: call.Ringing, Number: "0698760013", At: at}, Users: []wire.User{"anna"}},
		calls.Report{Event: call.Event{ID: "wazo/3", State: call.Ended, At: at.Add(time.Second)}, Users: []wire.User{"anna"}}))
	if e := d.next("ringing wazo/3"); e.Number != "0698760013" {
		t.Errorf("%+v", e)
	}
	d.next("ended wazo/3") // the call rang and ended between two snapshots
	must.Do(t, r.node.Conn.Publish(site.UserSubject(wire.TopicCalls, "anna"), []byte(`{"calls":7}`)),
		r.node.Conn.Publish(site.UserSubject(wire.TopicCalls, "anna"), wire.Snapshot{Epoch: 1, Seq: 1, At: time.Now()}.Encode()))
	r.tell("wazo/2", call.Answered, time.Now())
	d.next("answered wazo/2") // neither the invalid message nor the old snapshot has ended it
}

// TestLate: a desk that starts or reconnects receives every call as
// soon as it is connected, with the times since which it has been
// ringing and answered, however far its clock is from the relay's.
func TestLate(t *testing.T) {
	r := newRelay(t)
	d := connected(t, r)
	for i, off := range []time.Duration{-5 * time.Hour, 0, 5 * time.Hour} {
		at, id := time.Now().Add(off), fmt.Sprint("wazo/", i)
		answered := at.Add(-9 * time.Minute)
		s := wire.Snapshot{Epoch: time.Now().Add(time.Hour).UnixMilli(), Seq: uint64(i), At: at,
			Calls: []wire.Call{{ID: id, State: "answered", Number: "0698760011", Began: at.Add(-10 * time.Minute), Answered: &answered}}}
		before := time.Now()
		r.publish(s)
		for _, want := range []struct {
			state call.State
			age   time.Duration
		}{{call.Ringing, 10 * time.Minute}, {call.Answered, 9 * time.Minute}} {
			e := d.next(fmt.Sprint(want.state, " ", id))
			if e.At.Before(before) || e.At.After(time.Now()) || e.At.Sub(e.StateSince) != want.age {
				t.Errorf("the relay's clock %v off: %v, %v before the report", off, want.state, e.At.Sub(e.StateSince))
			}
		}
		if i > 0 {
			d.next(fmt.Sprint("ended wazo/", i-1))
		}
	}
}

// TestForgot: relays that have lost their data do not end a
// call while they may still learn of it again.
func TestForgot(t *testing.T) {
	r := newRelay(t)
	d := connected(t, r)
	r.tell("wazo/1", call.Ringing, time.Now())
	d.next("ringing wazo/1")
	r.tell("wazo/2", call.Ringing, time.Now())
	d.next("ringing wazo/2")
	epoch := time.Now().Add(time.Hour)
	for i, step := range []struct {
		age   time.Duration
		calls []wire.Call
		want  []string
	}{
		{time.Second, []wire.Call{{ID: "wazo/3", State: "ringing"}}, []string{"ringing wazo/3"}},
		{2 * time.Second, []wire.Call{{ID: "wazo/3", State: "ended"}, {ID: "wazo/1", State: "ringing", Number: "0698760011"}}, []string{"ended wazo/3"}},
		{recoveryTime, []wire.Call{{ID: "wazo/1", State: "ringing", Number: "0698760011"}}, []string{"ended wazo/2"}},
	} {
		s := wire.Snapshot{Epoch: epoch.UnixMilli(), Seq: uint64(i), At: epoch.Add(step.age), Calls: step.calls}
		r.publish(s)
		for _, want := range step.want {
			d.next(want)
		}
	}
}

// TestAgain: after a broken connection or a sleep, every active
// call is reported again, since its state was unknown meanwhile.
func TestAgain(t *testing.T) {
	r := newRelay(t)
	d := connected(t, r)
	r.tell("wazo/1", call.Ringing, time.Now())
	d.next("ringing wazo/1")
	d.Wake <- struct{}{}
	d.next("ringing wazo/1")
	r.tell("wazo/1", call.Answered, time.Now())
	d.next("answered wazo/1")
	d.Wake <- struct{}{}
	d.next("ringing wazo/1")
	d.next("answered wazo/1")
	r.tell("wazo/1", call.Ended, time.Now())
	d.next("ended wazo/1")
}

// TestCatchUp: calls that rang while this user was not connected are stored
// page by page, and the relay forgets a page only once it is stored. Their
// age is by the relay's clock, which is hours ahead or behind.
func TestCatchUp(t *testing.T) {
	r := newRelay(t)
	asks := make(chan uint64, 16)
	next := func(want ...uint64) {
		t.Helper()
		for _, w := range want {
			if got := must.Receive(t, asks, "a question"); got != w {
				t.Fatalf("asked behind %d, want %d", got, w)
			}
		}
	}
	r.answer(wire.TopicJournal, func(m *nats.Msg) {
		var q wire.JournalRequest
		_ = json.Unmarshal(m.Data, &q)
		a := wire.JournalAnswer{At: time.Now().Add(5 * time.Hour)}
		if q.LastSeq == 10 {
			a.At = a.At.Add(-10 * time.Hour)
		}
		if q.LastSeq < 30 {
			a.Add(wire.MissedCall{Number: fmt.Sprint("06987600", q.LastSeq), Rang: a.At.Add(-time.Minute),
				Ended: a.At.Add(-time.Second)}, q.LastSeq+10)
		}
		asks <- q.LastSeq
		_ = m.Respond(a.Encode())
	})
	full, refused := errors.New("full"), make(chan struct{}, 1)
	kept := make(chan string, 16)
	left := 2 // pages that can be stored
	began := time.Now()
	d := newDesk(t, r)
	d.save = func(_ context.Context, all []wire.MissedCall) error {
		if left--; left == -1 {
			refused <- struct{}{}
			return full
		}
		if m := all[0]; m.Rang.Before(began.Add(-time.Minute)) || m.Rang.After(time.Now().Add(-time.Minute)) || m.Ended.Sub(m.Rang) != time.Minute-time.Second {
			t.Errorf("%+v", m)
		}
		kept <- all[0].Number
		return nil
	}
	d.run()
	next(0, 10, 20)
	<-refused
	d.Wake <- struct{}{}
	next(0, 10, 20, 30)
	if len(kept) != 5 {
		t.Errorf("%d pages kept", len(kept))
	}
}

// TestRelayGone: a relay that dies ends no active calls; those that it lost with its data end
// once it is back, even if its clock is behind that of its previous start.
func TestRelayGone(t *testing.T) {
	for _, ahead := range []time.Duration{0, time.Hour} {
		r := newRelay(t)
		d := connected(t, r)
		if ahead == 0 {
			r.tell("wazo/1", call.Ringing, time.Now())
		} else {
			r.publish(wire.Snapshot{Epoch: time.Now().Add(ahead).UnixMilli(), Seq: 1, At: time.Now(), Calls: []wire.Call{{ID: "wazo/1", State: "ringing"}}})
		}
		d.next("ringing wazo/1")
		r.end()
		d.Until(link.Waiting)
		if len(d.Events) > 0 {
			t.Errorf("%+v", <-d.Events)
		}
		r.start()
		d.Until(link.Connected)
		d.next("ended wazo/1")
		r.tell("wazo/2", call.Ringing, time.Now())
		d.next("ringing wazo/2")
	}
}

// TestOverOnce: an ended call is not shown again when one relay reports it for longer than another.
func TestOverOnce(t *testing.T) {
	r := newRelay(t)
	d := connected(t, r)
	over, epoch := wire.Call{ID: "wazo/1", State: "ended"}, time.Now().Add(time.Hour).UnixMilli()
	for i, calls := range [][]wire.Call{{{ID: "wazo/1", State: "ringing"}}, {over}, {}, {over}, {over, {ID: "wazo/2", State: "ringing"}}} {
		s := wire.Snapshot{Epoch: epoch, Seq: uint64(i), At: time.Now(), Calls: calls}
		r.publish(s)
	}
	for _, want := range []string{"ringing wazo/1", "ended wazo/1", "ringing wazo/2"} {
		d.next(want)
	}
}

// TestConfirmed: the end of a call is confirmed if it was reported, however many relays tell of
// it, but not what the desk cannot read or finds on connecting.
func TestConfirmed(t *testing.T) {
	r := newRelay(t)
	r.end()
	r.node = must.Get(node.Start(node.Config{Name: "r1", Dir: r.dir, Host: "127.0.0.1", Port: r.port}, r.authority))(t) // without a feed
	r.end = r.node.Close
	asked := make(chan *nats.Msg, 16)
	r.answer(wire.TopicCurrentCalls, func(m *nats.Msg) { asked <- m })
	d := newDesk(t, r)
	d.run()
	must.Receive(t, asked, "a question of the desk, which has subscribed before")
	inbox := must.Get(r.node.Conn.SubscribeSync("receipt.*"))(t)
	tell := func(name string, data []byte) {
		t.Helper()
		must.Do(t, r.node.Conn.PublishRequest(site.UserSubject(wire.TopicCalls, "anna"), "receipt."+name, data))
	}
	s := wire.Snapshot{Epoch: time.Now().Add(-time.Hour).UnixMilli(), Seq: 7, At: time.Now(), Calls: []wire.Call{{ID: "wazo/1", State: "ended"}}}
	tell("unseen", s.Encode())
	tell("unreadable", []byte(`{"calls":7}`))
	s.Seq++
	tell("first", s.Encode())
	tell("second", s.Encode())
	for _, want := range []string{"receipt.first", "receipt.second"} {
		if m := must.Get(inbox.NextMsg(must.Patience))(t); m.Subject != want {
			t.Errorf("%s is confirmed, want %s", m.Subject, want)
		}
	}
}

// TestRenewed: a token that expires soon is exchanged for a new one, which is stored
// and used from then on. While the answer is awaited, calls reach the desk.
func TestRenewed(t *testing.T) {
	r := newRelay(t)
	d := newDeskUntil(t, r, time.Now().Add(renewBefore-time.Hour))
	asked := make(chan *nats.Msg, 16)
	r.answer(wire.TopicRenew, func(m *nats.Msg) { asked <- m })
	d.run()
	request := must.Receive(t, asked, "a request for a token")
	r.tell("wazo/1", call.Ringing, time.Now())
	d.next("ringing wazo/1")
	var q wire.RenewRequest
	must.Do(t, json.Unmarshal(request.Data, &q))
	token := must.Get(r.authority.UserToken("anna", q.Key, time.Now().Add(90*24*time.Hour)))(t)
	must.Do(t, request.Respond(must.Get(json.Marshal(wire.RenewAnswer{Token: token, URLs: []string{r.url()}}))(t)))
	stored := must.Receive(t, d.kept, "a token: the call came while it was still awaited")
	m, err := parseMembership(stored)
	if err != nil || q.Key != d.public || m.User != "anna" || time.Until(expires(m.Token)) < renewBefore {
		t.Errorf("%v, %s", err, stored)
	}
	r.end()
	d.Until(link.Waiting)
	d.stored.Store(&stored)
	r.start()
	d.Until(link.Connected)
	if len(d.kept) > 0 {
		t.Error("renewed again")
	}
}

// TestLookup: the relay's answer is returned; a missing answer is a named failure.
func TestLookup(t *testing.T) {
	r := newRelay(t)
	d := connected(t, r)
	asked := 0
	stop := r.answer(wire.TopicLookup, func(m *nats.Msg) { // with the number
		if asked++; asked == 1 {
			return // like a relay that exits during the request
		}
		var q wire.LookupRequest
		_ = json.Unmarshal(m.Data, &q)
		_ = m.Respond([]byte(q.Number))
	})
	for _, tt := range []struct {
		answer  string
		failure contact.Failure
	}{
		{`{"v":1,"contacts":[{"FamilyName":"Vries"}]}`, ""}, {`{"v":1}`, ""},
		{`{"v":1,"failure":"never_rang"}`, contact.NeverRang}, {"{", contact.NotUnderstood},
	} {
		if _, err := d.phone.Lookup(t.Context(), tt.answer); contact.FailureOf(err) != tt.failure {
			t.Errorf("%s: %v", tt.answer, err)
		}
	}
	must.Do(t, stop(), r.node.Conn.Flush())
	if _, err := d.phone.Lookup(t.Context(), "+31698760011"); contact.FailureOf(err) != contact.HubSlow {
		t.Errorf("nobody answers: %v", err)
	}
	r.end()
	d.Until(link.Waiting)
	if _, err := d.phone.Lookup(t.Context(), "+31698760011"); contact.FailureOf(err) != contact.ConnectionRefused {
		t.Errorf("no relay: %v", err)
	}
}

// TestCutOff: relays that accept a connection and then stay silent,
// as if cut off, do not keep a desk from the one that works.
func TestCutOff(t *testing.T) {
	r := newRelay(t)
	d := newDesk(t, r)
	var dead []string
	for range 2 {
		l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
		defer l.Close()
		dead = append(dead, "nats://"+l.Addr().String())
	}
	stored := strings.Replace(*d.stored.Load(), `"urls":[`, fmt.Sprintf(`"urls":[%q,%q,`, dead[0], dead[1]), 1)
	d.stored.Store(&stored)
	began := time.Now()
	d.run()
	d.Until(link.Connected)
	if took := time.Since(began); took >= dialTime {
		t.Errorf("connected after %v", took)
	}
}

// TestSilent: a relay that has reported its state and then goes silent
// counts as stopped, even if its computer keeps the connection open.
func TestSilent(t *testing.T) {
	r := newRelay(t)
	d := newDesk(t, r)
	d.silence = 50 * time.Millisecond
	d.run()
	d.Until(link.Connected)
	must.Do(t, r.node.Conn.Publish(site.StateSubject(), wire.State{Relay: "r1"}.Encode()))
	d.Until(link.Waiting)
	d.Until(link.Connected)
}

// TestDamaged: stored data that is not a valid membership is reported as missing and
// connects nowhere. A relay on another computer without TLS makes it invalid too.
func TestDamaged(t *testing.T) {
	r := newRelay(t)
	for name, change := range map[string]func(string) string{
		"nothing":      func(string) string { return "" },
		"a password":   func(string) string { return "welcome123" },
		"no key":       func(s string) string { return strings.Replace(s, `"seed":"S`, `"seed":"X`, 1) },
		"in the clear": func(s string) string { return strings.Replace(s, "nats://127.0.0.1", "nats://192.0.2.7", 1) },
		"by name":      func(s string) string { return strings.Replace(s, "nats://127.0.0.1", "nats://localhost", 1) },
		"authority":    func(s string) string { return strings.Replace(s, `"token"`, `"ca":"x","token"`, 1) },
	} {
		d := newDesk(t, r)
		stored := change(*d.stored.Load())
		d.stored.Store(&stored)
		d.run()
		if s := d.Until(link.Refused); s.Cause != link.CauseNoSecret {
			t.Errorf("%s: %+v", name, s)
		}
	}
	if _, err := New(exchangelink.Account{Address: address}); err == nil {
		t.Error("a link without a secret")
	}
}

// TestInTurn: each attempt starts with another relay, and
// never with the one whose session has just ended.
func TestInTurn(t *testing.T) {
	p := Phone{last: "tls://b"}
	for i, want := range []string{"tls://a tls://c tls://b", "tls://c tls://a tls://b", "tls://c tls://a tls://b", "tls://a tls://c tls://b"} {
		if got := strings.Join(p.relayOrder([]string{"tls://a", "tls://b", "tls://c"}), " "); got != want {
			t.Errorf("%d: %s, want %s", i, got, want)
		}
	}
	p.last = "tls://d"
	if got := strings.Join(p.relayOrder([]string{"tls://a"}), " "); got != "tls://a" {
		t.Errorf("%s", got)
	}
}
