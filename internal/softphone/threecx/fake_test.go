package threecx

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"wiebelt/internal/simulate"
	"wiebelt/internal/softphone/exchangelink"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/testutil/linktest"
	"wiebelt/internal/testutil/must"
)

// exchange is a 3CX that can be stopped and started.
type exchange struct {
	*simulate.ThreeCX
	t testing.TB
}

func newExchange(t testing.TB) *exchange {
	return &exchange{linktest.Start(t, nil, simulate.Start3CX), t}
}

func (x *exchange) restart() { x.ThreeCX = linktest.Start(x.t, &x.ThreeCX, simulate.Start3CX) }

func (x *exchange) link() *linktest.Watch { return listen(x.t, linktest.Account(x.Address())) }

// has sets a participant's state without an event.
func (x *exchange) has(id int, p json.RawMessage) {
	x.With(func() { x.Participants[strconv.Itoa(id)] = p })
}

func (x *exchange) forget() { x.With(func() { clear(x.Participants) }) }

// note sends an event that a participant has changed, or is gone.
func (x *exchange) note(kind int, entity string) {
	event := ""
	x.With(func() { event = x.Event(kind, entity) })
	x.SendAll(event)
}

// set sets a participant's state and sends the event; nil ends it.
func (x *exchange) set(ext string, id int, p *part) {
	kind := simulate.Upsert
	if p == nil {
		kind = simulate.Remove
		x.With(func() { delete(x.Participants, strconv.Itoa(id)) })
	} else {
		x.has(id, p.json(ext, id))
	}
	x.note(kind, simulate.Entity(ext, id))
}

// last rings and hangs up, and waits for both events, so
// that everything before them has been received.
func (x *exchange) last(w *linktest.Watch) {
	x.t.Helper()
	x.set("101", 9999, &part{status: "Ringing", number: "0201234599", call: 4242})
	w.Expect("ringing incoming #4242.9999 0201234599 on 101")
	x.set("101", 9999, nil)
	w.Expect("ended incoming #4242.9999 0201234599 on 101")
}

// rigged returns an exchange for the common tests.
func rigged(t testing.TB) (*exchange, *linktest.Exchange) {
	x := newExchange(t)
	return x, &linktest.Exchange{
		Fake: x, Restart: x.restart, HangUp: x.forget,
		Link: func(c exchangelink.Account) *linktest.Watch { return listen(t, c) },
		Ring: func() { x.has(7, ring.json("101", 7)) },
		Send: func(message string) { x.SendAll(message) },
		Call: func(n int, extension string) (string, func()) {
			x.set(extension, 10_000+n, &part{status: "Ringing", number: "0201234599", call: 5000 + n})
			return strconv.Itoa(5000+n) + "." + strconv.Itoa(10_000+n), func() { x.set(extension, 10_000+n, nil) }
		},
	}
}

// TestExchange runs the common tests of links to exchanges.
func TestExchange(t *testing.T) {
	t.Parallel()
	linktest.ExchangeTests{
		Ended:     strings.Replace(rings, "ringing", "ended", 1),
		Hostile:   hostileEvents(330),
		TokenPath: "/connect/token", TokenAnswer: `{"access_token":%s}`,
		Denied: "3CX does not accept the client id and API key (400)", NoSecret: "no API key for 3CX is stored",
		Refusals: map[string]linktest.Refusal{
			"not allowed at all": {Answer: linktest.Status("/callcontrol", http.StatusUnauthorized),
				Want: "3CX does not let this API client use call control for the extension (401)", Cause: link.CauseRights},
			"no call control": {Answer: linktest.Status("/callcontrol", http.StatusForbidden),
				Want: "3CX does not let this API client use call control for the extension (403)", Cause: link.CauseRights},
			"another's extension": {Extension: "199", Want: "3CX does not know the extension, or not for this API client (404)", Cause: link.CauseExtension},
		},
		Paths:   []string{"/connect/token", "/callcontrol/101", "/callcontrol/ws"},
		Private: []string{"/callcontrol", "/101"},
		New: func(t testing.TB) *linktest.Exchange {
			_, e := rigged(t)
			return e
		},
	}.Run(t)
}

type part struct {
	status, number, name, did, referred, behalf string
	call                                        int
	null                                        bool // whatever can be null is
}

func (p part) json(ext string, id int) json.RawMessage {
	m := map[string]any{
		"id": id, "status": p.status, "dn": ext, "party_caller_name": p.name, "party_dn": "10000", "party_caller_id": p.number, "party_did": p.did,
		"device_id": "sip:101@127.0.0.1:5483", "party_dn_type": "Wexternalline", "direct_control": false, "originated_by_dn": "", "originated_by_type": "None",
		"referred_by_dn": p.referred, "referred_by_type": "None", "on_behalf_of_dn": p.behalf, "on_behalf_of_type": "None", "callid": p.call, "legid": 2,
	}
	if p.null {
		for _, k := range []string{"dn", "party_caller_name", "party_dn", "party_caller_id", "party_did", "device_id", "party_dn_type", "referred_by_dn", "on_behalf_of_dn"} {
			m[k] = nil
		}
	}
	b, _ := json.Marshal(m)
	return b
}

func TestMain(m *testing.M) { linktest.Main(m) }

// listen runs a link until the test ends.
var listen = linktest.Listen[*phone](New)

