package ari

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"wiebelt/internal/softphone/exchangelink"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/testutil/linktest"
	"wiebelt/internal/testutil/must"
)

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
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // so that no request is sent
		events, _ := linktest.Once(t, linktest.Scripted{Phone: p, Do: func(_ context.Context, r *link.Reporter) error {
			s := &session{phone: p.(*phone), r: r, transport: httpTransport{p.(*phone).Server, nil}}
			return errors.Join(s.message(ctx, b), s.message(ctx, b))
		}})
		var m message
		if ours := json.Unmarshal(b, &m) != nil || strings.Contains(m.Channel.Name, "/101-"); len(events) > 0 && !ours {
			t.Fatalf("somebody else's call: %q", b)
		}
	})
}
