package yeastar

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"wiebelt/internal/core/call"
	"wiebelt/internal/simulate"
	"wiebelt/internal/softphone/exchangelink"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/testutil/linktest"
	"wiebelt/internal/testutil/must"
)

// exchange is a Yeastar that can be stopped and started.
type exchange struct {
	*simulate.Yeastar
	t testing.TB
}

func newExchange(t testing.TB) *exchange {
	return &exchange{linktest.Start(t, nil, simulate.StartYeastar), t}
}

func (x *exchange) restart() { x.Yeastar = linktest.Start(x.t, &x.Yeastar, simulate.StartYeastar) }

// listen runs a link until the test ends.
var listen = linktest.Listen[*phone](New)

// told returns a customer's call with extensions in their states, as in "101 RING".
func told(id, trunk string, states ...string) string {
	members := []string{`{"inbound":{"from":"0612345678","to":"0201234567","trunk_name":"lijn","channel_id":"1","member_status":"` + trunk + `","call_path":""}}`}
	for _, s := range states {
		number, state, _ := strings.Cut(s, " ")
		members = append(members, `{"extension":{"number":"`+number+`","channel_id":"2","member_status":"`+state+`","call_path":""}}`)
	}
	return `{"call_id":"` + id + `","members":[` + strings.Join(members, ",") + `]}`
}

func event(call string) string {
	b, _ := json.Marshal(map[string]any{"type": 30011, "sn": "3631A2", "msg": call})
	return string(b)
}

func (x *exchange) lists(calls map[string]string) {
	x.With(func() {
		clear(x.Calls)
		for id, c := range calls {
			x.Calls[id] = json.RawMessage(c)
		}
	})
}

func (x *exchange) say(call string) { x.Send(30011, event(call)) }

func TestMain(m *testing.M) { linktest.Main(m) }

// TestExchange runs the common tests of links to exchanges.
func TestExchange(t *testing.T) {
	t.Parallel()
	odd := []string{"", "{", "null", "[]", "17", `{"errcode":null}`, `{"errcode":{}}`, `{"errcode":0}`, `{"type":30008,"msg":"{\"extension\":\"101\"}"}`, `{"type":30011}`, `{"type":30011,"msg":17}`,
		`{"type":30011,"msg":"{"}`, `{"type":30011,"msg":{"call_id":{},"members":7}}`, "heartbeat", "heartbeat response\n", "\x00", strings.Repeat("[", 50_000), event(told("", "RING", "101 RING"))}
	linktest.ExchangeTests{
		Ended: "ended incoming #1", Hostile: linktest.Mutate(odd, 330, event(told("9", "ALERT", "101 RING")), event(told("9", "BYE"))),
		TokenPath: api + "get_token", TokenAnswer: `{"errcode":0,"access_token":%s}`,
		Denied: "the exchange does not accept the client id and secret", NoSecret: "no client secret for Yeastar is stored",
		Refusals: map[string]linktest.Refusal{
			"too many tokens": {Answer: linktest.Says(api+"get_token", `{"errcode":60002,"errmsg":"canary"}`),
				Want: "the exchange has given this client all the tokens it may have", Cause: link.CauseUnavailable},
			"a fault": {Answer: linktest.Says(api+"get_token", `{"errcode":-2}`),
				Want: "the exchange cannot let anybody in at the moment", Cause: link.CauseUnavailable},
			"another version": {Answer: linktest.Says(api+"get_token", `{"errcode":10003}`),
				Want: "the exchange has another version of its API", Cause: link.CauseVersion},
		},
		Losses:  []func(*linktest.Exchange){func(e *linktest.Exchange) { e.Fake.(*exchange).RevokeTokens() }},
		Paths:   []string{api + "get_token", api + "subscribe", api + "call/query"},
		Private: []string{"access_token", "/openapi"},
		New: func(t testing.TB) *linktest.Exchange {
			x := newExchange(t)
			return &linktest.Exchange{
				Fake: x, Restart: x.restart,
				Link:   func(a exchangelink.Account) *linktest.Watch { return listen(t, a) },
				Ring:   func() { x.lists(map[string]string{"1": told("1", "ALERT", "101 RING")}) },
				HangUp: func() { x.lists(nil) },
				Send:   func(message string) { x.Send(30011, message) },
				Call: func(n int, extension string) (string, func()) {
					id := fmt.Sprint("c", n)
					x.say(told(id, "ALERT", extension+" RING"))
					return id, func() { x.say(told(id, "BYE")) }
				},
			}
		},
	}.Run(t)
}

// many returns an account for 101 and 102.
func many(x *exchange) exchangelink.Account {
	a := linktest.Account(x.Address())
	a.Extension, a.HasExtension = "", func(extension string) bool { return extension == "101" || extension == "102" }
	return a
}

const rings = "ringing incoming #1 0612345678 on 0201234567"

