package wazo

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"wiebelt/internal/simulate"
	"wiebelt/internal/softphone/exchangelink"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/testutil/linktest"
	"wiebelt/internal/testutil/must"
)

const (
	uuid  = simulate.WazoUser
	other = "00000000-3a8b-4c6a-9b36-0b7c4a3d9a02"
)

// exchange is a Wazo that can be stopped and started.
type exchange struct {
	*simulate.Wazo
	t testing.TB
}

func newExchange(t testing.TB) *exchange {
	return &exchange{linktest.Start(t, nil, simulate.StartWazo), t}
}

func (x *exchange) restart() { x.Wazo = linktest.Start(x.t, &x.Wazo, simulate.StartWazo) }

func (x *exchange) list(calls ...told) {
	x.With(func() {
		for _, c := range calls {
			x.Calls[c.id] = c.json()
		}
	})
}

func (x *exchange) link() *linktest.Watch { return listen(x.t, linktest.Account(x.Address())) }

// closing closes new sockets at once, with a code of the protocol.
func closing(code int) linktest.Answer {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasPrefix(r.URL.Path, "/api/websocketd") {
			return false
		}
		if c, err := new(websocket.Upgrader).Upgrade(w, r, nil); err == nil {
			shut(c, code, "closed "+r.Header.Get("X-Auth-Token"))
			c.Close()
		}
		return true
	}
}

func shut(c *websocket.Conn, code int, words string) {
	c.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, words), time.Now().Add(time.Second))
}

// silent never greets new connections.
func silent(w http.ResponseWriter, r *http.Request) bool {
	if !strings.HasPrefix(r.URL.Path, "/api/websocketd") {
		return false
	}
	if c, err := new(websocket.Upgrader).Upgrade(w, r, nil); err == nil {
		_, _, _ = c.ReadMessage() // until the link hangs up
		c.Close()
	}
	return true
}

// expire invalidates all tokens: the check in wazo-websocketd closes the sockets whose
// token was not renewed.
func (x *exchange) expire() {
	x.With(func() { x.Tokens.Valid = nil })
	x.EachSocket(func(c *websocket.Conn) { shut(c, 4003, "authentication expired") })
}

// TestExchange runs the common tests of links to exchanges.
func TestExchange(t *testing.T) {
	t.Parallel()
	linktest.ExchangeTests{
		Ended:   "ended incoming #1736065800.12 +31612345678 (J. de Vries) on 0201234567",
		Hostile: hostile(330),
		Broken: map[string]func(*websocket.Conn){"refuses": func(c *websocket.Conn) {
			c.WriteMessage(websocket.TextMessage, []byte(`{"op":"token","code":1,"data":null}`))
		}},
		TokenPath: "/api/auth/0.1/token", TokenAnswer: `{"data":{"token":%s,"metadata":{"uuid":"u"}}}`,
		Denied: "Wazo does not accept the user name and password (401)", NoSecret: "no password for Wazo is stored",
		Refusals: map[string]linktest.Refusal{
			"no events for this user": {Answer: closing(4002), Want: "Wazo does not let this user listen to events (4002)", Cause: link.CauseRights},
			"no calls for this user": {Answer: linktest.Status("/api/calld", http.StatusUnauthorized),
				Want: "Wazo does not let this user see its own calls (401)", Cause: link.CauseRights},
			"nobody's login": {Answer: linktest.Says("/api/auth/0.1/token", `{"data":{"token":"x"}}`),
				Want: "this login of Wazo is not a telephone user's", Cause: link.CauseRights},
			"another extension": {Answer: linktest.Says("/api/confd/1.1/users/"+uuid, `{"lines":[{"id":1,"extensions":[{"exten":"102"}]}]}`),
				Want: "this user of Wazo has no line with the extension of the settings", Cause: link.CauseExtension},
			"no token":       {Answer: closing(4001), Waits: true, Want: "it closed the connection (code 4001)"},
			"protocol error": {Answer: closing(4004), Waits: true, Want: "it closed the connection (code 4004)"},
			"bus lost":       {Answer: closing(1011), Waits: true, Want: "it closed the connection (code 1011)"},
			"no login now": {Answer: linktest.Status("/api/auth", http.StatusServiceUnavailable), Waits: true,
				Want: "it answers with status 503", Cause: link.CauseUnavailable},
			"no list now": {Answer: linktest.Status("/api/calld", http.StatusServiceUnavailable), Waits: true,
				Want: "it answers with status 503", Cause: link.CauseUnavailable},
		},
		Paths:   []string{"/api/auth", "/api/calld", "/api/websocketd"},
		Private: []string{uuid, "/api/"},
		New: func(t testing.TB) *linktest.Exchange {
			x := newExchange(t)
			return &linktest.Exchange{
				Fake: x, Restart: x.restart,
				Link:   func(c exchangelink.Account) *linktest.Watch { return listen(t, c) },
				Ring:   func() { x.list(ring) },
				HangUp: func() { x.With(func() { clear(x.Calls) }) },
				Send:   func(message string) { x.SendAll(message) },
				Call: func(n int, extension string) (string, func()) {
					c := last.as(func(c *told) { c.id = fmt.Sprintf("1736069999.%d", n) })
					if extension != linktest.Known.Extension {
						c.user = other
					}
					x.Send(c.event("call_updated"))
					return c.id, func() { x.Send(c.event("call_ended")) }
				},
			}
		},
	}.Run(t)
}

type told struct {
	id, conversation, status, direction, peer, peerName, dialed, user string
	caller                                                            bool
	line                                                              int
}

func (c told) json() json.RawMessage {
	c.peer = cmp.Or(c.peer, c.dialed) // like default_peer_caller_id_number
	m := map[string]any{
		"bridges": []string{}, "call_id": c.id, "conversation_id": c.conversation, "caller_id_name": "Anouk", "caller_id_number": "101",
		"peer_caller_id_name": c.peerName, "peer_caller_id_number": c.peer, "creation_time": "2026-01-05T09:30:00.000+0100", "status": c.status,
		"on_hold": false, "muted": false, "record_state": "inactive", "talking_to": map[string]any{}, "user_uuid": c.user, "is_caller": c.caller,
		"is_video": false, "dialed_extension": c.dialed, "sip_call_id": "a84b4c76e66710", "line_id": nil, "answer_time": nil, "hangup_time": nil,
		"direction": c.direction, "parked": false,
	}
	if c.line != 0 {
		m["line_id"] = c.line
	}
	b, _ := json.Marshal(m)
	return b
}

func (c told) event(name string) simulate.WazoEvent {
	if name == "call_ended" { // with caller and peer swapped
		return c.end(16)
	}
	return simulate.WazoEvent{Name: name, Call: c.json()}
}

func (c told) end(reason int) simulate.WazoEvent {
	c.peer, c.peerName = "101", "Anouk"
	return simulate.WazoEvent{Name: "call_ended", Call: fmt.Appendf(nil, `%s,"reason_code":%d}`, strings.TrimSuffix(string(c.json()), "}"), reason)}
}

func TestMain(m *testing.M) { linktest.Main(m) }

// listen runs a link until the test ends.
var listen = linktest.Listen[*phone](New)

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
			s := &session{phone: p.(*phone), r: r, eventsRequested: true, ready: true}
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
