package wazo

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/simulate"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/testutil/linktest"
	"wiebelt/internal/testutil/must"
)

var (
	ring = told{id: "1736065800.12", conversation: "1736065800.11", status: "Ringing", direction: "inbound", peer: "+31612345678", peerName: "J. de Vries", dialed: "0201234567", user: uuid}
	// last is a call that marks the end: once it arrives, everything before it has been received.
	last = told{id: "1736065900.99", conversation: "1736065900.98", status: "Ringing", direction: "inbound", peer: "0201234599", dialed: "101", user: uuid}
)

const lastSaid = "ringing incoming #1736065900.99 0201234599 on 101"

func (c told) as(f func(*told)) told { f(&c); return c }
func up(c *told)                     { c.status = "Up" }

func TestStories(t *testing.T) {
	unknown := func(c *told) { c.direction = "unknown" }
	colleague := ring.as(func(c *told) { c.direction, c.peer, c.peerName, c.dialed = "internal", "102", "Bram", "101" })
	dial := told{id: "1736065800.20", status: "Ring", direction: "outbound", caller: true, dialed: "0201234568", user: uuid}
	calledOut := ring.as(func(c *told) {
		c.direction, c.peer, c.peerName, c.dialed = "outbound", "0201234568", "Bakkerij Smit", "0201234568"
	})
	alone := func(c *told) { c.conversation = "" }
	second := ring.as(func(c *told) { c.id = "1736065800.13" })
	const rings = "ringing incoming #1736065800.12 +31612345678 (J. de Vries) on 0201234567"
	for _, tt := range []struct {
		name string
		send []simulate.WazoEvent
		want []string
	}{
		{"answered and over", []simulate.WazoEvent{
			ring.as(func(c *told) { c.status, c.peer, c.peerName = "Down", "", "" }).event("call_created"),
			ring.as(func(c *told) { c.status = "Down" }).event("call_updated"),
			ring.event("call_updated"), ring.as(up).event("call_answered"), ring.as(up).event("call_ended"),
		}, []string{rings, strings.Replace(rings, "ringing", "answered", 1), strings.Replace(rings, "ringing", "ended completed", 1)}},
		{"the end tells why", []simulate.WazoEvent{ring.event("call_updated"), ring.end(26)}, []string{rings, strings.Replace(rings, "ringing", "ended elsewhere", 1)}},
		{"the end overtakes an update", []simulate.WazoEvent{ring.event("call_updated"), ring.event("call_ended"), ring.event("call_updated"), ring.as(up).event("call_answered")},
			[]string{rings, strings.Replace(rings, "ringing", "ended", 1)}},
		{"the end overtakes everything", []simulate.WazoEvent{ring.event("call_ended"), ring.event("call_created"),
			ring.event("call_updated")}, nil},
		{"the conversation's direction is unknown, or an older Wazo's call has none", []simulate.WazoEvent{
			ring.as(unknown).event("call_created"), ring.as(func(c *told) { c.direction = "" }).event("call_updated"),
			ring.as(up).as(unknown).event("call_answered"),
		}, []string{rings, rings, strings.Replace(rings, "ringing", "answered", 1)}},
		{"first heard of when it is answered", []simulate.WazoEvent{ring.as(up).event("call_answered")},
			[]string{strings.Replace(rings, "ringing", "answered", 1)}},
		{"so, and the direction is unknown", []simulate.WazoEvent{ring.as(up).as(unknown).event("call_answered"), ring.event("call_ended")},
			[]string{"answered unknown #1736065800.12 +31612345678 (J. de Vries) on 101",
				"ended completed unknown #1736065800.12 +31612345678 (J. de Vries) on 101"}},
		{"passed on by a colleague who had called out", []simulate.WazoEvent{
			calledOut.event("call_updated"), calledOut.as(up).event("call_answered"),
		}, []string{"ringing incoming #1736065800.12 0201234568 (Bakkerij Smit) on 101",
			"answered incoming #1736065800.12 0201234568 (Bakkerij Smit) on 101"}},
		{"our own call", []simulate.WazoEvent{
			dial.event("call_created"), dial.as(func(c *told) { c.status, c.peer, c.peerName = "Up", "0201234568", "Bakkerij Smit" }).event("call_answered"), dial.event("call_ended"),
		}, []string{"ringing outgoing #1736065800.20 0201234568 on 101", "answered outgoing #1736065800.20 0201234568 (Bakkerij Smit) on 101", "ended completed outgoing #1736065800.20 0201234568 (Bakkerij Smit) on 101"}},
		{"click to dial rings our own phone", []simulate.WazoEvent{ring.as(func(c *told) { c.caller, c.direction = true, "outbound" }).event("call_updated")},
			[]string{"ringing outgoing #1736065800.12 +31612345678 (J. de Vries) on 101"}},
		{"withheld", []simulate.WazoEvent{ring.as(func(c *told) { c.peer, c.peerName = "", "J. de Vries" }).event("call_updated")}, []string{"ringing incoming #1736065800.12 on 0201234567"}},
		{"the caller is known later", []simulate.WazoEvent{ring.as(func(c *told) { c.peer, c.peerName = "", "" }).event("call_updated"), ring.event("call_updated")},
			[]string{"ringing incoming #1736065800.12 on 0201234567", rings}},
		{"passed on by a colleague", []simulate.WazoEvent{colleague.event("call_updated"), colleague.as(up).event("call_answered"), ring.as(up).event("call_updated"), ring.event("call_ended")}, []string{
			"ringing incoming #1736065800.12 102 (Bram) on 101", "answered incoming #1736065800.12 102 (Bram) on 101",
			"answered incoming #1736065800.12 +31612345678 (J. de Vries) via Bram on 0201234567", "ended completed incoming #1736065800.12 +31612345678 (J. de Vries) via Bram on 0201234567",
		}},
		{"passed on to somebody who is withheld", []simulate.WazoEvent{colleague.event("call_updated"), colleague.as(func(c *told) { c.peer, c.peerName = "", "" }).event("call_updated")},
			[]string{"ringing incoming #1736065800.12 102 (Bram) on 101", "ringing incoming #1736065800.12 anonymous via Bram on 101"}},
		{"an update that tells nothing of the caller", []simulate.WazoEvent{ring.event("call_updated"), {Name: "call_answered", Call: json.RawMessage(strings.NewReplacer(`"peer_caller_id_number":"+31612345678",`, "", `"peer_caller_id_name":"J. de Vries",`, "").Replace(string(ring.as(up).json())))}},
			[]string{rings, strings.Replace(rings, "ringing", "answered", 1)}},
		{"two devices, one call", []simulate.WazoEvent{
			ring.event("call_updated"), second.event("call_updated"), second.as(up).event("call_answered"), ring.end(26), second.event("call_ended"),
		}, []string{rings, rings, strings.Replace(rings, "ringing", "answered", 1), strings.Replace(rings, "ringing", "ended completed", 1)}},
		{"one number twice is two calls", []simulate.WazoEvent{ring.event("call_updated"), second.as(func(c *told) { c.conversation = "x" }).event("call_updated")},
			[]string{rings, strings.Replace(rings, "#1736065800.12", "#1736065800.13", 1)}},
		{"nor are two that are in no conversation one", []simulate.WazoEvent{ring.as(alone).event("call_updated"), second.as(alone).event("call_updated")},
			[]string{rings, strings.Replace(rings, "#1736065800.12", "#1736065800.13", 1)}},
		{"what is not ours", []simulate.WazoEvent{
			ring.as(func(c *told) { c.user = other }).event("call_updated"), ring.as(func(c *told) { c.user = "" }).event("call_updated"),
			ring.event("call_held"), ring.as(func(c *told) { c.status = "Busy" }).event("call_updated"), ring.as(func(c *told) { c.id = "" }).event("call_updated"),
		}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			x := newExchange(t)
			w := x.link().Connected()
			x.SendAll(`{"op": "pong", "code": 0, "data": {"payload": "x"}}`, `{"op": "init", "code": 0, "data": {"version": 2}}`, `{"op": "start", "code": 0, "data": null}`)
			x.Send(tt.send...)
			x.Send(last.event("call_updated"))
			w.Expect(append(tt.want, lastSaid)...)
		})
	}
}

