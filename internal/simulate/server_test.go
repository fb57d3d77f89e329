package simulate_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"wiebelt/internal/simulate"
	"wiebelt/internal/softphone/registry"
	"wiebelt/internal/testutil/linktest"
)

var servers = registry.Links()

func open(t testing.TB, ctx context.Context, over, listen string) simulate.Server {
	t.Helper()
	p, err := simulate.Open(ctx, over, simulate.Options{Listen: listen})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p.(simulate.Server)
}

// dialable is what a server's address means to package net.
func dialable(a simulate.Address) (network, address string) {
	if filepath.IsAbs(a.Address) {
		return "unix", a.Address
	}
	return "tcp", strings.TrimPrefix(a.Address, "http://")
}

// A server ends with its context, whoever is connected, and says where it is
// before anybody has come.
func TestEndsWithItsContext(t *testing.T) {
	for _, over := range servers {
		t.Run(over, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			s := open(t, ctx, over, "")
			if a := s.Address(); !a.Ready || a.Over != over || a.Address == "" || (a.Secret != "") != registry.Of(over).Requires(registry.NeedsSecret) {
				t.Errorf("%+v", a)
			}
			if err := s.Ready(cancelled(t)); !errors.Is(err, context.Canceled) {
				t.Errorf("ready while nobody is there: %v", err)
			}
			network, address := dialable(s.Address())
			silent, err := net.Dial(network, address)
			if err != nil {
				t.Fatal(err)
			}
			defer silent.Close()
			cancel()
			_ = silent.SetReadDeadline(time.Now().Add(5 * time.Second))                        // less than a server waits for a question
			if _, err := io.Copy(io.Discard, silent); errors.Is(err, os.ErrDeadlineExceeded) { // a server may greet
				t.Errorf("the connection goes on: %v", err)
			}
			if _, err := net.Dial(network, address); err == nil {
				t.Error("somebody still listens")
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if network == "unix" {
				if _, err := os.Stat(filepath.Dir(address)); err == nil {
					t.Error("the folder of the socket is left behind")
				}
			}
		})
	}
}

func cancelled(t testing.TB) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

func TestWhereToListen(t *testing.T) {
	for _, over := range servers {
		for _, at := range []string{"0.0.0.0:0", "localhost:0", "192.0.2.1:0", ":0", "127.0.0.1", "relative/lp", strings.Repeat("/x", 80)} {
			if p, err := simulate.Open(t.Context(), over, simulate.Options{Listen: at}); err == nil {
				t.Errorf("%s listens at %q", over, at)
				_ = p.Close()
			}
		}
	}
	first := open(t, t.Context(), "baresip", "")
	if _, err := simulate.Open(t.Context(), "bria", simulate.Options{Listen: first.Address().Address}); err == nil {
		t.Error("two at one address")
	}
	if _, err := simulate.Open(t.Context(), "fax", simulate.Options{}); !errors.Is(err, simulate.ErrProtocol) {
		t.Errorf("%v", err)
	}
	if _, err := simulate.Open(t.Context(), "command", simulate.Options{}); err == nil {
		t.Error("a program without a name")
	}
	again := open(t, t.Context(), "linphone", filepath.Join(t.TempDir(), "lp"))
	if info, err := os.Stat(again.Address().Address); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
}

// A link that comes while a call is on finds it where the protocol has a list, with
// its name as it was given, and the scenario goes on as if it had been there.
func TestLinkComesLate(t *testing.T) {
	for _, over := range []string{"bria", "linphone", "ari", "wazo", "3cx"} {
		t.Run(over, func(t *testing.T) {
			t.Parallel()
			w := wire(t, over)
			c := simulate.Call{ID: "s<1&", Number: "0612345678", Name: `Zoë & <Zn> "B\V"`}
			tell := func(n simulate.Update) {
				t.Helper()
				if err := w.Tell(t.Context(), n); err != nil {
					t.Fatal(err)
				}
			}
			w.link.Stop()
			tell(simulate.Update{Do: simulate.Ring, Call: c})
			if n := w.told.Taken(); n != 0 {
				t.Fatalf("%d events without a link", n)
			}
			linktest.RunInto(t, linkTo(t, w.Softphone.(simulate.Server).Address()), w.told.Take)
			w.told.Until(t, "the call that rings", func() bool { return len(w.told.Lines()) == 1 })
			tell(simulate.Update{Do: simulate.Answer, Call: c, Answered: true})
			tell(simulate.Update{Do: simulate.End, Call: c, Answered: true})
			w.told.Until(t, "its whole life", func() bool { return len(w.told.Lines()) == 3 })
			if got := w.told.Lines(); !strings.HasPrefix(got[0], "1 rings +31612345678") || !strings.Contains(got[0], c.Name) || got[1] != "1 answered" || got[2] != "1 over completed" {
				t.Errorf("%q", got)
			}
		})
	}
}

