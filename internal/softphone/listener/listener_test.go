package listener

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"go.uber.org/goleak"

	"wiebelt/internal/core/call"
	"wiebelt/internal/simulate"
	"wiebelt/internal/testutil/must"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	socketTok = "Zm9vYmFyLXNvY2tldC10b2tlbi1mb3ItdGVzdHMtMDE"
	pathTok   = "cGF0aC10b2tlbi10aGF0LWNhbi1vbmx5LXJpbmctMDI"
	goodPage  = "https://phone.example"
)

// desk is a listener under test and what it has received.
type desk struct {
	*Listener
	t testing.TB

	mu    sync.Mutex
	taken []call.Event
	gone  []call.Source
	err   error // what Receive returns
}

func newDesk(t testing.TB, change ...func(*Config, *timing)) *desk {
	t.Helper()
	d := &desk{t: t}
	cfg := Config{
		SocketToken: socketTok, PathToken: pathTok, HTTP: true,
		AllowedOrigins: []string{goodPage, "http://localhost:3000"},
		Receive: func(e call.Event) error {
			d.mu.Lock()
			defer d.mu.Unlock()
			if d.err != nil {
				return d.err
			}
			d.taken = append(d.taken, e)
			return nil
		},
		SourceGone: func(from call.Source) {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.gone = append(d.gone, from)
		},
	}
	tm := defaultTiming
	for _, c := range change {
		c(&cfg, &tm)
	}
	l := must.Get(start(context.Background(), cfg, tm))(t)
	d.Listener = l
	t.Cleanup(l.Close)
	return d
}

func (d *desk) events() []call.Event {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]call.Event(nil), d.taken...)
}

func (d *desk) refuseWith(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.err = err
}

// raw sends bytes unchanged and returns the answer's status, 0 for none.
func (d *desk) raw(request string) (int, http.Header, string) {
	d.t.Helper()
	conn := must.Get(net.Dial("tcp4", fmt.Sprintf("127.0.0.1:%d", d.Port())))(d.t)
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(20 * time.Second))
	if _, err := io.WriteString(conn, request); err != nil {
		return 0, nil, ""
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0, nil, ""
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusSwitchingProtocols {
		return resp.StatusCode, resp.Header, ""
	}
	body, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, resp.Header, string(body)
}

func upgrade(host string, lines ...string) string {
	return "GET /v1/events HTTP/1.1\r\nHost: " + host + "\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n" + join(lines) + "\r\n"
}

func get(target, host string, lines ...string) string {
	return "GET " + target + " HTTP/1.1\r\nHost: " + host + "\r\n" + join(lines) + "\r\n"
}

func join(lines []string) string {
	s := ""
	for _, l := range lines {
		s += l + "\r\n"
	}
	return s
}

// answers checks the status with which a request is answered.
func (d *desk) answers(want int, request string) {
	d.t.Helper()
	if status, _, _ := d.raw(request); status != want {
		d.t.Errorf("%.300q: status %d, want %d", request, status, want)
	}
}

func (d *desk) host() string { return fmt.Sprintf("127.0.0.1:%d", d.Port()) }

const (
	withProtocol = "Sec-WebSocket-Protocol: wiebelt.v1"
	withBearer   = "Authorization: Bearer " + socketTok
)

func dial(t testing.TB, d *desk) *simulate.Phone {
	t.Helper()
	p := must.Get(simulate.Dial(context.Background(), d.Port(), socketTok))(t)
	t.Cleanup(func() { p.Close() })
	return p
}

func TestCallOverWebSocket(t *testing.T) {
	at := time.Unix(1e9, 0)
	d := newDesk(t, func(c *Config, _ *timing) { c.Now = func() time.Time { return at } })
	ctx := context.Background()
	p, other := dial(t, d), dial(t, d)
	c := simulate.Call{ID: "7f3a", Number: "+31612345678", Name: "J. de Vries", Line: "020 123 45 67", Via: "Balie"}
	for _, err := range []error{p.Ring(ctx, c), p.Answer(ctx, c), p.End(ctx, c, "completed"), other.Ring(ctx, simulate.Call{})} {
		must.Do(t, err)
	}
	got := d.events()
	if len(got) != 4 {
		t.Fatalf("%d events", len(got))
	}
	want := call.Event{Source: got[0].Source, ID: "7f3a", Number: "+31612345678", Name: "J. de Vries", Line: "020 123 45 67", Via: "Balie", At: at}
	if got[0] != want {
		t.Errorf("ring: %+v", got[0])
	}
	want.State = call.Answered
	if got[1] != want {
		t.Errorf("answer: %+v", got[1])
	}
	want.State, want.Reason = call.Ended, call.Completed
	if got[2] != want {
		t.Errorf("end: %+v", got[2])
	}
	if w := got[0].Source; w.Kind != call.KindWebSocket || w.ReportLevel != call.AllStates || w.Conn == "" {
		t.Errorf("way %+v", w)
	}
	if got[3].Source == got[0].Source {
		t.Error("two connections are one way")
	}
	p.Close()
	must.Soon(t, func() (bool, any) {
		d.mu.Lock()
		defer d.mu.Unlock()
		return len(d.gone) == 1 && d.gone[0] == got[0].Source, d.gone
	})
}

