package wazo

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"go.uber.org/goleak"

	"wiebelt/internal/softphone/exchangelink"
	"wiebelt/internal/testutil/linktest"
)

const (
	user   = "anouk"
	secret = "canary-secret-Gv7q"
	uuid   = "c4ff0bd2-3a8b-4c6a-9b36-0b7c4a3d9a01"
	other  = "00000000-3a8b-4c6a-9b36-0b7c4a3d9a02"
)

// exchange speaks as wazo-auth, wazo-calld, wazo-confd and wazo-websocketd do.
type exchange struct {
	*linktest.Server
	t testing.TB

	mu      sync.Mutex
	calls   map[string]string // by id: as GET users/me/calls lists them
	lines   string            // what wazo-confd knows of the user; "": not for users
	life    time.Duration     // of a new token
	login   int               // status of POST token, 0: as it should be
	denied  int               // status of everything else
	closes  int               // code with which new sockets are closed at once
	deaf    bool              // never reads, so that no ping is answered
	silent  bool              // upgrades and never says init
	old     bool              // no /api/websocketd
	refuses string            // an op that is answered with code 1
	raw     func(http.ResponseWriter, *http.Request) bool
	tokens  map[string]bool // that are valid
	made    int
	conns   map[*linktest.Socket]*socket

	upgraded chan *linktest.Socket
	renewals chan string // tokens that came with op token
}

type socket struct {
	token   string
	names   map[string]bool
	started bool
}

func newExchange(t testing.TB) *exchange {
	x := &exchange{t: t, calls: map[string]string{}, life: 2 * time.Hour, tokens: map[string]bool{}, conns: map[*linktest.Socket]*socket{},
		upgraded: make(chan *linktest.Socket, 100), renewals: make(chan string, 1000)}
	x.Server = linktest.Serve(t, x.serve)
	return x
}

// restart is an exchange that was stopped and started; calls and tokens are gone.
func (x *exchange) restart() {
	x.Restart(func() { x.with(func() { clear(x.calls); clear(x.tokens) }) })
}

func (x *exchange) with(f func()) {
	x.mu.Lock()
	defer x.mu.Unlock()
	f()
}

func (x *exchange) serve(w http.ResponseWriter, r *http.Request) {
	x.mu.Lock()
	raw, denied := x.raw, x.denied
	x.mu.Unlock()
	if raw != nil && raw(w, r) {
		return
	}
	if strings.Contains(r.URL.String(), "token=") || strings.Contains(r.URL.String(), secret) {
		x.t.Error("a secret is in an address")
	}
	if r.URL.Path == "/api/auth/0.1/token" && r.Method == http.MethodPost {
		x.newToken(w, r)
		return
	}
	if r.URL.Path == "/api/websocketd/" || r.URL.Path == "/" {
		x.websocketd(w, r)
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.tokens[r.Header.Get("X-Auth-Token")] {
		denied = http.StatusUnauthorized
	}
	if denied != 0 {
		http.Error(w, fmt.Sprintf(`{"reason":["Authentication failed"],"echo":%q}`, r.Header), denied)
		return
	}
	switch {
	case r.URL.Path == "/api/calld/1.0/users/me/calls":
		all := []string{}
		for _, c := range x.calls {
			all = append(all, c)
		}
		fmt.Fprintf(w, `{"items":[%s]}`, strings.Join(all, ","))
	case r.URL.Path == "/api/confd/1.1/users/"+uuid && x.lines != "":
		fmt.Fprintf(w, `{"uuid":%q,"firstname":"Anouk","lines":%s,"links":[]}`, uuid, x.lines)
	default:
		http.Error(w, `{"message":"not found"}`, http.StatusNotFound)
	}
}

func (x *exchange) newToken(w http.ResponseWriter, r *http.Request) {
	x.mu.Lock()
	defer x.mu.Unlock()
	var body struct {
		Backend    string `json:"backend"`
		Expiration int    `json:"expiration"`
	}
	b, _ := io.ReadAll(r.Body)
	if json.Unmarshal(b, &body) != nil || body.Expiration < 1 {
		http.Error(w, `{"reason":["bad request"]}`, http.StatusBadRequest)
		return
	}
	status := x.login
	if status == 0 && r.Header.Get("Authorization") != "Basic "+base64.StdEncoding.EncodeToString([]byte(user+":"+secret)) {
		status = http.StatusUnauthorized
	}
	if status != 0 {
		http.Error(w, fmt.Sprintf(`{"reason":["Authentication Failed"],"echo":%q}`, r.Header), status)
		return
	}
	x.made++
	token := fmt.Sprintf("canary-token-%d", x.made)
	x.tokens[token] = true
	now := time.Date(2001, 1, 1, 0, 0, 0, 123456000, time.UTC) // a server whose clock is wrong
	const layout = "2006-01-02T15:04:05.000000"
	fmt.Fprintf(w, `{"data":{"token":%q,"auth_id":%q,"xivo_user_uuid":%q,"xivo_uuid":"x","issued_at":%q,"expires_at":%q,"utc_issued_at":%q,"utc_expires_at":%q,"acl":["websocketd","calld.users.me.calls.read"],"metadata":{"uuid":%q,"tenant_uuid":"t","auth_id":%q,"pbx_user_uuid":%q,"purpose":"user"},"session_uuid":"s","remote_addr":"192.0.2.1","user_agent":""}}`,
		token, uuid, uuid, now.Format(layout), now.Add(x.life).Format(layout), now.Format(layout), now.Add(x.life).Format(layout), uuid, uuid, uuid)
}

func (x *exchange) websocketd(w http.ResponseWriter, r *http.Request) {
	x.mu.Lock()
	old, deaf, silent, closes := x.old, x.deaf, x.silent, x.closes
	x.mu.Unlock()
	if old && r.URL.Path != "/" {
		http.NotFound(w, r)
		return
	}
	if r.URL.Query().Get("version") != "2" {
		x.t.Errorf("asked for %s", r.URL)
	}
	conn := x.Upgrade(w, r, &websocket.Upgrader{})
	if conn == nil {
		return
	}
	defer conn.Close()
	k := &socket{token: r.Header.Get("X-Auth-Token"), names: map[string]bool{}}
	x.mu.Lock()
	x.conns[conn] = k
	valid := x.tokens[k.token]
	x.mu.Unlock()
	defer x.with(func() { delete(x.conns, conn) })
	x.upgraded <- conn
	shut := func(code int, text string) {
		x.mu.Lock()
		defer x.mu.Unlock()
		conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, text), time.Now().Add(time.Second))
	}
	switch {
	case k.token == "":
		shut(4001, "no token")
		return
	case closes != 0:
		shut(closes, "closed "+k.token)
		return
	case !valid:
		shut(4002, "authentication failed")
		return
	}
	write := func(s string) {
		x.mu.Lock()
		defer x.mu.Unlock()
		conn.WriteMessage(websocket.TextMessage, []byte(s))
	}
	if !silent {
		write(`{"op": "init", "code": 0, "data": {"version": 2}}`)
	}
	for {
		_, b, err := conn.ReadMessage()
		if err != nil {
			return
		}
		var m struct {
			Op   string            `json:"op"`
			Data map[string]string `json:"data"`
		}
		if json.Unmarshal(b, &m) != nil {
			shut(4004, "")
			return
		}
		x.mu.Lock()
		code := 0
		if m.Op == x.refuses {
			code = 1
		}
		x.mu.Unlock()
		ack := fmt.Sprintf(`{"op": %q, "code": %d, "data": null}`, m.Op, code)
		switch m.Op {
		case "subscribe":
			x.with(func() { k.names[m.Data["event_name"]] = true })
		case "start":
			x.with(func() { k.started = true })
		case "token":
			x.mu.Lock()
			valid := x.tokens[m.Data["token"]]
			k.token = m.Data["token"]
			x.mu.Unlock()
			if !valid {
				shut(4002, "authentication failed")
				return
			}
			x.renewals <- m.Data["token"]
		default:
			shut(4004, "")
			return
		}
		write(ack)
		if deaf && m.Op == "start" {
			<-x.Stopped
			return
		}
	}
}