// Two programs at one baresip: the newer one gets the calls. At linphone-daemon
// the second one gets nothing.
func TestOneClient(t *testing.T) {
	b := open(t, t.Context(), "baresip", "")
	first, err := net.Dial("tcp", b.Address().Address)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	if err := b.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	second, err := net.Dial("tcp", b.Address().Address)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	_ = first.SetReadDeadline(time.Now().Add(20 * time.Second))
	if _, err := first.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("the first one: %v", err)
	}
	if err := b.Tell(t.Context(), simulate.Update{Do: simulate.Ring, Call: simulate.Call{ID: "1-13829", Number: "020 1234567", Name: `Café "De Hoek" Zoë`}}); err != nil {
		t.Fatal(err)
	}
	// As captured from baresip 1.0.0, but for account and port.
	const want = `262:{"event":true,"type":"CALL_INCOMING","class":"call","accountaor":"sip:115@127.0.0.1","direction":"incoming","peeruri":"sip:0201234567@127.0.0.1:5070","peerdisplayname":"Café \\\"De Hoek\\\" Zoë","id":"1-13829@127.0.0.1","param":"sip:0201234567@127.0.0.1:5070"},`
	_ = second.SetReadDeadline(time.Now().Add(20 * time.Second))
	got := make([]byte, len(want))
	if _, err := io.ReadFull(second, got); err != nil || string(got) != want {
		t.Errorf("%v: %s\nwant %s", err, got, want)
	}

	l := open(t, t.Context(), "linphone", "")
	one, err := net.Dial("unix", l.Address().Address)
	if err != nil {
		t.Fatal(err)
	}
	defer one.Close()
	ask := func(command string) string {
		t.Helper()
		_ = one.SetDeadline(time.Now().Add(20 * time.Second))
		if _, err := io.WriteString(one, command+"\n"); err != nil {
			t.Fatal(err)
		}
		buf := make([]byte, 4<<10)
		n, err := one.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		return string(buf[:n])
	}
	for command, want := range map[string]string{"pop-event": "Status: Ok\n\nSize: 0\n\n", "call-status": "Status: Error\nReason: No current call available.\n",
		"call-status 7": "Status: Error\nReason: No call with such id.\n", "call-status x": "Status: Error\nReason: No call with such id.\n",
		"terminate 1": "Status: Error\nReason: Unknown command.\n", strings.Repeat("x", 10<<10): "Status: Error\nReason: Unknown command.\n"} {
		if got := ask(command); got != want {
			t.Errorf("%.20s: %q", command, got)
		}
	}
	two, err := net.Dial("unix", l.Address().Address)
	if err != nil {
		t.Fatal(err)
	}
	defer two.Close()
	_ = two.SetReadDeadline(time.Now().Add(20 * time.Second))
	if _, err := two.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("the second one: %v", err)
	}
	told := make(chan error, 1)
	go func() {
		told <- l.Tell(t.Context(), simulate.Update{Do: simulate.Ring, Call: simulate.Call{ID: "a", Number: "+31612345678", Name: "J. de Vries"}})
	}()
	var got2 string
	for got2 = ask("pop-event"); got2 == "Status: Ok\n\nSize: 0\n\n"; got2 = ask("pop-event") {
	}
	if want := "Status: Ok\n\nSize: 0\nEvent-type: call-state-changed\n\nEvent: LinphoneCallIncomingReceived\nFrom: \"J. de Vries\" <sip:+31612345678@127.0.0.1:5070>\nId: 1\n\n\n\n"; got2 != want {
		t.Errorf("%q\nwant %q", got2, want)
	}
	ask("pop-event") // having had it, the client asks for more
	if err := <-told; err != nil {
		t.Error(err)
	}
}

