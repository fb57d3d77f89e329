package ari

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/softphone/exchangelink"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/testutil/linktest"
)

var (
	ring = chan_{id: "1736065800.12", name: "PJSIP/101-0000000c", state: "Ringing", caller: "101", peer: "0612345678", peerName: "J. de Vries", exten: "0201234567"}
	// last is a call that marks the end: once it arrives, everything before it has been received.
	last = chan_{id: "1736065900.99", name: "PJSIP/101-000000ff", state: "Ringing", caller: "101", peer: "0201234599", exten: "101"}
)

const lastSaid = "ringing incoming #1736065900.99 0201234599 on 101"

func (c chan_) as(f func(*chan_)) chan_ { f(&c); return c }
func up(c *chan_)                       { c.state = "Up" }

func TestStories(t *testing.T) {
	trunk := chan_{id: "1736065800.11", name: "PJSIP/trunk-0000000b", state: "Ring", caller: "0612345678", callerName: "J. de Vries", exten: "0201234567"}
	dial := chan_{id: "1736065800.20", name: "SIP/101-00000020", state: "Ring", caller: "101", exten: "0201234568"}
	colleague := ring.as(func(c *chan_) { c.peer, c.peerName, c.exten = "102", "Anouk", "101" })
	cause := func(c chan_, n int) string {
		return strings.Replace(c.event("ChannelDestroyed"), `"cause":16`, fmt.Sprintf(`"cause":%d`, n), 1)
	}
	const rings = "ringing incoming #1736065800.12 0612345678 (J. de Vries) on 0201234567"
	for _, tt := range []struct {
		name string
		vars map[string]string
		send []string
		want []string
	}{
		{"answered and over", nil, []string{
			trunk.event("ChannelCreated"), ring.as(func(c *chan_) { c.state, c.peer, c.peerName = "Down", "", "" }).event("ChannelCreated"),
			ring.event("ChannelStateChange"), ring.as(up).event("ChannelStateChange"), ring.as(up).event("ChannelDestroyed"),
		}, []string{
			rings, "answered incoming #1736065800.12 0612345678 (J. de Vries) on 0201234567",
			"ended completed incoming #1736065800.12 0612345678 (J. de Vries) on 0201234567",
		}},
		{"the end tells why", nil, []string{
			ring.event("ChannelStateChange"), cause(ring, 26), ring.event("ChannelStateChange"), cause(ring, 21),
			ring.event("ChannelStateChange"), cause(ring, 19), ring.event("ChannelStateChange"), cause(ring, 16),
			ring.event("ChannelStateChange"), cause(ring, 17),
			ring.event("ChannelStateChange"), ring.as(up).event("ChannelStateChange"), cause(ring, 17),
		}, []string{
			rings, strings.Replace(rings, "ringing", "ended elsewhere", 1), rings, strings.Replace(rings, "ringing", "ended rejected", 1),
			rings, strings.Replace(rings, "ringing", "ended missed", 1), rings, strings.Replace(rings, "ringing", "ended", 1),
			rings, strings.Replace(rings, "ringing", "ended rejected", 1),
			rings, strings.Replace(rings, "ringing", "answered", 1), strings.Replace(rings, "ringing", "ended completed", 1),
		}},
		{"our own call", map[string]string{"1736065800.20 CONNECTEDLINE(num-pres)": "prohib_not_screened"}, []string{
			dial.event("ChannelCreated"), dial.as(func(c *chan_) { c.exten = "s" }).event("ChannelCallerId"),
			dial.as(func(c *chan_) { c.state, c.exten, c.peer, c.peerName = "Up", "s", "0201234568", "Bakkerij Smit" }).event("ChannelStateChange"),
			dial.as(func(c *chan_) { c.state = "Up" }).event("ChannelDestroyed"),
		}, []string{
			"ringing outgoing #1736065800.20 0201234568 on 101", "ringing outgoing #1736065800.20 0201234568 on 101",
			"answered outgoing #1736065800.20 0201234568 (Bakkerij Smit) on 101", "ended completed outgoing #1736065800.20 0201234568 (Bakkerij Smit) on 101",
		}},
		{"passed on by a colleague, with consultation", nil, []string{
			colleague.event("ChannelStateChange"), colleague.as(up).event("ChannelStateChange"),
			ring.as(up).event("ChannelConnectedLine"), ring.as(up).event("ChannelDestroyed"),
		}, []string{
			"ringing incoming #1736065800.12 102 (Anouk) on 101", "answered incoming #1736065800.12 102 (Anouk) on 101",
			"answered incoming #1736065800.12 0612345678 (J. de Vries) via Anouk on 101", "ended completed incoming #1736065800.12 0612345678 (J. de Vries) via Anouk on 101",
		}},
		{"passed on while it rings", nil, []string{colleague.event("ChannelStateChange"), ring.event("ChannelConnectedLine")}, []string{
			"ringing incoming #1736065800.12 102 (Anouk) on 101", "ringing incoming #1736065800.12 0612345678 (J. de Vries) via Anouk on 0201234567",
		}},
		{"passed on to somebody who is withheld", nil, []string{
			colleague.event("ChannelStateChange"), colleague.as(func(c *chan_) { c.peer, c.peerName = "", "" }).event("ChannelConnectedLine"),
		}, []string{"ringing incoming #1736065800.12 102 (Anouk) on 101", "ringing incoming #1736065800.12 anonymous via Anouk on 101"}},
		{"forwarded by another number", nil, []string{ring.as(func(c *chan_) { c.rdnis = "0201234500" }).event("ChannelStateChange")},
			[]string{"ringing incoming #1736065800.12 0612345678 (J. de Vries) via 0201234500 on 0201234567"}},
		{"withheld, empty", nil, []string{ring.as(func(c *chan_) { c.peer, c.peerName = "", "Anonymous" }).event("ChannelStateChange")},
			[]string{"ringing incoming #1736065800.12 on 0201234567"}},
		{"withheld, but the exchange knows the number", map[string]string{"1736065800.12 CONNECTEDLINE(num-pres)": "prohib_passed_screen"},
			[]string{ring.event("ChannelStateChange"), ring.as(up).event("ChannelStateChange")},
			[]string{"ringing incoming #1736065800.12 anonymous on 0201234567", "answered incoming #1736065800.12 anonymous on 0201234567"}},
		{"not withheld", map[string]string{"1736065800.12 CONNECTEDLINE(num-pres)": "allowed_passed_screen"}, []string{ring.event("ChannelStateChange")}, []string{rings}},
		{"withheld as the trunk's channel tells", nil, []string{trunk.event("ChannelCallerId"), ring.event("ChannelStateChange")},
			[]string{"ringing incoming #1736065800.12 anonymous on 0201234567"}},
		{"not withheld as the trunk's channel tells", nil, []string{strings.Replace(trunk.event("ChannelCallerId"), "Prohibited", "Allowed", 1), ring.event("ChannelStateChange")}, []string{rings}},
		{"withheld once, and not the next time", nil, []string{
			trunk.event("ChannelCallerId"), ring.event("ChannelStateChange"), cause(ring, 19), trunk.event("ChannelDestroyed"), ring.as(func(c *chan_) { c.id = "1736065800.13" }).event("ChannelStateChange"),
		}, []string{"ringing incoming #1736065800.12 anonymous on 0201234567", "ended missed incoming #1736065800.12 anonymous on 0201234567", strings.Replace(rings, ".12", ".13", 1)}},
		{"withheld as a channel tells whose id is too long to remember", nil, []string{
			trunk.as(func(c *chan_) { c.id = strings.Repeat("1", 1<<10) }).event("ChannelCallerId"), ring.event("ChannelStateChange")}, []string{rings}},
		{"withheld as the trunk's channel tells later, beside other calls", nil, []string{
			ring.as(func(c *chan_) { c.id, c.peer = "1736065800.13", "0698760001" }).event("ChannelStateChange"), dial.as(func(c *chan_) { c.exten = "0612345678" }).event("ChannelCreated"),
			ring.event("ChannelStateChange"), trunk.event("ChannelCallerId"), ring.as(up).event("ChannelStateChange")},
			[]string{"ringing incoming #1736065800.13 0698760001 (J. de Vries) on 0201234567", "ringing outgoing #1736065800.20 0612345678 on 101",
				rings, "ringing incoming #1736065800.12 anonymous on 0201234567", "answered incoming #1736065800.12 anonymous on 0201234567"}},
		{"withheld as our channel tells", nil, []string{ring.as(func(c *chan_) { c.caller = "0612345678" }).event("ChannelCallerId")},
			[]string{"ringing incoming #1736065800.12 anonymous on 0201234567"}},
		{"our own number is withheld, not the caller's", nil, []string{ring.event("ChannelCallerId")}, []string{rings}},
		{"two phones of the extension, one call", map[string]string{"1736065800.12 CHANNEL(linkedid)": "1736065800.11", "1736065800.13 CHANNEL(linkedid)": "1736065800.11"}, []string{
			ring.event("ChannelStateChange"), ring.as(func(c *chan_) { c.id, c.name = "1736065800.13", "PJSIP/101-0000000d" }).event("ChannelStateChange"),
			ring.as(func(c *chan_) { c.id, c.name, c.state = "1736065800.13", "PJSIP/101-0000000d", "Up" }).event("ChannelStateChange"),
			cause(ring, 26),
			ring.as(func(c *chan_) { c.id, c.name, c.state = "1736065800.13", "PJSIP/101-0000000d", "Up" }).event("ChannelDestroyed"),
		}, []string{rings, rings, "answered incoming #1736065800.12 0612345678 (J. de Vries) on 0201234567", "ended completed incoming #1736065800.12 0612345678 (J. de Vries) on 0201234567"}},
		{"two phones of the extension, the second one after the number was withheld", map[string]string{"1736065800.12 CHANNEL(linkedid)": "1736065800.11", "1736065800.13 CHANNEL(linkedid)": "1736065800.11"}, []string{
			ring.event("ChannelStateChange"), trunk.event("ChannelCallerId"), ring.as(func(c *chan_) { c.id, c.name = "1736065800.13", "PJSIP/101-0000000d" }).event("ChannelStateChange"),
		}, []string{rings, "ringing incoming #1736065800.12 anonymous on 0201234567", "ringing incoming #1736065800.12 anonymous on 0201234567"}},
		{"one number twice is two calls", map[string]string{"1736065800.13 CHANNEL(linkedid)": "1736065800.1"}, []string{
			ring.event("ChannelStateChange"), ring.as(func(c *chan_) { c.id, c.name = "1736065800.13", "PJSIP/101-0000000d" }).event("ChannelStateChange"),
			ring.as(func(c *chan_) { c.id, c.name = "1736065800.14", "PJSIP/101-0000000e" }).event("ChannelStateChange"),
		}, []string{rings, strings.Replace(rings, "#1736065800.12", "#1736065800.13", 1), strings.Replace(rings, "#1736065800.12", "#1736065800.14", 1)}},
		{"the channel becomes somebody else's", nil, []string{
			ring.event("ChannelStateChange"), ring.as(up).event("ChannelStateChange"), ring.as(func(c *chan_) { c.state, c.name = "Up", "PJSIP/102-0000000e" }).event("ChannelConnectedLine"),
		}, []string{rings, "answered incoming #1736065800.12 0612345678 (J. de Vries) on 0201234567", "ended completed incoming #1736065800.12 0612345678 (J. de Vries) on 0201234567"}},
		{"never heard of before it was answered", nil, []string{ring.as(up).event("ChannelStateChange")},
			[]string{"answered unknown #1736065800.12 0612345678 (J. de Vries) on 0201234567"}},
		{"other phones and other things", nil, []string{
			ring.as(func(c *chan_) { c.name = "PJSIP/101-mobile-0000000c" }).event("ChannelStateChange"),
			ring.as(func(c *chan_) { c.name = "PJSIP/1010-0000000c" }).event("ChannelStateChange"),
			ring.as(func(c *chan_) { c.name = "PJSIP/101" }).event("ChannelStateChange"),
			ring.as(func(c *chan_) { c.name = "PJSIP/101-" }).event("ChannelStateChange"),
			ring.as(func(c *chan_) { c.name = "PJSIP/101-0000000c<ZOMBIE>" }).event("ChannelStateChange"),
			ring.as(func(c *chan_) { c.name = "IAX2/101-0000000c" }).event("ChannelStateChange"),
			ring.as(func(c *chan_) { c.name = "AsyncGoto/PJSIP/101-0000000c" }).event("ChannelStateChange"),
			ring.as(func(c *chan_) { c.name = "Local/101@from-internal-0000000c;1" }).event("ChannelStateChange"),
			ring.as(func(c *chan_) { c.state = "Rsrvd" }).event("ChannelStateChange"),
			ring.event("ChannelVarset"), ring.event("ChannelDestroyed"), ring.event("Dial"),
			`{"type":"DeviceStateChanged","application":"wiebelt-jansen-pc7","device_state":{"name":"PJSIP/101","state":"RINGING"}}`,
			`{"type":"ApplicationReplaced","application":"another"}`,
		}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := newAsterisk(t)
			a.With(func() { maps.Copy(a.Vars, tt.vars) })
			w := a.link().Connected()
			a.Send(tt.send...)
			a.Send(last.event("ChannelStateChange"))
			w.Expect(append(tt.want, lastSaid)...)
		})
	}
}

