package xelion

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"wiebelt/internal/simulate"
	"wiebelt/internal/softphone/exchangelink"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/testutil/linktest"
)

func TestMain(m *testing.M) { linktest.Main(m) }

// exchange is a Xelion that can be stopped and started.
type exchange struct {
	*simulate.Xelion
	t testing.TB
}

func newExchange(t testing.TB) *exchange {
	return &exchange{linktest.Start(t, nil, simulate.StartXelion), t}
}

func (x *exchange) restart() { x.Xelion = linktest.Start(x.t, &x.Xelion, simulate.StartXelion) }

func (x *exchange) link() *linktest.Watch { return listen(x.t, linktest.Account(x.Address())) }

// listen runs a link until the test ends.
var listen = linktest.Listen[*phone](New)

type told struct{ call, id, state, name, role, phone string }

func (c told) json() json.RawMessage {
	b, _ := json.Marshal(map[string]any{"callId": c.call, "channelId": c.id, "state": c.state, "name": c.name, "organisationName": nil, "role": c.role,
		"phone": c.phone, "twinChannel": false, "parkingSlot": nil})
	return b
}

func (c told) as(f func(*told)) told { f(&c); return c }
func up(c *told)                     { c.state = "CONNECTED" }

// The caller and our phone in a ringing call.
var (
	from = told{"SIP/lijn-1", "SIP/lijn-1", "RINGING", "0612345678", "CALLER", ""}
	ring = told{"SIP/lijn-1", "SIP/101-2", "RINGING", "Anouk", "CALLEE", "101"}
)

const rings = "ringing incoming #SIP/lijn-1.SIP/101-2 0612345678 on 101"

// has sets the state of channels without sending an event.
func (x *exchange) has(all ...told) {
	x.With(func() {
		for _, c := range all {
			x.Channels[c.id] = c.json()
		}
	})
}

func (x *exchange) forget() { x.With(func() { clear(x.Channels) }) }

// set sets the state of channels and sends the event.
func (x *exchange) set(all ...told) { x.has(all...); x.note("insert", all...) }

// gone removes channels and sends the event.
func (x *exchange) gone(all ...told) {
	x.With(func() {
		for _, c := range all {
			delete(x.Channels, c.id)
		}
	})
	x.note("remove", all...)
}

func (x *exchange) note(update string, all ...told) {
	var events []simulate.XelionEvent
	x.With(func() {
		for _, c := range all {
			events = append(events, x.Channel(update, c.json()))
		}
	})
	x.Send(events...)
}

func (x *exchange) about(kind string, of map[string]any) {
	x.Send(simulate.XelionEvent{Type: kind, Fields: of})
}

// another returns a call that marks the end: once it
// arrives, everything before it has been received.
func another(n int, extension string) []told {
	id := fmt.Sprintf("SIP/lijn-z%d", n)
	return []told{{id, id, "RINGING", "0201234599", "CALLER", ""}, {id, fmt.Sprintf("SIP/%s-z%d", extension, n), "RINGING", "Anouk", "CALLEE", extension}}
}

// last rings and hangs up, and waits for both events.
func (x *exchange) last(w *linktest.Watch) {
	x.t.Helper()
	x.set(another(0, "101")...)
	const said = " incoming #SIP/lijn-z0.SIP/101-z0 0201234599 on 101"
	w.Expect("ringing" + said)
	x.gone(another(0, "101")...)
	w.Expect("ended" + said)
}

// rigged returns an exchange for the common tests.
func rigged(t testing.TB) (*exchange, *linktest.Exchange) {
	x := newExchange(t)
	return x, &linktest.Exchange{
		Fake: x, Restart: x.restart, HangUp: x.forget,
		Link: func(a exchangelink.Account) *linktest.Watch { return listen(t, a, func(p *phone) { p.minSession = 0 }) },
		Ring: func() { x.has(from, ring) },
		Send: func(message string) { x.SendAll(message) },
		Call: func(n int, extension string) (string, func()) {
			c := another(n+1, extension)
			x.set(c...)
			return c[1].call + "." + c[1].id, func() { x.gone(c...) }
		},
	}
}

// ended closes the connections and forgets their session.
func (x *exchange) ended(taken bool) {
	x.With(func() { x.Tokens.Valid, x.InUse = nil, taken })
	x.EachSocket(linktest.Cut)
}

// login answers logins with an error code.
func login(status, code int) linktest.Answer {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/me/login") {
			return false
		}
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"errorCode":%d,"message":"canary 0612345678"}`, code)
		return true
	}
}

// TestExchange runs the common tests of links to exchanges.
func TestExchange(t *testing.T) {
	t.Parallel()
	const base = "/api/v1/master"
	linktest.ExchangeTests{
		Ended:     strings.Replace(rings, "ringing", "ended", 1),
		Hostile:   hostile(t, 330),
		TokenPath: base + "/me/login", TokenAnswer: `{"authentication":%s}`,
		Denied: "Xelion does not accept the user name and password (401)", NoSecret: "no password for Xelion is stored",
		Refusals: map[string]linktest.Refusal{
			"disabled":             {Answer: login(401, 10006), Want: "Xelion has disabled the user (401)", Cause: link.CauseDenied},
			"expired":              {Answer: login(401, 10007), Want: "Xelion says that the password has expired (401)", Cause: link.CauseDenied},
			"another version":      {Answer: login(401, 10008), Want: "Xelion has another version of its API (401)", Cause: link.CauseVersion},
			"nothing there":        {Answer: login(404, 10100), Want: "Xelion has another version of its API (404)", Cause: link.CauseVersion},
			"a second factor":      {Answer: login(401, 10013), Want: "Xelion asks this user for a second factor (401)", Cause: link.CauseRights},
			"a fault":              {Answer: login(401, 10009), Want: "Xelion cannot log anybody in at the moment (401)", Cause: link.CauseUnavailable},
			"no API for this user": {Answer: login(403, 10101), Want: "Xelion does not let this user use its API (403)", Cause: link.CauseRights},
			"everywhere logged in": {Answer: login(401, 10005), Want: "Xelion has this user logged in elsewhere", Cause: link.CauseReplaced},
			"no calls for this user": {Answer: linktest.Status(base+"/communications", http.StatusForbidden),
				Want: "Xelion does not let this user see calls (403)", Cause: link.CauseRights},
			"no calls in this version": {Answer: linktest.Status(base+"/communications", http.StatusNotFound),
				Want: "Xelion has another version of its API (404)", Cause: link.CauseVersion},
		},
		// The session has ended too, and another program may use its user space.
		Losses: []func(*linktest.Exchange){
			func(e *linktest.Exchange) { e.Fake.(*exchange).ended(false) },
			func(e *linktest.Exchange) { e.Fake.(*exchange).ended(true) },
		},
		Paths:   []string{base + "/me/login", base + "/me/websocket", base + "/communications", "/websocket/"},
		Private: []string{"/api/", "/websocket"},
		New:     func(t testing.TB) *linktest.Exchange { _, e := rigged(t); return e },
	}.Run(t)
}