// connected waits until there are n connections.
func (d *desk) connected(t testing.TB, n int) {
	t.Helper()
	must.Soon(t, func() (bool, any) {
		d.Listener.mu.Lock()
		defer d.Listener.mu.Unlock()
		return len(d.sockets) == n, len(d.sockets)
	})
}

// TestAnswers: the answers are fixed bytes that contain nothing about the caller.
func TestAnswers(t *testing.T) {
	d := newDesk(t)
	source := call.Source{Kind: call.KindWebSocket, Conn: "1", ReportLevel: call.AllStates}
	ev := func(s string) string { return `{"event":"call","id":"7f3a",` + s + `}` }
	long := strings.Repeat("6", 129)
	for _, tt := range []struct{ in, code string }{
		{ev(`"state":"ringing","direction":"incoming","number":"+31612345678","name":"J. de Vries","line":"020 123 45 67"`), "ack"},
		{ev(`"number":"+31612345678"`), "ack"},
		{ev(`"state":"answered"`), "ack"},
		{ev(`"state":"ended","reason":"elsewhere"`), "ack"},
		{ev(`"state":"ended","reason":"no word of ours"`), "ack"},
		{ev(`"number":null,"name":null,"state":null`), "ack"},
		{ev(`"number":""`), "ack"},
		{ev(`"number":"anonymous"`), "ack"},
		{ev(`"direction":"sideways"`), "ack"},
		{ev(`"shoe_size":44,"deep":{"a":[1e999,{"b":null}]}`), "ack"},
		{`{"event":"call"}`, "ack"},
		{ev(`"state":"on fire"`), "bad_state"},
		{ev(`"number":"hello"`), "bad_number"},
		{ev(`"number":"` + long + `"`), "bad_number"},
		{ev(`"number":"{phone}"`), "unfilled_macro"},
		{ev(`"number":31612345678`), "bad_request"},
		{ev(`"number":"1234","number":"5678"`), "bad_request"},
		{ev(`"x":[[[[[[[[[]]]]]]]]]`), "bad_request"},
		{`{"id":"7f3a"}`, "bad_request"},
		{`{"event":"call","id":"` + strings.Repeat("a", 129) + `"}`, "bad_request"},
		{`{"event":null}`, "bad_request"},
		{`{"event":"pong","id":"7f3a","number":"+31612345678"}`, ""},
		{`{"EVENT":"call","id":"7f3a"}`, "bad_request"},
	} {
		got := string(d.handleMessage([]byte(tt.in), source))
		var r struct{ Event, ID, Code, Message string }
		if tt.code == "" {
			if got != "" {
				t.Errorf("%s: answered %s", tt.in, got)
			}
			continue
		}
		if err := json.Unmarshal([]byte(got), &r); err != nil {
			t.Errorf("%s: %v", tt.in, err)
			continue
		}
		code := r.Code
		if r.Event == "ack" {
			code = "ack"
			if want := `{"event":"ack","id":"` + r.ID + `"}`; r.ID != "" && got != want {
				t.Errorf("ack is %s", got)
			}
		} else if r.Event != "error" || r.Message == "" {
			t.Errorf("%s: %s", tt.in, got)
		}
		if code != tt.code {
			t.Errorf("%s: %s, want %s", tt.in, code, tt.code)
		}
		if (r.ID == "7f3a") != strings.Contains(tt.in, `"id":"7f3a"`) || r.ID != "" && r.ID != "7f3a" {
			t.Errorf("%s: id %q", tt.in, r.ID)
		}
		if strings.Contains(got, "612345678") || strings.Contains(got, "Vries") {
			t.Errorf("answer tells of the caller: %s", got)
		}
	}
	d.refuseWith(errors.New("odd"))
	if got := string(d.handleMessage([]byte(ev(`"number":"1234"`)), source)); !strings.Contains(got, `"code":"stopping"`) {
		t.Error(got)
	}
}

func TestPorts(t *testing.T) {
	taken := newDesk(t)
	cfg := Config{Port: taken.Port(), Receive: func(call.Event) error { return nil }}
	if _, err := Start(context.Background(), cfg); !errors.Is(err, ErrPortTaken) {
		t.Errorf("taken port: %v", err)
	}
	cfg.Tries = 16
	l := must.Get(Start(context.Background(), cfg))(t)
	defer l.Close()
	if p := l.Port(); p <= taken.Port() || p >= taken.Port()+16 || !l.HasStablePort() {
		t.Errorf("port %d after %d", p, taken.Port())
	}
	// With more users than ports, any free port is used.
	next, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", taken.Port()+1))
	if err == nil { // otherwise it is in use anyway
		defer next.Close()
	}
	cfg.Tries = 2
	last := must.Get(Start(context.Background(), cfg))(t)
	defer last.Close()
	if p := last.Port(); p == taken.Port() || p == taken.Port()+1 || last.HasStablePort() {
		t.Errorf("port %d, lasting %v", p, last.HasStablePort())
	}
}

