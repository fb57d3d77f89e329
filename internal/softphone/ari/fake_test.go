package ari

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
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
	login  = "wiebelt"
	secret = "canary-secret-Gv7q"
)

// asterisk speaks ARI as res_ari and its parts do.
type asterisk struct {
	*linktest.Server
	t testing.TB

	mu       sync.Mutex
	channels map[string]string // by id: as GET /ari/channels lists them
	vars     map[string]string // by id and name
	apps     map[string]*linktest.Socket
	deny     int  // status of everything, 0: none
	deaf     bool // upgrades and then never reads, so that no ping is answered
	raw      func(http.ResponseWriter, *http.Request) bool
	asked    []string // names of variables
	upgraded chan *linktest.Socket
}

func newAsterisk(t testing.TB) *asterisk {
	a := &asterisk{t: t, channels: map[string]string{}, vars: map[string]string{}, apps: map[string]*linktest.Socket{}, upgraded: make(chan *linktest.Socket, 100)}
	a.Server = linktest.Serve(t, a.serve)
	return a
}

// restart is an Asterisk that was stopped and started; its calls are gone.
func (a *asterisk) restart() {
	a.Restart(func() { a.with(func() { clear(a.channels); clear(a.apps) }) })
}

func (a *asterisk) serve(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	deny, raw := a.deny, a.raw
	a.mu.Unlock()
	if raw != nil && raw(w, r) {
		return
	}
	if got, want := r.Header.Get("Authorization"), "Basic "+base64.StdEncoding.EncodeToString([]byte(login+":"+secret)); got != want {
		deny = http.StatusUnauthorized
	}
	if strings.Contains(r.URL.String(), secret) || r.URL.Query().Has("api_key") {
		a.t.Error("the secret is in the address")
	}
	if deny != 0 {
		w.Header().Set("WWW-Authenticate", `Basic realm="Asterisk REST Interface"`)
		http.Error(w, fmt.Sprintf(`{"message":"Authentication required","echo":%q}`, r.Header), deny)
		return
	}
	switch path := r.URL.EscapedPath(); {
	case path == "/ari/events":
		a.events(w, r)
	case path == "/ari/channels":
		a.mu.Lock()
		defer a.mu.Unlock()
		all := []string{}
		for _, c := range a.channels {
			all = append(all, c)
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, "[%s]", strings.Join(all, ","))
	case strings.HasSuffix(path, "/variable"):
		a.mu.Lock()
		defer a.mu.Unlock()
		name := r.URL.Query().Get("variable")
		a.asked = append(a.asked, name)
		id := strings.TrimSuffix(strings.TrimPrefix(path, "/ari/channels/"), "/variable")
		if v, ok := a.vars[id+" "+name]; ok {
			fmt.Fprintf(w, `{"value":%q}`, v)
			return
		}
		http.Error(w, `{"message":"Unable to read provided function"}`, http.StatusInternalServerError)
	default:
		http.Error(w, `{"message":"Resource not found"}`, http.StatusNotFound)
	}
}

func (a *asterisk) events(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	app := q.Get("app")
	if app == "" || q.Get("subscribeAll") != "true" {
		a.t.Errorf("asked for %s", r.URL)
	}
	up := websocket.Upgrader{Subprotocols: []string{"ari"}}
	if websocket.Subprotocols(r)[0] != "ari" {
		a.t.Error("without its subprotocol Asterisk echoes")
	}
	a.mu.Lock() // so that it is sent to as soon as it can know that it is connected
	conn := a.Upgrade(w, r, &up)
	if conn == nil {
		a.mu.Unlock()
		return
	}
	defer conn.Close()
	if old := a.apps[app]; old != nil {
		old.WriteMessage(websocket.TextMessage, fmt.Appendf(nil, `{"type":"ApplicationReplaced","timestamp":"2026-01-05T09:30:00.000+0100","application":%q,"asterisk_id":"08:00:27:00:00:01"}`, app))
	}
	a.apps[app] = conn
	deaf := a.deaf
	a.mu.Unlock()
	a.upgraded <- conn
	if deaf {
		<-a.Stopped
		return
	}
	conn.Drain()
}

// send writes to every application.
func (a *asterisk) send(messages ...string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, c := range a.apps {
		for _, m := range messages {
			_ = c.WriteMessage(websocket.TextMessage, []byte(m)) // the link may have hung up on us
		}
	}
}

func (a *asterisk) with(f func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	f()
}

// breaks is what its tests of broken connections need.
func (a *asterisk) breaks() linktest.Exchange {
	return linktest.Exchange{
		Ring: func() { a.with(func() { a.channels["1"] = ring.json() }) },
		Listen: func(ping, silence time.Duration) *linktest.Watch {
			cfg := a.config()
			cfg.Net.PingEvery, cfg.Net.Silence = ping, silence
			return listen(a.t, cfg)
		},
		Restart: a.restart,
		HangUp:  func() { a.with(func() { clear(a.channels) }) },
		Deaf:    func(is bool) { a.with(func() { a.deaf = is }) },
		Last:    func(w *linktest.Watch) { a.send(last.event("ChannelStateChange")); w.Expect(lastSaid) },
		Ended:   "ended incoming #1736065800.12 0612345678 (J. de Vries) on 0201234567",
	}
}

func (a *asterisk) config() exchangelink.Account {
	return exchangelink.Account{
		Address: a.URL, User: login, Extension: "101",
		Secret: func(context.Context) (string, error) { return secret, nil },
		Net:    exchangelink.Options{Roots: a.Roots()},
	}
}

// chan_ is a channel as ast_channel_snapshot_to_json writes it.
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

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// listen runs a link until the test ends.
func listen(t testing.TB, cfg exchangelink.Account) *linktest.Watch {
	t.Helper()
	p, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	p.(*phone).app = "wiebelt-jansen-pc7"
	return linktest.Run(t, p)
}
