package server

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"

	"wiebelt/internal/core/call"
	"wiebelt/internal/core/contact"
	"wiebelt/internal/core/phone"
	"wiebelt/internal/hub"
	"wiebelt/internal/localhub"
	"wiebelt/internal/relay/setup"
	"wiebelt/internal/relay/users"
	"wiebelt/internal/relay/wire"
	"wiebelt/internal/testutil/logtest"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/natstest"
)

// theHub returns a hub that knows one caller, and a client of it.
func theHub(t *testing.T) (*localhub.Hub, *hub.Client) {
	t.Helper()
	h := must.Get(localhub.Start(context.Background(), localhub.Config{Demo: true}))(t)
	t.Cleanup(func() { _ = h.Close() })
	must.Get(h.AddInvented(t.Context(), localhub.Record{Numbers: []string{"0698760011"}, Contact: contact.Contact{RelationNumber: "100200", Initials: "J.", Prefix: "de", FamilyName: "Vries"}}))(t)
	must.Do(t, h.SetClientSecret(t.Context(), "office", "1234", "canary"))
	c := must.Get(hub.New(hub.Config{BaseURL: h.BaseURL(), ClientID: "office", OrganisationCode: "1234", Secret: func(context.Context) (string, error) { return "canary", nil }}))(t)
	t.Cleanup(c.Close)
	return h, c
}

// ask looks a number up as a user.
func (o *office) ask(u wire.User, number string) wire.LookupAnswer {
	b, _ := json.Marshal(wire.LookupRequest{Number: number})
	b, err := natstest.Ask(o.node.Conn, o.Keys.Site.UserSubject(wire.TopicLookup, u), b)
	if err != nil {
		o.t.Error(err)
		return wire.LookupAnswer{}
	}
	a, err := wire.ParseLookupAnswer(b)
	if err != nil {
		o.t.Error(err)
	}
	return a
}

// TestOneLookup: for a call that rings at 300 users, the hub gets one request, all of them
// get the answer, and each is logged once, without number or name. Nothing sent over NATS,
// and nothing that a computer joins with, contains the hub's secret.
func TestOneLookup(t *testing.T) {
	const n = 300
	h, client := theHub(t)
	log := &logtest.Buffer{}
	o := start(t, func(c *Config) { c.Hub, c.Log = client, slog.New(slog.NewTextHandler(log, nil)) })
	trace := &logtest.Buffer{}
	heard := must.Get(o.node.Conn.Subscribe(">", func(m *nats.Msg) { _, _ = trace.Write(m.Data) }))(t)
	defer func() { _ = heard.Unsubscribe() }()
	for i := range n {
		o.add(users.Entry{User: wire.User(fmt.Sprint("u", i)), Extensions: []string{"600"}})
	}
	anna := o.desk(users.Entry{User: "anna", Extensions: []string{"600"}})
	o.report("", `{"id":"7","state":"ringing","number":"0698760011","extension":"600"}`)
	anna.Next() // the feed knows for whom it rings
	var asking sync.WaitGroup
	for i := range n {
		asking.Go(func() {
			if a := o.ask(wire.User(fmt.Sprint("u", i)), "+31698760011"); len(a.Contacts) != 1 || a.Contacts[0].Name() != "J. de Vries" || a.Failure != "" {
				t.Errorf("%d: %+v", i, a)
			}
		})
	}
	asking.Wait()
	if got := h.Stats().Lookups; got != 1 {
		t.Errorf("%d look-ups", got)
	}
	said := log.String()
	if got := strings.Count(said, "audit=true"); got != n || !strings.Contains(said, "user=u7 outcome=found") {
		t.Errorf("%d audit records", got)
	}
	for _, canary := range []string{"98760011", "Vries", "canary"} {
		if strings.Contains(said, canary) {
			t.Errorf("the log has %s", canary)
		}
	}
	must.Soon(t, func() (bool, any) {
		heard := strings.Count(trace.String(), "Vries")
		return heard >= n, fmt.Sprint(heard, " answers")
	})
	if strings.Contains(trace.String()+o.stored["anna"], "canary") {
		t.Error("computers get the secret")
	}
}

// TestLookupRights: users can look up what rings or rang for them, unless the office allows
// everybody everything, and nobody can send requests without limit.
func TestLookupRights(t *testing.T) {
	h, client := theHub(t)
	for _, manual := range []bool{false, true} {
		o := start(t, func(c *Config) { c.Hub, c.Settings.Lookup.Manual = client, manual })
		anna := o.desk(users.Entry{User: "anna", Extensions: []string{"101"}})
		o.desk(users.Entry{User: "bob", Extensions: []string{"102"}})
		o.report("", `{"id":"7","state":"ringing","number":"0698760011","extension":"101"}`)
		anna.Next()
		o.report("", `{"id":"7","state":"ended"}`)
		anna.Next()
		if a := o.ask("anna", "06-98760011"); len(a.Contacts) != 1 {
			t.Errorf("anna: %+v", a)
		}
		if a := o.ask("bob", "0698760011"); len(a.Contacts) != 0 != manual {
			t.Errorf("bob, manual %v: %+v", manual, a)
		}
		before := h.Stats().Lookups
		for _, number := range []string{"", "101", "anonymous", "'; --"} {
			if a := o.ask("anna", number); a.Failure == "" {
				t.Errorf("%q: %+v", number, a)
			}
		}
		if h.Stats().Lookups != before {
			t.Error("the hub was asked")
		}
		slow := 0
		for range lookupsMinute {
			if o.ask("anna", "0698760011").Failure == contact.HubSlow {
				slow++
			}
		}
		if slow == 0 {
			t.Error("anna asks without end")
		}
	}
	if a := start(t).lookups.answer(t.Context(), "anna", wire.LookupRequest{Number: "0698760011"}); a.Failure != contact.NotSetUp {
		t.Errorf("no hub: %+v", a)
	}
}