// TestPortTakenOnIPv6: a program on our port of [::1] would
// receive the callers of every phone configured with "localhost".
func TestPortTakenOnIPv6(t *testing.T) {
	other, err := net.Listen("tcp6", "[::1]:0")
	if err != nil {
		t.Log("no IPv6 on this machine, nothing to hold")
		return
	}
	defer other.Close()
	cfg := Config{Port: other.Addr().(*net.TCPAddr).Port, Receive: func(call.Event) error { return nil }}
	if _, err := Start(context.Background(), cfg); !errors.Is(err, ErrPortTaken) {
		t.Errorf("%v", err)
	}
	other.Close() // now both addresses are free
	l := must.Get(Start(context.Background(), cfg))(t)
	defer l.Close()
	if l.Port() != cfg.Port || !l.HasStablePort() {
		t.Errorf("port %d, lasting %v", l.Port(), l.HasStablePort())
	}
	must.Get((&http.Client{Timeout: must.Patience}).Get("http://" + other.Addr().String()))(t).Body.Close()
}

func TestAnnounce(t *testing.T) {
	d := newDesk(t)
	path := filepath.Join(t.TempDir(), "run", "listener.json")
	must.Do(t, d.Announce(path))
	b := must.Get(os.ReadFile(path))(t)
	if want := fmt.Sprintf(`{"version":1,"port":%d,"token":"%s","pid":%d}`+"\n", d.Port(), socketTok, os.Getpid()); string(b) != want {
		t.Errorf("%s", b)
	}
	if st, _ := os.Stat(path); st.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", st.Mode())
	}
	if st, _ := os.Stat(filepath.Dir(path)); st.Mode().Perm() != 0o700 {
		t.Errorf("folder's mode %v", st.Mode())
	}
	if all, _ := os.ReadDir(filepath.Dir(path)); len(all) != 1 {
		t.Errorf("%d files", len(all))
	}
	d.Close()
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("still there: %v", err)
	}
	if err := d.Announce(path); !errors.Is(err, ErrStopping) {
		t.Errorf("announced after the end: %v", err)
	}

	// Another instance's file stays.
	for _, other := range []string{`{"version":1,"port":%[1]d,"token":"x","pid":1}`, `{"version":1,"port":1,"token":"x","pid":%[2]d}`} {
		d = newDesk(t)
		must.Do(t, d.Announce(path))
		other = fmt.Sprintf(other, d.Port(), os.Getpid())
		must.Do(t, os.WriteFile(path, []byte(other), 0o600))
		d.Close()
		if b, _ := os.ReadFile(path); string(b) != other {
			t.Errorf("other's file: %q", b)
		}
	}
	must.Do(t, os.Chmod(filepath.Dir(path), 0o777))
	d = newDesk(t)
	if b, _ := os.ReadFile(path); d.Announce(path) == nil || strings.Contains(string(b), socketTok) {
		t.Error("announced where everybody may write")
	}
}

func TestCloseTellsAndWaits(t *testing.T) {
	d := newDesk(t)
	conn := d.socket(t)
	defer conn.Close()
	d.connected(t, 1)
	d.Close()
	conn.SetReadDeadline(time.Now().Add(10 * time.Second))
	_, _, err := conn.ReadMessage()
	if !websocket.IsCloseError(err, websocket.CloseGoingAway) {
		t.Errorf("phone was told: %v", err)
	}
	d.Close() // again
	if len(d.sockets) != 0 {
		t.Error("connections left")
	}
	d.refuseWith(nil)
	if c := d.receive(call.Event{}); c != stopping || len(d.events()) != 0 {
		t.Errorf("taken after the end: %q", c)
	}
	w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/v1/call/"+pathTok, nil)
	r.Host = d.host()
	d.ServeHTTP(w, r)
	if w.Code != 503 || !strings.Contains(w.Body.String(), "stopping") {
		t.Errorf("request after the end: %d %s", w.Code, w.Body)
	}
}

func TestEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	l := must.Get(Start(ctx, Config{Receive: func(call.Event) error { return nil }}))(t)
	cancel()
	l.Close() // waits; goleak detects anything left
	if _, err := net.Dial("tcp4", fmt.Sprintf("127.0.0.1:%d", l.Port())); err == nil {
		t.Error("still listening")
	}
}

func (d *desk) socket(t testing.TB) *websocket.Conn {
	t.Helper()
	dialer := websocket.Dialer{Subprotocols: []string{Subprotocol, "token." + socketTok}}
	conn, resp, err := dialer.Dial("ws://"+d.host()+"/v1/events", nil)
	must.Do(t, err)
	resp.Body.Close()
	if conn.Subprotocol() != Subprotocol {
		t.Errorf("subprotocol %q", conn.Subprotocol())
	}
	return conn
}