// TestLines: of the user's calls, those on a line without the extension are not reported.
func TestLines(t *testing.T) {
	x := newExchange(t)
	x.Lines = json.RawMessage(`[{"id":7,"name":"x","extensions":[{"exten":"101","context":"default"}]},{"id":8,"extensions":[{"exten":"199"}]},{"id":9,"extensions":[]}]`)
	var all []simulate.WazoEvent
	for line := range 10 { // 0 is unknown
		c := ring.as(func(c *told) { c.id, c.conversation, c.line = fmt.Sprint(line), "", line })
		x.list(c.as(func(c *told) { c.id += " listed" }))
		all = append(all, c.event("call_updated"))
	}
	w := x.link().Connected()
	x.Send(append(all, last.event("call_updated"))...)
	var got []string
	for e := w.Next(); linktest.Say(e) != lastSaid; e = w.Next() {
		got = append(got, e.ID)
	}
	if !slices.Equal(got, []string{"0 listed", "7 listed", "0", "7"}) {
		t.Errorf("%q", got)
	}
}

// TestRenewal: the token is repeatedly renewed before it expires, on the open connection,
// without losing an event.
func TestRenewal(t *testing.T) {
	x := newExchange(t)
	x.Tokens.Lifetime = 150 * time.Millisecond
	renewals := make(chan string, 1000)
	x.OnOperation = func(op string, data map[string]string) int {
		if op == "token" {
			renewals <- data["token"]
		}
		return 0
	}
	a := linktest.Account(x.Address())
	a.Net.Renewal = time.Millisecond
	w := listen(t, a).Connected()
	seen := map[string]bool{"simulated.token.1": true}
	for range 4 {
		token := <-renewals
		if seen[token] {
			t.Errorf("%s again", token)
		}
		seen[token] = true
		x.Send(ring.event("call_updated"))
		w.Expect("ringing incoming #1736065800.12 +31612345678 (J. de Vries) on 0201234567")
	}
	if len(w.States) != 0 {
		t.Error("the connection did not stay")
	}
}