// TestAskedEarly: a request about a call that the relay has not received yet is
// answered once it has; if it does not arrive, the request is soon refused, and
// the hub is not blamed.
func TestAskedEarly(t *testing.T) {
	rules := phone.DefaultRules()
	for number, want := range map[string]contact.Failure{"0698760011": "", "0698760012": contact.NeverRang} {
		synctest.Test(t, func(t *testing.T) {
			l := newLookups(Config{Folder: &setup.Folder{}, Rules: rules, Office: Office{Hub: found{}}, Log: slog.New(slog.DiscardHandler)}, func(wire.User) bool { return true }, func() {})
			got := make(chan wire.LookupAnswer)
			began := time.Now()
			go func() { got <- l.answer(t.Context(), "anna", wire.LookupRequest{Number: number}) }()
			synctest.Wait()
			l.rememberNumber("0698760013", "anna")
			synctest.Wait()
			l.rememberNumber("0698760011", "anna")
			if a := <-got; a.Failure != want || a.Failure == "" && len(a.Contacts) != 1 || time.Since(began) > seenTime {
				t.Errorf("%s: %+v", number, a)
			}
		})
	}
}

// found is a hub that knows everybody.
type found struct{}

func (found) Lookup(context.Context, string) ([]contact.Contact, error) {
	return []contact.Contact{{FamilyName: "Vries"}}, nil
}

// TestAheadOnce: looking up a call's number ahead takes one slot, however many
// phones the call is reported for.
func TestAheadOnce(t *testing.T) {
	rules := phone.DefaultRules()
	h := slow{make(chan string, lookupsAtOnce), make(chan struct{})}
	l := newLookups(Config{Folder: &setup.Folder{}, Rules: rules, Office: Office{Hub: h}}, nil, func() {})
	for range 10 {
		l.prefetch(t.Context(), call.Event{State: call.Ringing, Number: "0698760011"})
	}
	l.prefetch(t.Context(), call.Event{State: call.Ringing, Number: "0698760012"})
	close(h.answers)
	_ = l.work.Wait()
	l.prefetch(t.Context(), call.Event{State: call.Ringing, Number: "0698760011"})
	_ = l.work.Wait()
	if len(h.asked) != 3 {
		t.Errorf("asked %d times", len(h.asked))
	}
}

// TestAheadFlood: however many callers an exchange reports, only some are looked up ahead,
// and there is room left for users' lookups.
func TestAheadFlood(t *testing.T) {
	rules := phone.DefaultRules()
	synctest.Test(t, func(t *testing.T) {
		h := slow{make(chan string, 2*lookupsAtOnce), make(chan struct{})}
		l := newLookups(Config{Folder: &setup.Folder{}, Rules: rules, Office: Office{Hub: h}}, nil, func() {})
		for i := range 2 * lookupsAtOnce {
			l.prefetch(t.Context(), call.Event{State: call.Ringing, Number: fmt.Sprint("06", 98760000+i)})
		}
		synctest.Wait()
		if len(h.asked) != aheadAtOnce || !l.startOnce("", func() {}) {
			t.Errorf("the hub is asked %d times", len(h.asked))
		}
		close(h.answers)
		_ = l.work.Wait()
	})
}

// TestAskedTwice: a request that is repeated before it was answered gets one answer.
func TestAskedTwice(t *testing.T) {
	h := slow{make(chan string, 8), make(chan struct{})}
	log := &logtest.Buffer{}
	o := start(t, func(c *Config) {
		c.Hub, c.Settings.Lookup.Manual, c.Log = h, true, slog.New(slog.NewTextHandler(log, nil))
	})
	o.add(users.Entry{User: "anna"})
	inbox := wire.Inbox("anna") + ".twice"
	for range 3 {
		must.Do(t, o.node.Conn.PublishRequest(o.Keys.Site.UserSubject(wire.TopicLookup, "anna"), inbox, []byte(`{"number":"0698760011"}`)))
	}
	o.ask("anna", "101") // its answer comes after those to earlier requests
	close(h.answers)
	o.end()
	if got := strings.Count(log.String(), "audit=true"); got != 2 {
		t.Errorf("%d audit records", got)
	}
}

// slow is a slow hub.
type slow struct {
	asked   chan string
	answers chan struct{}
}

func (s slow) Lookup(_ context.Context, number string) ([]contact.Contact, error) {
	s.asked <- number
	<-s.answers
	return nil, nil
}

// TestHubGone: the user and the status learn that the hub fails, and
// both recover with its next answer.
func TestHubGone(t *testing.T) {
	h, client := theHub(t)
	o := start(t, func(c *Config) { c.Hub, c.Settings.Lookup.Manual = client, true })
	o.add(users.Entry{User: "anna"})
	if got := o.lookups.state(); got != "untried" {
		t.Error(got)
	}
	_, fault, err := localhub.ParseFault("lookup:status=503,times=1")
	if err != nil {
		t.Fatal(err)
	}
	h.Faults().Set("lookup", fault)
	if a := o.ask("anna", "0698760011"); a.Failure != contact.HubError || o.lookups.state() != string(contact.HubError) {
		t.Errorf("%+v, %s", a, o.lookups.state())
	}
	if a := o.ask("anna", "0698760011"); len(a.Contacts) != 1 || o.lookups.state() != "ok" {
		t.Errorf("%+v, %s", a, o.lookups.state())
	}
}
