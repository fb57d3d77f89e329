package simulate

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"wiebelt/internal/softphone/registry"
)

// threecx is the Call Control API of a 3CX of version 20: a
// token for client and key, events on a WebSocket that name what has changed and
// say nothing of it, and what it is now for who asks.
type threecx struct {
	*server
	x        extension
	tokens   tokens
	sequence int
	sockets  map[*wsConn]bool
	listed   bool           // somebody listens and has asked for the extension
	fetched  map[string]int // how often a participant was asked for
}

func start3CX(ctx context.Context, address string) (*threecx, error) {
	t := &threecx{server: newServer(), sockets: map[*wsConn]bool{}, fetched: map[string]int{}}
	return t, t.startExchange(ctx, registry.ThreeCX, address, t.serve)
}

func (t *threecx) serve(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/connect/token" {
		t.token(w, r)
		return
	}
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	t.with(func() { ok = ok && t.tokens.has(token) })
	const base = "/callcontrol/" + Extension
	path := r.URL.Path
	switch {
	case !ok:
		w.WriteHeader(http.StatusUnauthorized)
	case path == "/callcontrol/ws":
		t.upgrade(w, r, socket{
			began: func(c *wsConn) func() { t.sockets[c] = true; return nil },
			over:  func(c *wsConn) { delete(t.sockets, c) },
		})
	case r.Method != http.MethodGet:
		w.WriteHeader(http.StatusMethodNotAllowed)
	case path == base, path == "/callcontrol":
		answer := map[string]any{}
		t.with(func() {
			answer = map[string]any{"dn": Extension, "type": "Wextension", "participants": t.x.parts(participant),
				"devices": []map[string]string{{"dn": Extension, "device_id": device, "user_agent": "3CX Mobile Client"}}}
			t.listed = t.listed || path == base
		})
		if path != base {
			answerJSON(w, http.StatusOK, []any{answer})
			return
		}
		answerJSON(w, http.StatusOK, answer)
	case strings.HasPrefix(path, base+"/participants/"):
		t.participant(w, strings.TrimPrefix(path, base+"/participants/"))
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

func (t *threecx) participant(w http.ResponseWriter, which string) {
	var found map[string]any
	t.with(func() {
		for _, p := range t.x.parts(participant) {
			if strconv.Itoa(p["id"].(int)) == which {
				found = p
				t.fetched[which]++
			}
		}
	})
	if found == nil {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	answerJSON(w, http.StatusOK, found)
}

const device = "sip:" + Extension + "@127.0.0.1:5483"

// participant is one device's part in a call.
func participant(c exchangeCall, leg int) map[string]any {
	number := digits(c.call.Number)
	if number == "" {
		number = "anonymous"
	}
	m := map[string]any{"id": leg, "status": [...]string{"Ringing", "Dialing", "Connected"}[c.state], "dn": Extension, "party_caller_name": c.call.Name,
		"party_dn": "10000", "party_caller_id": number, "party_did": digits(c.call.Line), "device_id": device, "party_dn_type": "Wexternalline",
		"direct_control": false, "originated_by_dn": "", "referred_by_dn": digits(c.call.Via), "on_behalf_of_dn": "", "callid": c.talk, "legid": 2}
	if c.call.Direction == "outgoing" {
		m["party_did"] = ""
	}
	return m
}

func (t *threecx) token(w http.ResponseWriter, r *http.Request) {
	b, err := io.ReadAll(io.LimitReader(r.Body, maxAsked))
	form, err2 := url.ParseQuery(string(b))
	if err != nil || err2 != nil || r.Method != http.MethodPost || form.Get("grant_type") != "client_credentials" ||
		form.Get("client_id") != User || form.Get("client_secret") != Secret {
		answerJSON(w, http.StatusBadRequest, map[string]string{"error": "invalid_client"})
		return
	}
	token := ""
	t.with(func() { token = t.tokens.issue("simulated.token.%d") })
	answerJSON(w, http.StatusOK, map[string]any{"token_type": "Bearer", "expires_in": 3600, "access_token": token, "refresh_token": nil})
}

func (t *threecx) Ready(ctx context.Context) error {
	return t.until(ctx, func() bool { return t.listed && len(t.sockets) > 0 })
}

// Tell says what has changed, and waits until it was asked for.
func (t *threecx) Tell(ctx context.Context, n News) error {
	var events [][]byte
	to := mail{}
	before := map[string]int{} // how often a participant was asked for until now
	t.with(func() {
		ch := t.x.take(n)
		event := func(kind, leg int) {
			t.sequence++
			events = append(events, toJSON(map[string]any{"sequence": t.sequence, "event": map[string]any{"event_type": kind,
				"entity": fmt.Sprintf("/callcontrol/%s/participants/%d", Extension, leg), "attached_data": nil}}))
		}
		for _, leg := range append(ch.began, ch.changed...) {
			event(0, leg)
			before[strconv.Itoa(leg)] = t.fetched[strconv.Itoa(leg)]
		}
		for _, leg := range ch.gone {
			event(1, leg)
			delete(t.fetched, strconv.Itoa(leg))
		}
		for c := range t.sockets {
			to[c] = events
		}
	})
	to.send()
	return t.taken(ctx, func() bool {
		for leg, n := range before {
			if len(t.sockets) > 0 && t.fetched[leg] == n {
				return false
			}
		}
		return true
	})
}