// TestShared: a call has the same id at all extensions; it can end at one of them and
// continue at another, and ends for all when the trunk hangs up. Changes while not
// connected are found in the list of active calls, including which calls have ended.
func TestShared(t *testing.T) {
	x := newExchange(t)
	w := listen(t, many(x)).Connected()
	x.say(told("1", "ALERT", "101 RING", "102 RING", "103 RING"))
	w.Expect(rings+" at 101", rings+" at 102")
	x.say(told("1", "ANSWERED", "101 ANSWER", "102 BYE"))
	answered := strings.Replace(rings, "ringing", "answered", 1)
	w.Expect(answered+" at 101", "ended incoming #1 at 102")
	x.say(told("1", "BYE", "101 ANSWER"))
	x.say(told("1", "BYE"))
	w.Expect("ended incoming #1")
	x.say(told("1", "ALERT", "101 RING", "102 RING"))
	x.say(told("2", "ALERT", "102 RING"))
	for range 3 {
		w.Want(call.Ringing)
	}
	x.lists(map[string]string{"1": told("1", "ALERT", "102 RING"), "3": told("3", "ALERT", "101 RING")})
	x.EachSocket(linktest.Cut)
	var got []string
	for range 4 {
		got = append(got, linktest.Say(w.Next()))
	}
	slices.Sort(got)
	if want := []string{"ended incoming #1 at 101", "ended incoming #2", rings + " at 102", strings.Replace(rings, "#1", "#3", 1) + " at 101"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// TestToken: the token is refreshed before it expires, reused for the next
// connection, and finally returned; a heartbeat keeps the connection alive.
func TestToken(t *testing.T) {
	x := newExchange(t)
	x.With(func() { x.Tokens.Lifetime, x.Idle = 300*time.Millisecond, 400*time.Millisecond })
	a := linktest.Account(x.Address())
	a.Net.Renewal = 10 * time.Millisecond
	w := listen(t, a, func(p *phone) { p.heartbeatInterval = 50 * time.Millisecond }).Connected()
	made := func(n int) func() bool { return func() bool { return x.Tokens.Issued >= n } }
	must.Do(t, x.Until(t.Context(), made(4)))
	x.With(func() { x.Tokens.Lifetime = time.Hour })
	x.EachSocket(linktest.Cut)
	w.Until(link.Connected)
	x.With(func() {
		if x.Logins > 2 || len(w.States) > 0 { // the answer to a change may be lost with the connection
			t.Errorf("%d logins, %d changes of state", x.Logins, len(w.States))
		}
	})
	valid := 0
	x.With(func() { valid = len(x.Tokens.Valid) })
	w.Stop()
	x.With(func() {
		if len(x.Tokens.Valid) != valid-1 {
			t.Errorf("%d tokens, %d before", len(x.Tokens.Valid), valid)
		}
	})
}

// TestRefused: a rejected secret is reported, and not retried so often that the
// exchange blocks this computer; a new one is tried at once. A client that may not
// subscribe is reported; one that may not query the calls still receives the events.
func TestRefused(t *testing.T) {
	x := newExchange(t)
	a := linktest.Account(x.Address())
	secret := "canary-wrong"
	a.Secret = func(context.Context) (string, error) { return secret, nil }
	p := must.Get(New(a))(t)
	try := func() error {
		return link.RunOnce(t.Context(), link.Config{Receive: func(call.Event) error { return nil }}, p)
	}
	for i := range 10 {
		if i == 1 { // an unavailable exchange does not reset the count of refusals
			x.Intercept(linktest.Status(api+"get_token", http.StatusServiceUnavailable))
			_ = try()
			x.Intercept(nil)
		}
		if err := try(); link.CauseOf(err) != link.CauseDenied {
			t.Errorf("%v", err)
		}
	}
	x.With(func() {
		if x.Logins != mostRefusals {
			t.Errorf("%d logins", x.Logins)
		}
	})
	secret = linktest.Known.Secret
	x.Intercept(linktest.Says(api+"get_token", `{"errcode":60002}`))
	for range mostRefusals { // says nothing of the secret, and does not count
		_ = try()
	}
	x.Intercept(func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == api+"subscribe" {
			w.WriteHeader(http.StatusForbidden)
			return true
		}
		return false
	})
	if err := try(); link.CauseOf(err) != link.CauseRights {
		t.Errorf("%v", err)
	}
	x.Intercept(nil)
	x.With(func() { x.RejectsQueries = true })
	w := linktest.Run(t, p).Connected()
	x.say(told("1", "ALERT", "101 RING"))
	w.Expect(rings)
	old := ""
	x.With(func() { old = x.Tokens.Valid[len(x.Tokens.Valid)-1] })
	x.Intercept(func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != api+"subscribe" || r.URL.Query().Get("access_token") != old {
			return false
		}
		must.Get(new(websocket.Upgrader).Upgrade(w, r, nil))(t).Close() // the only sign that the token is too old
		return true
	})
	x.EachSocket(linktest.Cut)
	w.Until(link.Waiting)
	w.Until(link.Connected)
}