func TestWhatEventsCarry(t *testing.T) {
	a := newAsterisk(t)
	w := a.link().Connected()
	a.Send(ring.event("ChannelStateChange"), ring.as(up).event("ChannelStateChange"))
	e := w.Next()
	w.Next() // about which nothing more is queried
	if want := (call.Source{Kind: "ari", Conn: linktest.Host(a.Address()) + "/101", ReportLevel: call.AllStates}); e.Source != want || e.At.IsZero() {
		t.Errorf("%+v", e)
	}
	a.With(func() {
		if !maps.Equal(a.RequestCounts, map[string]int{"1736065800.12 CONNECTEDLINE(num-pres)": 1}) {
			t.Errorf("asked %v", a.RequestCounts)
		}
	})
}

// TestExtensionWithHyphen: an endpoint's name may itself contain hyphens.
func TestExtensionWithHyphen(t *testing.T) {
	a := newAsterisk(t)
	cfg := linktest.Account(a.Address())
	cfg.Extension, cfg.Address = "101-desk", cfg.Address+"/ari/" // the suffix is optional
	w := listen(t, cfg).Connected()
	a.Send(ring.event("ChannelStateChange"), last.as(func(c *chan_) { c.name = "PJSIP/101-desk-000000ff" }).event("ChannelStateChange"))
	w.Expect("ringing incoming #1736065900.99 0201234599 on 101-desk")
}

