package simulate

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"wiebelt/internal/softphone/registry"
)

// Wazo is an exchange with the Wazo Platform, for one of its users: a token for name and
// password, the user's calls, and the events about them on a WebSocket with version 2 of
// its protocol. Access its fields only within With.
type Wazo struct {
	*server
	Calls  Listing
	Lines  json.RawMessage // of the user, if users may see them
	Tokens Tokens
	// OnOperation is called under the lock with each operation on a socket, and returns the code
	// of the answer, normally 0.
	OnOperation    func(op string, data map[string]string) (code int)
	sockets        map[*wsConn]*wazoSocket
	callsRequested bool // somebody has started and requested the calls
	ownExtension   extension
}

type wazoSocket struct {
	names   map[string]bool
	started bool
}

// WazoUser is the user's id.
const WazoUser = "7ad0bd2c-3a8b-4c6a-9b36-0b7c4a3d9a01"

// StartWazo starts a Wazo.
func StartWazo(ctx context.Context, listen string, account Account) (*Wazo, error) {
	z := &Wazo{Calls: Listing{}, Tokens: Tokens{Lifetime: 2 * time.Hour}, sockets: map[*wsConn]*wazoSocket{},
		OnOperation: func(string, map[string]string) int { return 0 }}
	z.server = newServer(func() bool {
		for _, s := range z.sockets {
			if s.started && z.callsRequested {
				return true
			}
		}
		return false
	})
	return z, z.startExchange(ctx, registry.Wazo, listen, account, z.serve)
}

func (z *Wazo) serve(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/api/auth/0.1/token":
		z.token(w, r)
		return
	case "/api/websocketd/", "/": // the second path is an older version's
		z.websocketd(w, r)
		return
	}
	known := false
	z.With(func() { known = z.Tokens.has(r.Header.Get("X-Auth-Token")) })
	switch {
	case !known:
		answerJSON(w, http.StatusUnauthorized, map[string]any{"reason": []string{"Authentication failed"}, "status_code": 401})
	case r.Method == http.MethodGet && r.URL.Path == "/api/calld/1.0/users/me/calls":
		var items any
		z.With(func() {
			items = z.Calls.all()
			for _, s := range z.sockets {
				z.callsRequested = z.callsRequested || s.started
			}
		})
		answerJSON(w, http.StatusOK, map[string]any{"items": items})
	case r.URL.Path == "/api/confd/1.1/users/"+WazoUser && z.Lines != nil:
		answerJSON(w, http.StatusOK, map[string]any{"uuid": WazoUser, "lines": z.Lines})
	default: // what this user may not see, such as lines
		answerJSON(w, http.StatusNotFound, map[string]any{"message": "not found", "status_code": 404})
	}
}

func (z *Wazo) token(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Expiration int `json:"expiration"`
	}
	if json.NewDecoder(io.LimitReader(r.Body, maxMessage)).Decode(&body) != nil || body.Expiration < 1 || r.Method != http.MethodPost {
		answerJSON(w, http.StatusBadRequest, map[string]any{"reason": []string{"bad request"}, "status_code": 400})
		return
	}
	if user, secret, ok := r.BasicAuth(); !ok || user != z.account.User || secret != z.account.Secret {
		answerJSON(w, http.StatusUnauthorized, map[string]any{"reason": []string{"Authentication Failed"}, "status_code": 401})
		return
	}
	token, life := "", time.Duration(0)
	z.With(func() { token, life = z.Tokens.issue(), z.Tokens.Lifetime })
	const layout = "2006-01-02T15:04:05.000000"
	now := time.Date(2001, 1, 1, 0, 0, 0, 123456000, time.UTC) // a server's clock may be wrong
	issued, expires := now.Format(layout), now.Add(life).Format(layout)
	answerJSON(w, http.StatusOK, map[string]any{"data": map[string]any{"token": token, "auth_id": WazoUser, "xivo_user_uuid": WazoUser,
		"issued_at": issued, "expires_at": expires, "utc_issued_at": issued, "utc_expires_at": expires,
		"metadata": map[string]string{"uuid": WazoUser, "pbx_user_uuid": WazoUser, "purpose": "user"}}})
}

func (z *Wazo) websocketd(w http.ResponseWriter, r *http.Request) {
	if q := r.URL.Query(); q.Get("version") != "2" || len(q) > 1 { // no token in the query, where it would be logged
		answerJSON(w, http.StatusBadRequest, map[string]any{"message": "version", "status_code": 400})
		return
	}
	token := r.Header.Get("X-Auth-Token")
	z.upgrade(w, r, socketHandler{
		onOpen: func(c *wsConn) func() {
			switch {
			case token == "":
				return func() { c.closeWith(4001) }
			case !z.Tokens.has(token):
				return func() { c.closeWith(4002) }
			}
			z.sockets[c] = &wazoSocket{names: map[string]bool{}}
			return func() { // reading reports a failure
				_ = c.send([]byte(`{"op": "init", "code": 0, "data": {"version": 2}}`))
			}
		},
		onMessage: z.handleMessage,
		onClose:   func(c *wsConn) { delete(z.sockets, c) },
	})
}

