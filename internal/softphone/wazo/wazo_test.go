package wazo

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/softphone/exchangelink"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/testutil/linktest"
)

var (
	ring = told{id: "1736065800.12", conversation: "1736065800.11", status: "Ringing", direction: "inbound", peer: "+31612345678", peerName: "J. de Vries", dialed: "0201234567", user: uuid}
	// last is a call by which a test knows that everything before it was taken.
	last = told{id: "1736065900.99", conversation: "1736065900.98", status: "Ringing", direction: "inbound", peer: "0201234599", dialed: "101", user: uuid}
)

const lastSaid = "ringing incoming #1736065900.99 0201234599 on 101"

func (c told) as(f func(*told)) told { f(&c); return c }
func up(c *told)                     { c.status = "Up" }

func TestStories(t *testing.T) {
	reason := func(c told, n int) string {
		return strings.Replace(c.event("call_ended"), `"reason_code":16`, fmt.Sprintf(`"reason_code":%d`, n), 1)
	}
	unknown := func(c *told) { c.direction = "unknown" }
	colleague := ring.as(func(c *told) { c.direction, c.peer, c.peerName, c.dialed = "internal", "102", "Bram", "101" })
	dial := told{id: "1736065800.20", status: "Ring", direction: "outbound", caller: true, dialed: "0201234568", user: uuid}
	second := ring.as(func(c *told) { c.id = "1736065800.13" })
	const rings = "ringing incoming #1736065800.12 +31612345678 (J. de Vries) on 0201234567"
	for _, tt := range []struct {
		name string
		send []string
		want []string
	}{
		{"answered and over", []string{
			ring.as(func(c *told) { c.status, c.peer, c.peerName = "Down", "", "" }).event("call_created"),
			ring.as(func(c *told) { c.status = "Down" }).event("call_updated"),
			ring.event("call_updated"), ring.as(up).event("call_answered"), ring.as(up).event("call_ended"),
		}, []string{rings, strings.Replace(rings, "ringing", "answered", 1), strings.Replace(rings, "ringing", "ended completed", 1)}},
		{"the end tells why", []string{ring.event("call_updated"), reason(ring, 26)}, []string{rings, strings.Replace(rings, "ringing", "ended elsewhere", 1)}},
		{"the end overtakes an update", []string{ring.event("call_updated"), ring.event("call_ended"), ring.event("call_updated"), ring.as(up).event("call_answered")},
			[]string{rings, strings.Replace(rings, "ringing", "ended", 1)}},
		{"the end overtakes everything", []string{ring.event("call_ended"), ring.event("call_created"), ring.event("call_updated")}, nil},
		{"the direction is known later", []string{ring.as(unknown).event("call_created"), ring.as(unknown).event("call_updated"), ring.event("call_updated"), ring.as(up).as(unknown).event("call_answered")},
			[]string{rings, strings.Replace(rings, "ringing", "answered", 1)}},
		{"the direction is known when it is answered", []string{ring.as(unknown).event("call_created"), ring.as(up).event("call_answered")}, []string{strings.Replace(rings, "ringing", "answered", 1)}},
		{"the direction is never known", []string{ring.as(unknown).event("call_created"), ring.as(up).as(unknown).event("call_answered"), ring.event("call_ended")},
			[]string{"answered unknown #1736065800.12 +31612345678 (J. de Vries) on 101", "ended completed unknown #1736065800.12 +31612345678 (J. de Vries) on 101"}},
		{"a colleague calls", []string{colleague.event("call_updated")}, []string{"ringing incoming #1736065800.12 102 (Bram) on 101"}},
		{"our own call", []string{
			dial.event("call_created"), dial.as(func(c *told) { c.status, c.peer, c.peerName = "Up", "0201234568", "Bakkerij Smit" }).event("call_answered"), dial.event("call_ended"),
		}, []string{"ringing outgoing #1736065800.20 0201234568 on 101", "answered outgoing #1736065800.20 0201234568 (Bakkerij Smit) on 101", "ended completed outgoing #1736065800.20 0201234568 (Bakkerij Smit) on 101"}},
		{"click to dial rings our own phone", []string{ring.as(func(c *told) { c.caller, c.direction = true, "outbound" }).event("call_updated")},
			[]string{"ringing outgoing #1736065800.12 +31612345678 (J. de Vries) on 101"}},
		{"withheld", []string{ring.as(func(c *told) { c.peer, c.peerName = "", "" }).event("call_updated")}, []string{"ringing incoming #1736065800.12 on 0201234567"}},
		{"the caller is known later", []string{ring.as(func(c *told) { c.peer, c.peerName = "", "" }).event("call_updated"), ring.event("call_updated")},
			[]string{"ringing incoming #1736065800.12 on 0201234567", rings}},
		{"passed on by a colleague", []string{colleague.event("call_updated"), colleague.as(up).event("call_answered"), ring.as(up).event("call_updated"), ring.event("call_ended")}, []string{
			"ringing incoming #1736065800.12 102 (Bram) on 101", "answered incoming #1736065800.12 102 (Bram) on 101",
			"answered incoming #1736065800.12 +31612345678 (J. de Vries) via Bram on 0201234567", "ended completed incoming #1736065800.12 +31612345678 (J. de Vries) via Bram on 0201234567",
		}},
		{"passed on to somebody who is withheld", []string{colleague.event("call_updated"), colleague.as(func(c *told) { c.peer, c.peerName = "", "" }).event("call_updated")},
			[]string{"ringing incoming #1736065800.12 102 (Bram) on 101", "ringing incoming #1736065800.12 anonymous via Bram on 101"}},
		{"an update that tells nothing of the caller", []string{ring.event("call_updated"), strings.NewReplacer(`"peer_caller_id_number":"+31612345678",`, "", `"peer_caller_id_name":"J. de Vries",`, "").Replace(ring.as(up).event("call_answered"))},
			[]string{rings, strings.Replace(rings, "ringing", "answered", 1)}},
		{"two devices, one call", []string{
			ring.event("call_updated"), second.event("call_updated"), second.as(up).event("call_answered"), reason(ring, 26), second.event("call_ended"),
		}, []string{rings, rings, strings.Replace(rings, "ringing", "answered", 1), strings.Replace(rings, "ringing", "ended completed", 1)}},
		{"one number twice is two calls", []string{ring.event("call_updated"), second.as(func(c *told) { c.conversation = "x" }).event("call_updated")},
			[]string{rings, strings.Replace(rings, "#1736065800.12", "#1736065800.13", 1)}},
		{"what is not ours", []string{
			ring.as(func(c *told) { c.user = other }).event("call_updated"), ring.as(func(c *told) { c.user = "" }).event("call_updated"),
			ring.event("call_held"), ring.as(func(c *told) { c.status = "Busy" }).event("call_updated"), ring.as(func(c *told) { c.id = "" }).event("call_updated"),
			`{"op": "pong", "code": 0, "data": {"payload": "x"}}`, `{"op": "init", "code": 0, "data": {"version": 2}}`, `{"op": "start", "code": 0, "data": null}`,
		}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			x := newExchange(t)
			w := listen(t, x.config())
			w.Until(link.Connected)
			x.send(tt.send...)
			x.send(last.event("call_updated"))
			w.Expect(append(tt.want, lastSaid)...)
		})
	}
}

