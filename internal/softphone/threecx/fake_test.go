package threecx

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
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
	client = "wiebelt900"
	secret = "canary-secret-Gv7q"
)

// exchange speaks as the Call Control API of a 3CX does.
type exchange struct {
	*linktest.Server
	t testing.TB

	mu           sync.Mutex
	participants map[string]string // by extension and number, "101/7"
	life         float64           // of a new token, in seconds
	login        int               // status of POST token, 0: as it should be
	denied       int               // status of everything else
	faults       int               // how many participants are answered with 500
	deaf         bool              // never reads, so that no ping is answered
	raw          func(http.ResponseWriter, *http.Request) bool
	tokens       map[string]bool
	made         int
	snapshots    int
	sequence     int64
	conns        map[*linktest.Socket]bool

	upgraded chan *linktest.Socket
	asked    chan string // paths of GET
}

func newExchange(t testing.TB) *exchange {
	x := &exchange{t: t, participants: map[string]string{}, life: 3600, tokens: map[string]bool{}, conns: map[*linktest.Socket]bool{},
		upgraded: make(chan *linktest.Socket, 100), asked: make(chan string, 10_000), sequence: 41}
	x.Server = linktest.Serve(t, x.serve)
	return x
}

// restart is a 3CX that was stopped and started: calls and tokens are gone, and
// it counts from the beginning.
func (x *exchange) restart() {
	x.Restart(func() { x.with(func() { clear(x.participants); clear(x.tokens); x.sequence = 0 }) })
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
	if r.URL.RawQuery != "" || strings.Contains(r.URL.String(), "canary") {
		x.t.Errorf("asked for %s", r.URL)
	}
	x.mu.Lock()
	if r.URL.Path == "/connect/token" && r.Method == http.MethodPost {
		defer x.mu.Unlock()
		x.newToken(w, r)
		return
	}
	if token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); !ok || !x.tokens[token] {
		denied = http.StatusUnauthorized
	}
	if denied != 0 {
		x.mu.Unlock()
		http.Error(w, fmt.Sprintf(`{"error":%q}`, r.Header), denied)
		return
	}
	if r.URL.Path == "/callcontrol/ws" {
		x.mu.Unlock()
		x.events(w, r)
		return
	}
	defer x.mu.Unlock()
	select {
	case x.asked <- r.URL.Path:
	default: // more than any test looks at
	}
	ext, rest, part := strings.Cut(strings.TrimPrefix(r.URL.Path, "/callcontrol/"), "/participants/")
	switch {
	case ext != "101":
		http.Error(w, "", http.StatusNotFound)
	case !part:
		x.snapshots++
		all := []string{}
		for k, p := range x.participants {
			if strings.HasPrefix(k, "101/") {
				all = append(all, p)
			}
		}
		fmt.Fprintf(w, `{"dn":"101","type":"Wextension","devices":[{"dn":"101","device_id":"sip:101@127.0.0.1:5483","user_agent":"3CX Mobile Client"}],"participants":[%s]}`, strings.Join(all, ","))
	case x.faults > 0:
		x.faults--
		http.Error(w, "", http.StatusInternalServerError)
	case x.participants[ext+"/"+rest] == "":
		http.Error(w, "", http.StatusNotFound)
	default:
		io.WriteString(w, x.participants[ext+"/"+rest])
	}
}

func (x *exchange) newToken(w http.ResponseWriter, r *http.Request) {
	b, _ := io.ReadAll(r.Body)
	form, _ := url.ParseQuery(string(b))
	status := x.login
	if status == 0 && (r.Header.Get("Content-Type") != "application/x-www-form-urlencoded" || form.Get("grant_type") != "client_credentials" ||
		form.Get("client_id") != client || form.Get("client_secret") != secret) {
		status = http.StatusBadRequest
	}
	if status != 0 {
		http.Error(w, fmt.Sprintf(`{"error":"invalid_client","echo":%q}`, b), status)
		return
	}
	x.made++
	token := fmt.Sprintf("canary.token.%d", x.made)
	x.tokens[token] = true
	fmt.Fprintf(w, `{"token_type":"Bearer","expires_in":%v,"access_token":%q,"refresh_token":null}`, x.life, token)
}