func (z *Wazo) handleMessage(c *wsConn, b []byte) bool {
	var m struct {
		Op   string            `json:"op"`
		Data map[string]string `json:"data"`
	}
	good := json.Unmarshal(b, &m) == nil
	data, code := json.RawMessage("null"), 0
	z.With(func() {
		s := z.sockets[c]
		switch {
		case !good || s == nil:
			good = false
		case m.Op == "subscribe":
			if good = len(s.names) < 64; good {
				s.names[m.Data["event_name"]] = true
			}
		case m.Op == "start":
			s.started = true
		case m.Op == "token":
			good = z.Tokens.has(m.Data["token"])
		case m.Op == "ping":
			m.Op, data = "pong", toJSON(m.Data)
		default:
			good = false
		}
		if good {
			code = z.OnOperation(m.Op, m.Data)
		}
	})
	if !good {
		code = 4004
		if m.Op == "token" {
			code = 4002
		}
		c.closeWith(code)
		return false
	}
	return c.send(fmt.Appendf(nil, `{"op": %q, "code": %d, "data": %s}`, m.Op, code, data)) == nil
}

// WazoEvent is an event about a call.
type WazoEvent struct {
	Name string // such as call_updated
	Call json.RawMessage
}

// Send sends events to the clients that have started and subscribed to them.
func (z *Wazo) Send(events ...WazoEvent) {
	z.sendEach(func(c *wsConn) (texts []string) {
		s := z.sockets[c]
		for _, e := range events {
			if s != nil && s.started && s.names[e.Name] {
				texts = append(texts, e.String())
			}
		}
		return texts
	})
}

// String returns the event as sent.
func (e WazoEvent) String() string {
	return string(toJSON(map[string]any{"op": "event", "code": 0, "data": map[string]any{"name": e.Name, "origin_uuid": "simulate",
		"timestamp": stamp(time.Now()), "tenant_uuid": "simulate", "user_uuid:" + WazoUser: true, "data": e.Call}}))
}

// wazoCall returns one device's part in a call, as wazo-calld describes it.
func wazoCall(c exchangeCall, leg int) map[string]any {
	dialed := c.call.dialled()
	peer, name, direction, caller := digits(c.call.Number), c.call.Name, "inbound", false
	switch {
	case c.call.Direction == "outgoing":
		dialed, direction, caller = peer, "outbound", true
	case peer == "":
		peer = dialed // as the server fills it in
	case len(peer) <= 4:
		direction = "internal"
	}
	return map[string]any{"call_id": channelID(leg), "conversation_id": channelID(c.conversation),
		"status": [...]string{"Ringing", "Ring", "Up"}[c.state], "is_caller": caller, "direction": direction, "dialed_extension": dialed,
		"caller_id_name": "", "caller_id_number": extensionNumber, "peer_caller_id_name": name, "peer_caller_id_number": peer,
		"user_uuid": WazoUser, "line_id": 1, "sip_call_id": c.call.ID, "creation_time": stamp(c.began), "answer_time": nil, "hangup_time": nil,
		"on_hold": false, "muted": false, "is_video": false, "parked": false, "talking_to": map[string]any{}, "bridges": []string{}}
}

// SendUpdate sends the events of a change: one before the caller is known, one too late, and with
// a withheld number replaced by the number that was called.
func (z *Wazo) SendUpdate(_ context.Context, n Update) error {
	var events []WazoEvent
	event := func(name string, call map[string]any) { events = append(events, WazoEvent{name, toJSON(call)}) }
	z.With(func() {
		before := exchangeCall{}
		if c := z.ownExtension.find(n.Call.ID); c != nil {
			before = *c
		}
		ch := z.ownExtension.apply(n)
		z.ownExtension.listLegs(z.Calls, channelID, wazoCall)
		for _, leg := range ch.began { // first without its caller
			event("call_created", withFields(wazoCall(ch.call, leg), "status", "Down", "direction", "unknown", "peer_caller_id_name", "", "peer_caller_id_number", ""))
			event("call_updated", wazoCall(ch.call, leg))
		}
		for _, leg := range ch.changed {
			if n.Verb == Answer {
				event("call_answered", wazoCall(ch.call, leg))
			}
			event("call_updated", wazoCall(ch.call, leg))
		}
		for _, leg := range ch.ended { // with caller and peer swapped
			event("call_ended", withFields(wazoCall(ch.call, leg), "peer_caller_id_name", "", "peer_caller_id_number", extensionNumber,
				"caller_id_name", n.Call.Name, "caller_id_number", digits(n.Call.Number), "reason_code", hangupCause(n)))
			if n.Verb == End { // a late event, which must change nothing
				event("call_updated", wazoCall(before, leg))
			}
		}
	})
	z.Send(events...)
	return nil
}