// send gives events to whoever has started and subscribed to them. What is not
// an event goes as it is.
func (x *exchange) send(messages ...string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for c, k := range x.conns {
		for _, m := range messages {
			name, isEvent := strings.CutPrefix(m, `{"op": "event", "code": 0, "data": {"name": "`)
			name, _, _ = strings.Cut(name, `"`)
			if !isEvent || k.started && k.names[name] {
				_ = c.WriteMessage(websocket.TextMessage, []byte(m)) // the link may have hung up on us
			}
		}
	}
}

// expire is the end of all tokens: the check that wazo-websocketd makes closes
// the sockets whose token was not renewed.
func (x *exchange) expire() {
	x.mu.Lock()
	defer x.mu.Unlock()
	clear(x.tokens)
	for c := range x.conns {
		c.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(4003, "authentication expired"), time.Now().Add(time.Second))
	}
}

// breaks is what its tests of broken connections need.
func (x *exchange) breaks() linktest.Exchange {
	return linktest.Exchange{
		Ring: func() { x.with(func() { x.calls["1"] = ring.json() }) },
		Listen: func(ping, silence time.Duration) *linktest.Watch {
			cfg := x.config()
			cfg.Net.PingEvery, cfg.Net.Silence = ping, silence
			return listen(x.t, cfg)
		},
		Restart: x.restart,
		HangUp:  func() { x.with(func() { clear(x.calls) }) },
		Deaf:    func(is bool) { x.with(func() { x.deaf = is }) },
		Last:    func(w *linktest.Watch) { x.send(last.event("call_updated")); w.Expect(lastSaid) },
		Ended:   "ended incoming #1736065800.12 +31612345678 (J. de Vries) on 0201234567",
	}
}

func (x *exchange) config() exchangelink.Account {
	return exchangelink.Account{
		Address: x.URL, User: user, Extension: "101",
		Secret: func(context.Context) (string, error) { return secret, nil },
		Net:    exchangelink.Options{Roots: x.Roots()},
	}
}

// told is a call as CallSchema writes it.
type told struct {
	id, conversation, status, direction, peer, peerName, dialed, user string
	caller                                                            bool
	line                                                              int
}

func (c told) json() string {
	if c.peer == "" {
		c.peer = c.dialed // as default_peer_caller_id_number does
	}
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
	return string(b)
}

func (c told) event(name string) string {
	body := c.json()
	if name == "call_ended" { // caller and peer are the other way round there
		c.peer, c.peerName = "101", "Anouk"
		body = strings.TrimSuffix(c.json(), "}") + `,"reason_code":16}`
	}
	return fmt.Sprintf(`{"op": "event", "code": 0, "data": {"name": %q, "origin_uuid": "o", "timestamp": "2026-01-05T09:30:00.000000", "required_acl": "events.calls.%s", "tenant_uuid": "t", "user_uuid:%s": true, "data": %s}}`, name, c.user, c.user, body)
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// listen runs a link until the test ends.
func listen(t testing.TB, cfg exchangelink.Account) *linktest.Watch {
	t.Helper()
	p, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return linktest.Run(t, p)
}