// TestNobodyElsesCalls: the login is an administrator's, whom the exchange sends
// the calls of fifty extensions.
func TestNobodyElsesCalls(t *testing.T) {
	x := newExchange(t)
	x.lines = `[{"id":7,"name":"x","extensions":[{"exten":"101","context":"default"}]},{"id":8,"extensions":[{"exten":"199"}]},{"id":9,"extensions":[]}]`
	var all []string
	for i := range 50 {
		c := ring.as(func(c *told) {
			c.id, c.conversation, c.user, c.line = fmt.Sprintf("17360658.%d", i), "", fmt.Sprintf("00000000-3a8b-4c6a-9b36-0b7c4a3d%04d", i), i
			c.peer = fmt.Sprintf("06123450%02d", i)
		})
		if i >= 5 && i < 10 {
			c.user = uuid // ours, on five lines; 7 has the extension
		}
		x.calls[c.id+"s"] = c.as(func(c *told) { c.id += "s" }).json()
		all = append(all, c.event("call_created"), c.event("call_updated"), c.as(up).event("call_answered"), c.event("call_ended"))
	}
	rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	w := listen(t, x.config())
	w.Until(link.Connected)
	x.send(all...)
	x.send(ring.event("call_updated"), last.event("call_updated"))
	ours := 0
	for e := w.Next(); linktest.Say(e) != lastSaid; e = w.Next() {
		if e.ID == "17360658.7" || e.ID == "17360658.7s" || e.ID == ring.id {
			ours++
		} else {
			t.Errorf("somebody else's call: %s", linktest.Say(e))
		}
	}
	if ours < 2 {
		t.Errorf("%d events of ours", ours)
	}
}