// hostileEvents returns messages that no 3CX sends, and hostileParts invalid participants:
// tables, and mutations of real ones.
func hostileEvents(n int) []string {
	out := []string{
		"", "{", "null", "[]", `"x"`, "17", `{"sequence":null}`, `{"sequence":"x"}`, `{"sequence":1.5}`, `{"sequence":99999999999999999999}`, `{"sequence":-1,"event":null}`,
		`{"event":{}}`, `{"event":[]}`, `{"event":{"event_type":"0","entity":"/callcontrol/101/participants/7"}}`, `{"event":{"event_type":0,"entity":7}}`,
		`{"event":{"event_type":null,"entity":"/callcontrol/101/participants/7"}}`, `{"event":{"event_type":1,"entity":"/callcontrol/101/participants/999999999999999999"}}`,
		`{"sequence":9223372036854775807,"event":{"event_type":1,"entity":"/callcontrol/101/participants/1"}}`, `{"RequestID":"x","StatusCode":200,"Response":{}}`,
		strings.Repeat("[", 50_000), strings.Repeat(`{"event":`, 20_000), "\x00\x01\x02", "\xff\xfe",
		`{"sequence":42,"event":{"event_type":0,"entity":"/callcontrol/101/participants/` + strings.Repeat("7", 100_000) + `"}}`,
	}
	seeds := []string{
		`{"sequence":42,"event":{"event_type":0,"entity":"/callcontrol/101/participants/7","attached_data":null}}`,
		`{"sequence":43,"event":{"event_type":1,"entity":"/callcontrol/101/participants/7","attached_data":null}}`,
		`{"sequence":44,"event":{"event_type":2,"entity":"/callcontrol/101/participants/7","attached_data":{"dtmf_input":"5"}}}`,
	}
	return linktest.Mutate(out, n, seeds...)
}

func hostileParts(n int) []string {
	out := []string{
		"", "{", "null", "[]", `"x"`, "17", "{}", `{"id":null}`, `{"id":"7"}`, `{"id":7.5}`, `{"id":-7,"status":"Ringing"}`, `{"id":7}`, `{"id":7,"status":17}`, `{"id":8,"status":"Ringing","dn":"101"}`,
		`{"id":7,"status":"Ringing","dn":"102","party_caller_id":"0612345678"}`, `{"id":7,"status":"Ringing","dn":"101","party_caller_id":[]}`, `{"id":7,"status":"Ringing","dn":"101","callid":"33"}`,
		`{"id":7,"status":"Ringing","dn":"101","callid":99999999999999999999}`, strings.Repeat("[", 50_000), "\x00\xff", "<html>",
		string(part{status: "Ringing", number: strings.Repeat("6", 100_000), name: strings.Repeat("ë", 100_000), call: 33}.json("101", 7)),
		string(part{status: "Ringing", number: "\u202e06\u0000", name: "\u2066x\n", call: 33}.json("101", 7)),
	}
	return linktest.Mutate(out, n, string(ring.json("101", 7)), string(ring.as(up).json("101", 7)))
}

// TestHostileParticipants tries answers that the API could give.
func TestHostileParticipants(t *testing.T) {
	x, e := rigged(t)
	w := e.Link(linktest.Account(x.Address())).Connected()
	for i, m := range append(hostileParts(330), `{"id":"`+linktest.Number+linktest.Known.Secret+`"}`) {
		x.Intercept(linktest.Says("/callcontrol/101/participants/7", m))
		x.note(simulate.Upsert, simulate.Entity("101", 7))
		e.Reports(t, w, i)
	}
	if len(w.States) != 0 {
		t.Error("the link broke for an answer that only cannot be read")
	}
	if said := w.Log.String(); strings.Contains(said, linktest.Number) || strings.Contains(said, "canary") {
		t.Error("the log repeats an answer")
	}
}

func FuzzMessage(f *testing.F) {
	for _, s := range hostileEvents(60) {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		feed(t, func(ctx context.Context, s *session) error {
			s.reportParticipant("101", mustPart(ring.json("101", 7)))
			err := s.message(ctx, b)
			if err != nil && !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			return nil
		})
	})
}

func FuzzParticipant(f *testing.F) {
	for _, s := range hostileParts(60) {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		feed(t, func(_ context.Context, s *session) error {
			var p participant
			if json.Unmarshal(b, &p) == nil && p.belongsTo("101") {
				s.reportParticipant("101", p)
				s.reportParticipant("101", p)
				s.end(s.leg("101", *p.ID))
				if len(s.r.Calls()) != 0 {
					t.Fatalf("%q is not over", b)
				}
			}
			return nil
		})
	})
}

func mustPart(b []byte) (p participant) {
	if err := json.Unmarshal(b, &p); err != nil {
		panic(err)
	}
	return p
}

// feed runs f with a session without a connection.
func feed(t *testing.T, f func(context.Context, *session) error) {
	t.Helper()
	p := must.Get(New(exchangelink.Account{Address: "https://127.0.0.1:1", User: "c", Extension: "101", Secret: linktest.Secret("x")}))(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // so that no request is sent
	if _, err := linktest.Once(t, linktest.Scripted{Phone: p, Do: func(_ context.Context, r *link.Reporter) error {
		return f(ctx, &session{phone: p.(*phone), r: r})
	}}); err != nil {
		t.Fatal(err)
	}
}