// TestExpired: a broken connection does not require a new token. If the renewal fails, the
// exchange closes the connection; the next one has a new token and finds the active call
// again. A token that the exchange has forgotten is replaced without a refusal.
func TestExpired(t *testing.T) {
	x := newExchange(t)
	x.list(ring)
	w := x.link().Connected()
	again := func(made int) {
		t.Helper()
		w.Expect("ringing incoming #1736065800.12 +31612345678 (J. de Vries) on 0201234567")
		x.With(func() {
			if x.Tokens.Issued != made {
				t.Errorf("%d tokens, want %d", x.Tokens.Issued, made)
			}
		})
	}
	again(1)
	x.EachSocket(linktest.Cut)
	again(1)
	w.Connected()
	x.expire()
	if s := w.Until(link.Waiting); !strings.HasSuffix(s.Err.Error(), "(code 4003)") {
		t.Error(s.Err)
	}
	if s := <-w.States; s.Phase != link.Connected {
		t.Errorf("%v: %v", s.Phase, s.Err) // the old token must not have been retried
	}
	again(2)
	x.With(func() { x.Tokens.Valid = nil })
	x.EachSocket(linktest.Cut)
	w.Until(link.Waiting)
	if s := <-w.States; s.Phase != link.Waiting || !strings.HasSuffix(s.Err.Error(), "(code 4002)") {
		t.Errorf("%v: %v", s.Phase, s.Err)
	}
	again(3)
}

// TestOldTokenRefused: the user is not reported as refused until a new token has been tried.
func TestOldTokenRefused(t *testing.T) {
	x := newExchange(t)
	w := x.link().Connected()
	x.Intercept(linktest.Status("/api/calld", http.StatusUnauthorized))
	x.EachSocket(linktest.Cut)
	w.Until(link.Waiting)
	if s := <-w.States; s.Phase != link.Waiting || !strings.HasSuffix(s.Err.Error(), "status 401") {
		t.Errorf("%v: %v", s.Phase, s.Err)
	}
	w.Wake <- struct{}{}
	if s := <-w.States; s.Phase != link.Refused {
		t.Errorf("%v: %v", s.Phase, s.Err)
	}
}

// TestNeverGreets: an event server that does not begin is given up, and tried again.
func TestNeverGreets(t *testing.T) {
	x := newExchange(t)
	x.Intercept(silent)
	w := listen(t, linktest.Account(x.Address()), func(p *phone) { p.greetTimeout = 200 * time.Millisecond })
	if s := w.Until(link.Waiting); !strings.HasSuffix(s.Err.Error(), "the event server does not answer in time") {
		t.Error(s.Err)
	}
	x.Intercept(nil)
	w.Wake <- struct{}{}
	w.Connected()
}

// TestOlderWazo: an older Wazo has its event server at a separate port, and if
// users may not read which lines are theirs, all of their calls are reported.
func TestOlderWazo(t *testing.T) {
	x := newExchange(t)
	x.Intercept(func(w http.ResponseWriter, r *http.Request) bool {
		return linktest.Status("/api/websocketd", http.StatusNotFound)(w, r) || linktest.Status("/api/confd", http.StatusForbidden)(w, r)
	})
	p := must.Get(New(linktest.Account(x.Address())))(t)
	events := p.(*phone).events
	if len(events) != 2 || events[1].server.Host() != "127.0.0.1:9502" {
		t.Fatalf("%+v", events)
	}
	events[1].server = events[0].server // the test's server has any free port
	w := linktest.Run(t, p).Connected()
	x.Send(last.as(func(c *told) { c.line = 7 }).event("call_updated"))
	w.Expect(lastSaid)
}