func TestSnapshot(t *testing.T) {
	x := newExchange(t)
	x.calls["1"], x.calls["2"], x.calls["3"] = ring.json(), ring.as(func(c *told) { c.id, c.user = "2", other }).json(), `{"call_id":17}`
	w := listen(t, x.config())
	w.Expect("ringing incoming #1736065800.12 +31612345678 (J. de Vries) on 0201234567")
	w.Until(link.Connected)
	x.send(last.event("call_updated"))
	w.Expect(lastSaid)
}

// TestRenewal: the token is renewed on the open connection before it ends, again
// and again, and no event is lost by it.
func TestRenewal(t *testing.T) {
	x := newExchange(t)
	x.life = 150 * time.Millisecond
	p, err := New(x.config())
	if err != nil {
		t.Fatal(err)
	}
	p.(*phone).least = time.Millisecond
	w := linktest.Run(t, p)
	w.Until(link.Connected)
	seen := map[string]bool{}
	for range 4 {
		token := <-x.renewals
		if seen[token] || token == "canary-token-1" {
			t.Errorf("%s again", token)
		}
		seen[token] = true
		x.send(ring.event("call_updated"))
		w.Expect("ringing incoming #1736065800.12 +31612345678 (J. de Vries) on 0201234567")
	}
	if len(w.States) != 0 {
		t.Error("the connection did not stay")
	}
}

// TestExpired: the renewal fails, the exchange closes the connection, and the
// next one has a new token; the call that was on is found again.
func TestExpired(t *testing.T) {
	x := newExchange(t)
	x.calls["1"] = ring.json()
	w := listen(t, x.config())
	w.Until(link.Connected)
	w.Expect("ringing incoming #1736065800.12 +31612345678 (J. de Vries) on 0201234567")
	x.expire()
	if s := w.Until(link.Waiting); !strings.HasSuffix(s.Err.Error(), "(code 4003)") {
		t.Error(s.Err)
	}
	if s := <-w.States; s.Phase != link.Connected {
		t.Errorf("%v: %v", s.Phase, s.Err) // it did not try the old one again
	}
	w.Expect("ringing incoming #1736065800.12 +31612345678 (J. de Vries) on 0201234567")
	x.with(func() {
		if x.made != 2 {
			t.Errorf("%d tokens", x.made)
		}
	})
}

// TestTokenIsKept: a connection that broke does not cost a new token; one that
// the exchange has forgotten is replaced without troubling anybody.
func TestTokenIsKept(t *testing.T) {
	x := newExchange(t)
	w := listen(t, x.config())
	w.Until(link.Connected)
	(<-x.upgraded).NetConn().Close()
	w.Until(link.Waiting)
	w.Until(link.Connected)
	x.with(func() {
		if x.made != 1 {
			t.Errorf("%d tokens", x.made)
		}
	})
	x.restart()
	for refused := false; !refused; { // waiting while it was away, then with a token it does not know
		s := w.Until(link.Waiting)
		w.Wake <- struct{}{}
		refused = strings.HasSuffix(s.Err.Error(), "(code 4002)")
	}
	w.Until(link.Connected)
}

