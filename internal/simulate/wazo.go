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

// wazo is an exchange with the Wazo Platform, for one of its users: a token for
// name and password, the user's calls, and the events about them on a WebSocket
// with version 2 of its protocol. An event comes before the caller is known, one
// comes late, and a withheld number is filled in with the number that was called.
type wazo struct {
	*server
	x       extension
	tokens  tokens
	sockets map[*wsConn]*wazoSocket
	listed  bool // somebody has started and asked for the calls
}

type wazoSocket struct {
	names   map[string]bool
	started bool
}

const (
	wazoUser = "7ad0bd2c-3a8b-4c6a-9b36-0b7c4a3d9a01"
	wazoLife = 2 * time.Hour
)

func startWazo(ctx context.Context, address string) (*wazo, error) {
	z := &wazo{server: newServer(), sockets: map[*wsConn]*wazoSocket{}}
	return z, z.startExchange(ctx, registry.Wazo, address, z.serve)
}

func (z *wazo) serve(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/api/auth/0.1/token":
		z.token(w, r)
		return
	case "/api/websocketd/":
		z.websocketd(w, r)
		return
	}
	token := r.Header.Get("X-Auth-Token")
	known := false
	z.with(func() { known = z.tokens.has(token) })
	switch {
	case !known:
		answerJSON(w, http.StatusUnauthorized, map[string]any{"reason": []string{"Authentication failed"}, "status_code": 401})
	case r.Method == http.MethodGet && r.URL.Path == "/api/calld/1.0/users/me/calls":
		var items []map[string]any
		z.with(func() {
			items = z.x.parts(wazoCall)
			for _, s := range z.sockets {
				z.listed = z.listed || s.started
			}
		})
		answerJSON(w, http.StatusOK, map[string]any{"items": items})
	default: // what a user may not see, such as its lines
		answerJSON(w, http.StatusNotFound, map[string]any{"message": "not found", "status_code": 404})
	}
}

func (z *wazo) token(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		answerJSON(w, http.StatusMethodNotAllowed, map[string]any{"reason": []string{"method"}, "status_code": 405})
		return
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(r.Body, maxAsked))
	if user, secret, ok := r.BasicAuth(); !ok || user != User || secret != Secret {
		answerJSON(w, http.StatusUnauthorized, map[string]any{"reason": []string{"Authentication Failed"}, "status_code": 401})
		return
	}
	token := ""
	z.with(func() { token = z.tokens.issue("simulated-token-%d") })
	const layout = "2006-01-02T15:04:05.000000"
	now := time.Now()
	answerJSON(w, http.StatusOK, map[string]any{"data": map[string]any{"token": token, "auth_id": wazoUser, "xivo_user_uuid": wazoUser,
		"issued_at": now.Format(layout), "expires_at": now.Add(wazoLife).Format(layout),
		"utc_issued_at": now.UTC().Format(layout), "utc_expires_at": now.UTC().Add(wazoLife).Format(layout),
		"metadata": map[string]string{"uuid": wazoUser, "pbx_user_uuid": wazoUser, "purpose": "user"}}})
}

func (z *wazo) websocketd(w http.ResponseWriter, r *http.Request) {
	token := r.Header.Get("X-Auth-Token")
	if token == "" {
		token = r.URL.Query().Get("token")
	}
	z.upgrade(w, r, socket{
		began: func(c *wsConn) func() {
			switch {
			case token == "":
				return func() { c.shutWith(4001) }
			case !z.tokens.has(token):
				return func() { c.shutWith(4002) }
			}
			z.sockets[c] = &wazoSocket{names: map[string]bool{}}
			return func() { // a failure shows when reading
				_ = c.send([]byte(`{"op": "init", "code": 0, "data": {"version": 2}}`))
			}
		},
		took: z.took,
		over: func(c *wsConn) { delete(z.sockets, c) },
	})
}