// TestEverybody: a link to many extensions reports the extension at which a call rings.
// A call at two extensions counts as two, each with its own end; several phones of one
// extension count as one. Channels of extensions that are not followed are not reported.
func TestEverybody(t *testing.T) {
	a := newAsterisk(t)
	at := func(n int, extension string) chan_ {
		return ring.as(func(c *chan_) {
			c.id, c.name, c.caller = fmt.Sprintf("17.%d", n), fmt.Sprintf("PJSIP/%s-%08x", extension, n), extension
		})
	}
	for n := range 6 {
		a.With(func() { a.Vars[fmt.Sprintf("17.%d CHANNEL(linkedid)", n)] = "17.0" })
	}
	cfg := linktest.Account(a.Address())
	cfg.Extension, cfg.HasExtension = "", func(extension string) bool { return extension != "trunk" && extension != "103" }
	a.list(at(5, "104"))
	w := listen(t, cfg)
	w.Expect("ringing incoming #17.5 0612345678 (J. de Vries) on 0201234567 at 104")
	w.Until(link.Connected)
	for _, c := range []chan_{at(0, "trunk"), at(1, "101"), at(2, "102"), at(3, "103"), at(4, "101")} {
		a.Send(c.event("ChannelStateChange"))
	}
	const told = " incoming #17.%d 0612345678 (J. de Vries) on 0201234567 at %d"
	w.Expect(fmt.Sprintf("ringing"+told, 1, 101), fmt.Sprintf("ringing"+told, 2, 102), fmt.Sprintf("ringing"+told, 1, 101))
	a.Send(at(4, "101").as(up).event("ChannelStateChange"), strings.Replace(at(2, "102").event("ChannelDestroyed"), `"cause":16`, `"cause":26`, 1), at(4, "101").event("ChannelDestroyed"))
	w.Expect(fmt.Sprintf("answered"+told, 1, 101), fmt.Sprintf("ended elsewhere"+told, 2, 102), fmt.Sprintf("ended completed"+told, 1, 101))
}