func TestRefusals(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*exchange, *exchangelink.Account)
		want   string
	}{
		{"wrong password", func(_ *exchange, c *exchangelink.Account) {
			c.Secret = func(context.Context) (string, error) { return "wrong", nil }
		}, "Wazo does not accept the user name and password (401)"},
		{"no password", func(_ *exchange, c *exchangelink.Account) {
			c.Secret = func(context.Context) (string, error) { return "", nil }
		}, "no password for Wazo is stored"},
		{"no events for this user", func(x *exchange, _ *exchangelink.Account) { x.closes = 4002 }, "Wazo does not let this user listen to events (4002)"},
		{"no calls for this user", func(x *exchange, _ *exchangelink.Account) { x.denied = http.StatusUnauthorized }, "Wazo does not let this user see its own calls (401)"},
		{"another extension", func(x *exchange, _ *exchangelink.Account) { x.lines = `[{"id":1,"extensions":[{"exten":"102"}]}]` }, "this user of Wazo has no line with the extension of the settings"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			x := newExchange(t)
			cfg := x.config()
			tt.change(x, &cfg)
			listen(t, cfg).Refused(tt.want)
		})
	}
}

// TestOldTokenRefused: it is not the user who is refused before it was tried with
// a new token.
func TestOldTokenRefused(t *testing.T) {
	x := newExchange(t)
	w := listen(t, x.config())
	w.Until(link.Connected)
	x.with(func() { x.denied = http.StatusUnauthorized })
	(<-x.upgraded).NetConn().Close()
	w.Until(link.Waiting)
	if s := <-w.States; s.Phase != link.Waiting || !strings.HasSuffix(s.Err.Error(), "status 401") {
		t.Errorf("%v: %v", s.Phase, s.Err)
	}
	w.Wake <- struct{}{}
	if s := <-w.States; s.Phase != link.Refused {
		t.Errorf("%v: %v", s.Phase, s.Err)
	}
}

// TestTroubles: what is no refusal is tried again by itself.
func TestTroubles(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*exchange)
		want   string
	}{
		{"no token", func(x *exchange) { x.closes = 4001 }, "(code 4001)"},
		{"protocol error", func(x *exchange) { x.closes = 4004 }, "(code 4004)"},
		{"bus lost", func(x *exchange) { x.closes = 1011 }, "(code 1011)"},
		{"an operation refused", func(x *exchange) { x.refuses = "subscribe" }, "the event server refuses what it was asked"},
		{"never says init", func(x *exchange) { x.silent = true }, "the event server does not answer in time"},
		{"no login now", func(x *exchange) { x.login = http.StatusServiceUnavailable }, "it answers with status 503"},
		{"no list now", func(x *exchange) { x.denied = http.StatusServiceUnavailable }, "it answers with status 503"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			x := newExchange(t)
			tt.change(x)
			p, err := New(x.config())
			if err != nil {
				t.Fatal(err)
			}
			p.(*phone).greets = 200 * time.Millisecond
			w := linktest.Run(t, p)
			if s := w.Until(link.Waiting); !strings.HasSuffix(s.Err.Error(), tt.want) {
				t.Error(s.Err)
			}
			x.with(func() { x.closes, x.refuses, x.silent, x.login, x.denied = 0, "", false, 0, 0 })
			w.Wake <- struct{}{}
			w.Until(link.Connected)
			x.send(last.event("call_updated"))
			w.Expect(lastSaid)
		})
	}
}

// TestOlderWazo has its event server at a port of its own.
func TestOlderWazo(t *testing.T) {
	x := newExchange(t)
	x.old = true
	p, err := New(x.config())
	if err != nil {
		t.Fatal(err)
	}
	events := p.(*phone).events
	if len(events) != 2 || events[1].server.Host() != "127.0.0.1:9502" {
		t.Fatalf("%+v", events)
	}
	events[1].server = events[0].server // the test's has a port that is free
	w := linktest.Run(t, p)
	w.Until(link.Connected)
	x.send(last.event("call_updated"))
	w.Expect(lastSaid)
}

// TestBreaks: what every exchange does to us, and the computer we run on.
func TestBreaks(t *testing.T) {
	t.Run("restart", func(t *testing.T) { newExchange(t).breaks().Restarts() })
	t.Run("sleep", func(t *testing.T) { newExchange(t).breaks().Sleeps() })
	t.Run("silence", func(t *testing.T) { newExchange(t).breaks().FallsSilent(t) })
}
