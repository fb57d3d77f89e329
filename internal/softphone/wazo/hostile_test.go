package wazo

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/softphone/exchangelink"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/testutil/linktest"
	"wiebelt/internal/testutil/must"
)

// hostile returns messages that no Wazo sends: a table, and mutations of real ones.
func hostile(n int) []string {
	wrap := func(s string) string { return `{"op":"event","code":0,"data":` + s + `}` }
	out := []string{
		"", "{", "null", "[]", `"x"`, "17", `{"op":null}`, `{"op":17}`, `{"op":{}}`, `{"op":"event"}`, `{"op":"event","data":null}`, `{"op":"event","data":[]}`, `{"op":"event","code":"x"}`,
		wrap(`{}`), wrap(`{"name":17}`), wrap(`{"name":"call_updated"}`), wrap(`{"name":"call_updated","data":null}`), wrap(`{"name":"call_updated","data":[]}`),
		wrap(`{"name":"call_updated","data":{"call_id":17}}`), wrap(`{"name":"call_ended","data":{"call_id":"","reason_code":99999999999999999999}}`), wrap(`{"name":"call_ended","data":{}}`),
		wrap(`{"name":"call_ended","data":{"call_id":"x","reason_code":"16"}}`), wrap(`{"name":"call_created","data":{"call_id":"x","user_uuid":{}}}`),
		`{"op":"pong"}`, `{"op":"init","code":0,"data":{"version":1}}`, `{"op":"start","code":0}`, `{"op":"unheard-of","code":7}`,
		strings.Repeat("[", 50_000), strings.Repeat(`{"data":`, 20_000), "\x00\x01\x02", "\xff\xfe",
		ring.as(func(c *told) { c.id = strings.Repeat("x", 5000) }).event("call_updated").String(),
		ring.as(func(c *told) { c.id, c.peer = "a", strings.Repeat("6", 50_000) }).event("call_updated").String(),
		ring.as(func(c *told) { c.id, c.peerName = "b", "\u202eevil\u0000\n" }).event("call_updated").String(),
		ring.as(func(c *told) { c.id, c.conversation = "c", strings.Repeat("y", 5000) }).event("call_updated").String(),
	}
	return linktest.Mutate(out, n, ring.event("call_updated").String(), ring.as(up).event("call_answered").String(), ring.event("call_ended").String(), `{"op": "pong", "code": 0, "data": {"payload": "x"}}`)
}

func TestLife(t *testing.T) {
	for _, tt := range []struct {
		issued, expires string
		want            time.Duration
	}{
		{"2026-01-05T09:30:00.000000", "2026-01-05T10:30:00.500000", time.Hour + 500*time.Millisecond},
		{"2026-01-05T09:30:00", "2026-01-05T09:31:00", time.Minute},
		{"2026-01-05T09:30:00", "2026-01-05T09:30:00", askLife}, {"2026-01-05T09:30:00", "2020-01-05T09:30:00", askLife}, {"", "", askLife}, {"x", "2026-01-05T09:30:00", askLife},
	} {
		if got := life(tt.issued, tt.expires); got != tt.want {
			t.Errorf("%s to %s: %v", tt.issued, tt.expires, got)
		}
	}
}

func FuzzMessage(f *testing.F) {
	for _, s := range hostile(60) {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		p := must.Get(New(exchangelink.Account{Address: "https://127.0.0.1:1", User: "u", Extension: "101", Secret: linktest.Secret("")}))(t)
		events, _ := linktest.Once(t, linktest.Scripted{Phone: p, Do: func(ctx context.Context, r *link.Reporter) error {
			s := &session{phone: p.(*phone), r: r, began: true, ready: true}
			s.token.User = uuid
			return errors.Join(s.message(ctx, b), s.message(ctx, b))
		}})
		var m message
		var ev event
		if ours := json.Unmarshal(b, &m) == nil && json.Unmarshal(m.Data, &ev) == nil && ev.Call.User == uuid; len(events) > 0 && !ours {
			t.Fatalf("somebody else's call: %q", b)
		}
	})
}