// TestNoAnswerAboutTheCaller: a number is not shown until the exchange has said that it may
// be, nor if the channel has ended before it is queried, since its caller may have withheld
// it; the call's next event triggers another query.
func TestNoAnswerAboutTheCaller(t *testing.T) {
	gone := linktest.Status("/ari/channels/", http.StatusNotFound)
	for name, tt := range map[string]struct{ first, then linktest.Answer }{
		"silence": {func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.HasSuffix(r.URL.Path, "/variable") {
				return false
			}
			c, _, _ := w.(http.Hijacker).Hijack()
			c.Close()
			return true
		}, nil},
		"no channel, then no function": {gone, func(w http.ResponseWriter, r *http.Request) bool {
			return linktest.Says("/ari/channels/"+ring.id, "{}")(w, r) || gone(w, r)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAsterisk(t)
			a.Intercept(tt.first)
			w := a.link().Connected()
			a.Send(ring.event("ChannelStateChange"))
			w.Expect("ringing incoming #1736065800.12 anonymous on 0201234567")
			a.Intercept(tt.then)
			a.Send(ring.as(up).event("ChannelStateChange"))
			w.Expect("answered incoming #1736065800.12 0612345678 (J. de Vries) on 0201234567")
		})
	}
}

// TestReplaced: when another program connects under our name, the link stands back.
func TestReplaced(t *testing.T) {
	a := newAsterisk(t)
	one := a.link().Connected()
	two := a.link().Connected()
	if s := one.Until(link.Kicked); !errors.Is(s.Err, link.ErrReplaced) || s.Retry.Sub(s.Since) < 30*time.Second {
		t.Errorf("%+v", s)
	}
	a.Send(last.event("ChannelStateChange"))
	two.Expect(lastSaid)
}

// TestAddress: the address means the same exchange with or without Asterisk's prefix.
func TestAddress(t *testing.T) {
	good := exchangelink.Account{User: "u", Extension: "101", Secret: linktest.Secret("")}
	for in, want := range map[string]string{"https://pbx.example:8089/ari": "pbx.example:8089", "wss://PBX.example/asterisk/ari/": "pbx.example", "http://127.0.0.1:8088": "127.0.0.1:8088"} {
		c := good
		c.Address = in
		p, err := New(c)
		if err != nil || p.Traits().Source.Conn != want+"/101" || p.Traits().Local {
			t.Errorf("%s: %v", in, err)
		}
	}
}
