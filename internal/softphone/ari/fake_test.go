package ari

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"wiebelt/internal/simulate"
	"wiebelt/internal/softphone/exchangelink"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/testutil/linktest"
	"wiebelt/internal/testutil/must"
)

// asterisk is an Asterisk that can be stopped and started.
type asterisk struct {
	*simulate.ARI
	t testing.TB
}

func newAsterisk(t testing.TB) *asterisk {
	return &asterisk{linktest.Start(t, nil, simulate.StartARI), t}
}

func (a *asterisk) restart() { a.ARI = linktest.Start(a.t, &a.ARI, simulate.StartARI) }

func (a *asterisk) list(channels ...chan_) {
	a.With(func() {
		for _, c := range channels {
			a.Channels[c.id] = json.RawMessage(c.json())
		}
	})
}

func (a *asterisk) link() *linktest.Watch { return listen(a.t, linktest.Account(a.Address())) }

// TestExchange runs the common tests of links to exchanges.
func TestExchange(t *testing.T) {
	t.Parallel()
	linktest.ExchangeTests{
		Ended:   "ended incoming #1736065800.12 0612345678 (J. de Vries) on 0201234567",
		Hostile: hostile(330),
		Paths:   []string{"/", "/ari/channels"},
		Denied:  "Asterisk does not accept the user name and password of ARI (401)", NoSecret: "no password of ARI is stored",
		Refusals: map[string]linktest.Refusal{
			"not from here": {Answer: linktest.Status("/", http.StatusForbidden),
				Want: "Asterisk does not let this user of ARI in from this computer (403)", Cause: link.CauseRights},
			"not booted yet": {Answer: linktest.Status("/", http.StatusServiceUnavailable), Waits: true, Want: "it answers with status 503", Cause: link.CauseUnavailable},
		},
		Private: []string{"/ari/", "wiebelt-jansen"},
		New: func(t testing.TB) *linktest.Exchange {
			a := newAsterisk(t)
			return &linktest.Exchange{
				Fake: a, Restart: a.restart,
				Link:   func(c exchangelink.Account) *linktest.Watch { return listen(t, c) },
				Ring:   func() { a.list(ring) },
				HangUp: func() { a.With(func() { clear(a.Channels) }) },
				Send:   func(message string) { a.Send(message) },
				Call: func(n int, extension string) (string, func()) {
					c := last.as(func(c *chan_) {
						c.id, c.name, c.caller = fmt.Sprintf("1736069999.%d", n), "PJSIP/"+extension+"-000000ff", extension
					})
					a.Send(c.event("ChannelStateChange"))
					return c.id, func() { a.Send(c.event("ChannelDestroyed")) }
				},
			}
		},
	}.Run(t)
}

// chan_ is a channel in the format of ast_channel_snapshot_to_json.
type chan_ struct {
	id, name, state, caller, callerName, peer, peerName, exten, rdnis string
}

func (c chan_) json() string {
	m := map[string]any{
		"id": c.id, "name": c.name, "state": c.state, "protocol_id": "a84b4c76e66710",
		"caller": map[string]string{"name": c.callerName, "number": c.caller}, "connected": map[string]string{"name": c.peerName, "number": c.peer},
		"accountcode": "", "dialplan": map[string]any{"context": "inbound", "exten": c.exten, "priority": 1, "app_name": "AppDial", "app_data": "(Outgoing Line)"},
		"creationtime": "2026-01-05T09:30:00.000+0100", "language": "nl",
	}
	if c.rdnis != "" {
		m["caller_rdnis"] = c.rdnis
	}
	b, _ := json.Marshal(m)
	return string(b)
}