// took answers a message on the socket.
func (z *wazo) took(c *wsConn, b []byte) bool {
	var m struct {
		Op   string            `json:"op"`
		Data map[string]string `json:"data"`
	}
	good := json.Unmarshal(b, &m) == nil
	data := json.RawMessage("null")
	z.with(func() {
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
			good = z.tokens.has(m.Data["token"])
		case m.Op == "ping":
			m.Op, data = "pong", toJSON(m.Data)
		default:
			good = false
		}
	})
	if !good {
		code := 4004
		if m.Op == "token" {
			code = 4002
		}
		c.shutWith(code)
		return false
	}
	return c.send(fmt.Appendf(nil, `{"op": %q, "code": 0, "data": %s}`, m.Op, data)) == nil
}

// wazoCall is one device's part in a call, as wazo-calld describes it.
func wazoCall(c exchangeCall, leg int) map[string]any {
	dialed := digits(c.call.Line)
	if dialed == "" {
		dialed = Extension
	}
	peer, name, direction, caller := digits(c.call.Number), c.call.Name, "inbound", false
	switch {
	case c.call.Direction == "outgoing":
		dialed, direction, caller = peer, "outbound", true
	case peer == "":
		peer = dialed // as the server fills it in
	case len(peer) <= 4:
		direction = "internal"
	}
	return map[string]any{"call_id": fmt.Sprintf("1736065800.%d", leg), "conversation_id": fmt.Sprintf("1736065800.%d", c.talk),
		"status": [...]string{"Ringing", "Ring", "Up"}[c.state], "is_caller": caller, "direction": direction, "dialed_extension": dialed,
		"caller_id_name": "", "caller_id_number": Extension, "peer_caller_id_name": name, "peer_caller_id_number": peer,
		"user_uuid": wazoUser, "line_id": 1, "sip_call_id": c.call.ID, "creation_time": stamp(c.began), "answer_time": nil, "hangup_time": nil,
		"on_hold": false, "muted": false, "is_video": false, "parked": false, "talking_to": map[string]any{}, "bridges": []string{}}
}

func (z *wazo) Ready(ctx context.Context) error {
	return z.until(ctx, func() bool {
		for _, s := range z.sockets {
			if s.started && z.listed {
				return true
			}
		}
		return false
	})
}

func (z *wazo) Tell(_ context.Context, n News) error {
	type event struct {
		name string
		data map[string]any
	}
	var events []event
	z.with(func() {
		before := exchangeCall{}
		if c := z.x.find(n.Call.ID); c != nil {
			before = *c
		}
		ch := z.x.take(n)
		for _, leg := range ch.began { // first without its caller
			events = append(events,
				event{"call_created", with(wazoCall(ch.call, leg), "status", "Down", "direction", "unknown", "peer_caller_id_name", "", "peer_caller_id_number", "")},
				event{"call_updated", wazoCall(ch.call, leg)})
		}
		for _, leg := range ch.changed {
			if n.Do == Answer {
				events = append(events, event{"call_answered", wazoCall(ch.call, leg)})
			}
			events = append(events, event{"call_updated", wazoCall(ch.call, leg)})
		}
		for _, leg := range ch.gone { // caller and peer are the other way round
			events = append(events, event{"call_ended", with(wazoCall(ch.call, leg), "peer_caller_id_name", "", "peer_caller_id_number", Extension,
				"caller_id_name", n.Call.Name, "caller_id_number", digits(n.Call.Number), "reason_code", hangupCause(n))})
			if n.Do == End { // what comes late changes nothing
				events = append(events, event{"call_updated", wazoCall(before, leg)})
			}
		}
	})
	to := mail{}
	z.with(func() {
		for c, s := range z.sockets {
			for _, e := range events {
				if s.started && s.names[e.name] {
					to[c] = append(to[c], toJSON(map[string]any{"op": "event", "code": 0, "data": map[string]any{"name": e.name, "origin_uuid": "simulate",
						"timestamp": stamp(time.Now()), "tenant_uuid": "simulate", "user_uuid:" + wazoUser: true, "data": e.data}}))
				}
			}
		}
	})
	to.send()
	return nil
}