func (x *exchange) events(w http.ResponseWriter, r *http.Request) {
	x.mu.Lock() // so that it is sent to as soon as it can know that it is connected
	conn := x.Upgrade(w, r, &websocket.Upgrader{})
	if conn == nil {
		x.mu.Unlock()
		return
	}
	defer conn.Close()
	x.conns[conn] = true
	deaf := x.deaf
	x.mu.Unlock()
	defer x.with(func() { delete(x.conns, conn) })
	x.upgraded <- conn
	if deaf {
		<-x.Stopped
		return
	}
	conn.Drain()
}

// write sends messages as they are.
func (x *exchange) write(messages ...string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.writeLocked(messages...)
}

func (x *exchange) writeLocked(messages ...string) {
	for c := range x.conns {
		for _, m := range messages {
			_ = c.WriteMessage(websocket.TextMessage, []byte(m)) // the link may have hung up on us
		}
	}
}

func (x *exchange) note(kind int, entity string) string {
	x.sequence++
	return fmt.Sprintf(`{"sequence":%d,"event":{"event_type":%d,"entity":%q,"attached_data":null}}`, x.sequence, kind, entity)
}

// set makes a participant what it is and tells of it; nothing is its end.
func (x *exchange) set(ext string, id int, p *part) {
	x.mu.Lock()
	defer x.mu.Unlock()
	key, entity := fmt.Sprintf("%s/%d", ext, id), fmt.Sprintf("/callcontrol/%s/participants/%d", ext, id)
	if p == nil {
		delete(x.participants, key)
		x.writeLocked(x.note(remove, entity))
		return
	}
	x.participants[key] = p.json(ext, id)
	x.writeLocked(x.note(upsert, entity))
}

// last rings and hangs up, and both are awaited: everything before was taken.
func (x *exchange) last(w *linktest.Watch) {
	x.t.Helper()
	x.set("101", 9999, &part{status: "Ringing", number: "0201234599", call: 4242})
	w.Expect("ringing incoming #4242.9999 0201234599 on 101")
	x.set("101", 9999, nil)
	w.Expect("ended incoming #4242.9999 0201234599 on 101")
}

// breaks is what its tests of broken connections need.
func (x *exchange) breaks() linktest.Exchange {
	return linktest.Exchange{
		Ring: func() { x.with(func() { x.participants["101/7"] = ring.json("101", 7) }) },
		Listen: func(ping, silence time.Duration) *linktest.Watch {
			cfg := x.config()
			cfg.Net.PingEvery, cfg.Net.Silence = ping, silence
			return listen(x.t, cfg)
		},
		Restart: x.restart,
		HangUp:  func() { x.with(func() { clear(x.participants) }) },
		Deaf:    func(is bool) { x.with(func() { x.deaf = is }) },
		Last:    x.last,
		Ended:   strings.Replace(rings, "ringing", "ended", 1),
	}
}

func (x *exchange) config() exchangelink.Account {
	return exchangelink.Account{
		Address: x.URL, User: client, Extension: "101",
		Secret: func(context.Context) (string, error) { return secret, nil },
		Net:    exchangelink.Options{Roots: x.Roots()},
	}
}

// part is a participant as the API gives it.
type part struct {
	status, number, name, did, referred, behalf string
	call                                        int
	null                                        bool // what could be null is
}

func (p part) json(ext string, id int) string {
	m := map[string]any{
		"id": id, "status": p.status, "dn": ext, "party_caller_name": p.name, "party_dn": "10000", "party_caller_id": p.number, "party_did": p.did,
		"device_id": "sip:101@127.0.0.1:5483", "party_dn_type": "Wexternalline", "direct_control": false, "originated_by_dn": "", "originated_by_type": "None",
		"referred_by_dn": p.referred, "referred_by_type": "None", "on_behalf_of_dn": p.behalf, "on_behalf_of_type": "None", "callid": p.call, "legid": 2,
	}
	if p.null {
		for _, k := range []string{"party_caller_name", "party_dn", "party_caller_id", "party_did", "device_id", "party_dn_type", "referred_by_dn", "on_behalf_of_dn"} {
			m[k] = nil
		}
	}
	b, _ := json.Marshal(m)
	return string(b)
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