// What is no question, too long or from a web page harms nobody.
func TestHostileClients(t *testing.T) {
	deep := strings.Repeat("[", 10<<10)
	for _, over := range []string{"bria", "ari", "wazo", "3cx"} {
		t.Run(over, func(t *testing.T) {
			t.Parallel()
			s := open(t, t.Context(), over, "")
			a := s.Address()
			scheme, path, h := "ws", "", http.Header{}
			switch over {
			case "bria":
				scheme, path = "wss", "/counterpath/socketapi/v1"
			case "ari":
				path = "/ari/events?app=x&subscribeAll=true"
				(&http.Request{Header: h}).SetBasicAuth(a.User, a.Secret)
			case "wazo":
				path = "/api/websocketd/?version=2"
				h.Set("X-Auth-Token", token(t, a, "/api/auth/0.1/token", "application/json", `{"backend":"wazo_user","expiration":7200}`))
			case "3cx":
				path = "/callcontrol/ws"
				h.Set("Authorization", "Bearer "+token(t, a, "/connect/token", "application/x-www-form-urlencoded", "client_id=simulate&client_secret=simulate&grant_type=client_credentials"))
			}
			d := websocket.Dialer{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, HandshakeTimeout: 20 * time.Second}
			_, at := dialable(a)
			for _, m := range []string{"", "\x00", deep, "{}", `{"op":"dance"}`, `{"op":"subscribe","data":7}`, "GET /status\r\n\r\n<status><type>missedCall</type></status>", "DELETE /x", strings.Repeat("x", 1<<20)} {
				c, _, err := d.Dial(scheme+"://"+at+path, h)
				if err != nil {
					t.Fatal(err)
				}
				_ = c.WriteMessage(websocket.TextMessage, []byte(m)) // it may be closed meanwhile
				_ = c.Close()
			}
			evil := h.Clone()
			evil.Set("Origin", "https://evil.example")
			if c, _, err := d.Dial(scheme+"://"+at+path, evil); err == nil {
				t.Error("a web page is let in")
				_ = c.Close()
			}
			if over != "bria" {
				if c, resp, err := d.Dial(scheme+"://"+at+path, nil); over != "wazo" && (err == nil || resp == nil || resp.StatusCode != http.StatusUnauthorized) {
					t.Errorf("without a secret: %v", err)
				} else if over == "wazo" {
					_, _, err := c.ReadMessage()
					if !websocket.IsCloseError(err, 4001) {
						t.Errorf("without a token: %v", err)
					}
					_ = c.Close()
				}
			}
			if over == "3cx" {
				wrong := http.Header{"Authorization": {"Bearer simulated.token.7"}}
				if c, resp, err := d.Dial(scheme+"://"+at+path, wrong); err == nil || resp == nil || resp.StatusCode != http.StatusUnauthorized {
					t.Errorf("with a token of nobody's: %v", err)
					_ = c.Close()
				}
			}
			c, _, err := d.Dial(scheme+"://"+at+path, h) // it is there as before
			if err != nil {
				t.Fatal(err)
			}
			_ = c.Close()
		})
	}
}

// token asks an exchange for one.
func token(t testing.TB, a simulate.Address, path, kind, body string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, a.Address+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", kind)
	r.SetBasicAuth(a.User, a.Secret)
	c := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var answer struct {
		Access string `json:"access_token"`
		Data   struct {
			Token string `json:"token"`
		} `json:"data"`
	}
	if err := json.NewDecoder(bufio.NewReader(resp.Body)).Decode(&answer); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%d: %v", resp.StatusCode, err)
	}
	if answer.Access != "" {
		return answer.Access
	}
	return answer.Data.Token
}
