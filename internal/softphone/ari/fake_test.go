package ari

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"wiebelt/internal/simulate"
	"wiebelt/internal/softphone/exchangelink"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/testutil/linktest"
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
			"not booted yet": {Answer: linktest.Status("/", http.StatusServiceUnavailable), Waits: true, Want: "it answers with status 503", Cause: link.CauseFault},
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
				Call: func(n int) (string, func()) {
					c := last.as(func(c *chan_) { c.id = fmt.Sprintf("1736069999.%d", n) })
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