func (c chan_) event(kind string) string {
	extra := ""
	switch kind {
	case "ChannelDestroyed":
		extra = `"cause":16,"cause_txt":"Normal Clearing",`
	case "ChannelCallerId":
		extra = `"caller_presentation":35,"caller_presentation_txt":"Presentation Prohibited, Network Number",`
	}
	return fmt.Sprintf(`{"type":%q,"timestamp":"2026-01-05T09:30:00.000+0100",%s"channel":%s,"asterisk_id":"08:00:27:00:00:01","application":"wiebelt-jansen-pc7"}`, kind, extra, c.json())
}

func TestMain(m *testing.M) { linktest.Main(m) }

// listen runs a link until the test ends.
var listen = linktest.Listen(New, func(p *phone) { p.app = "wiebelt-jansen-pc7" })

// hostile returns messages that no Asterisk sends: a table, and mutations of real ones.
func hostile(n int) []string {
	out := []string{
		"", "{", "null", "[]", `"x"`, "17", "true", `{"type":null}`, `{"type":17}`, `{"type":{}}`, `{"type":"ChannelStateChange"}`,
		`{"type":"ChannelStateChange","channel":null}`, `{"type":"ChannelStateChange","channel":[]}`, `{"type":"ChannelStateChange","channel":"PJSIP/101-0000000c"}`,
		`{"type":"ChannelStateChange","channel":{"id":"","name":"PJSIP/101-1","state":"Ringing"}}`,
		`{"type":"ChannelStateChange","channel":{"id":1,"name":2,"state":3}}`,
		`{"type":"ChannelDestroyed","channel":{"id":"nothing"},"cause":99999999999999999999}`, `{"type":"ChannelDestroyed","cause":"x"}`, `{"type":"ChannelDestroyed"}`,
		`{"type":"ApplicationReplaced","application":{}}`, `{"type":"ApplicationReplaced","application":"somebody-elses"}`,
		strings.Repeat("[", 50_000), strings.Repeat(`{"channel":`, 20_000), "\x00\x01\x02", "\xff\xfe", `{"type":"ChannelStateChange","channel":{"connected":{"number":"` + strings.Repeat("6", 100_000) + `"}}}`,
		ring.as(func(c *chan_) { c.id = strings.Repeat("x", 5000) }).event("ChannelStateChange"),
		ring.as(func(c *chan_) { c.name = "PJSIP/" + strings.Repeat("-", 5000) }).event("ChannelStateChange"),
		ring.as(func(c *chan_) { c.name = "/" }).event("ChannelStateChange"),
		ring.as(func(c *chan_) { c.id, c.peer = "../../x?y#z", strings.Repeat("6", 50_000) }).event("ChannelStateChange"),
		ring.as(func(c *chan_) { c.id, c.peerName = "rtl", "\u202eevil\u0000\n" }).event("ChannelStateChange"),
	}
	return linktest.Mutate(out, n, ring.event("ChannelStateChange"), ring.as(up).event("ChannelConnectedLine"), ring.event("ChannelDestroyed"), ring.event("ChannelCallerId"),
		`{"type":"ApplicationRegistered","timestamp":"2026-01-05T09:30:00.000+0100","application":"wiebelt-jansen-pc7"}`)
}

func FuzzMessage(f *testing.F) {
	for _, s := range hostile(60) {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		p := must.Get(New(exchangelink.Account{Address: "https://127.0.0.1:1", User: "u", Extension: "101", Secret: linktest.Secret("")}))(t)
		events, _ := linktest.Once(t, linktest.Scripted{Phone: p, Do: func(_ context.Context, r *link.Reporter) error {
			s := &session{phone: p.(*phone), r: r, get: func(_ context.Context, path string, _ any) (int, error) {
				must.Get(http.NewRequest(http.MethodGet, "https://127.0.0.1/ari/"+path, nil))(t)
				return 0, context.Canceled
			}}
			return errors.Join(s.message(t.Context(), b), s.message(t.Context(), b))
		}})
		var m message
		if ours := json.Unmarshal(b, &m) != nil || strings.Contains(m.Channel.Name, "/101-"); len(events) > 0 && !ours {
			t.Fatalf("somebody else's call: %q", b)
		}
	})
}
