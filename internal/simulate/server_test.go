package simulate_test

import (
	"context"
	"crypto/tls"
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
	"wiebelt/internal/testutil/must"
)

var servers = registry.Links()

func open(t testing.TB, ctx context.Context, over, listen string) simulate.Server {
	t.Helper()
	p := must.Get(simulate.Open(ctx, over, simulate.Options{Listen: listen}))(t)
	t.Cleanup(func() { _ = p.Close() })
	return p.(simulate.Server)
}

// dialable converts a server's address for package net.
func dialable(a simulate.Address) (network, address string) {
	if filepath.IsAbs(a.Address) {
		return "unix", a.Address
	}
	return "tcp", strings.TrimPrefix(a.Address, "http://")
}

// TestEndsWithItsContext checks that a server ends with its context, whoever is connected,
// and reports its address before anyone has connected.
func TestEndsWithItsContext(t *testing.T) {
	for _, over := range servers {
		t.Run(over, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			s := open(t, ctx, over, "")
			if a := s.Address(); !a.Ready || a.Protocol != over || a.Address == "" || (a.Secret != "") != registry.Of(over).Requires(registry.NeedsSecret) {
				t.Errorf("%+v", a)
			}
			if err := s.Ready(cancelled(t)); !errors.Is(err, context.Canceled) {
				t.Errorf("ready while nobody is there: %v", err)
			}
			network, address := dialable(s.Address())
			silent := must.Get(net.Dial(network, address))(t)
			defer silent.Close()
			cancel()
			_ = silent.SetReadDeadline(time.Now().Add(5 * time.Second))                        // less than a server waits for a request
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

// TestLinkComesLate checks that a link that connects during a call finds it where the protocol has
// a list, with its name as given, and that the scenario continues as if it had been there.
func TestLinkComesLate(t *testing.T) {
	for _, over := range []string{"bria", "linphone", "ari", "wazo", "3cx"} {
		t.Run(over, func(t *testing.T) {
			t.Parallel()
			w := wire(t, over)
			c := simulate.Call{ID: "s<1&", Number: "0612345678", Name: `Zoë & <Zn> "B\V"`}
			tell := func(n simulate.Update) {
				t.Helper()
				must.Do(t, w.SendUpdate(t.Context(), n))
			}
			w.link.Stop()
			tell(simulate.Update{Verb: simulate.Ring, Call: c})
			if n := w.told.Received(); n != 0 {
				t.Fatalf("%d events without a link", n)
			}
			linktest.RunInto(t, linkTo(t, w.Softphone.(simulate.Server).Address()), w.told.Receive)
			w.told.Until(t, "the call that rings", func() bool { return len(w.told.Lines()) == 1 })
			tell(simulate.Update{Verb: simulate.Answer, Call: c, Answered: true})
			tell(simulate.Update{Verb: simulate.End, Call: c, Answered: true})
			w.told.Until(t, "its whole life", func() bool { return len(w.told.Lines()) == 3 })
			if got := w.told.Lines(); !strings.HasPrefix(got[0], "1 rings +31612345678") || !strings.Contains(got[0], c.Name) || got[1] != "1 answered" || got[2] != "1 over completed" {
				t.Errorf("%q", got)
			}
		})
	}
}

func ends(t testing.TB, c net.Conn) {
	t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(20 * time.Second))
	if _, err := c.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("it goes on: %v", err)
	}
}

// TestOneClientOfBaresip connects two programs to one baresip: the newer one gets the calls.
func TestOneClientOfBaresip(t *testing.T) {
	b := open(t, t.Context(), "baresip", "")
	first := must.Get(net.Dial("tcp", b.Address().Address))(t)
	defer first.Close()
	must.Do(t, b.Ready(t.Context()))
	second := must.Get(net.Dial("tcp", b.Address().Address))(t)
	defer second.Close()
	ends(t, first)
	must.Do(t, b.SendUpdate(t.Context(), simulate.Update{Verb: simulate.Ring, Call: simulate.Call{ID: "1-13829", Number: "020 1234567", Name: `Café "De Hoek" Zoë`}}))
	// As captured from baresip 1.0.0, except account and port.
	const want = `262:{"event":true,"type":"CALL_INCOMING","class":"call","accountaor":"sip:115@127.0.0.1","direction":"incoming","peeruri":"sip:0201234567@127.0.0.1:5070","peerdisplayname":"Café \\\"De Hoek\\\" Zoë","id":"1-13829@127.0.0.1","param":"sip:0201234567@127.0.0.1:5070"},`
	_ = second.SetReadDeadline(time.Now().Add(20 * time.Second))
	got := make([]byte, len(want))
	if _, err := io.ReadFull(second, got); err != nil || string(got) != want {
		t.Errorf("%v: %s\nwant %s", err, got, want)
	}
}

// TestOneClientOfLinphone: of two programs on one linphone-daemon,
// the second gets nothing and the first gets what it asks for.
func TestOneClientOfLinphone(t *testing.T) {
	const idle = "Status: Ok\n\nSize: 0\n\n"
	l := open(t, t.Context(), "linphone", "")
	one := must.Get(net.Dial("unix", l.Address().Address))(t)
	defer one.Close()
	ask := func(command string) string {
		t.Helper()
		_ = one.SetDeadline(time.Now().Add(20 * time.Second))
		must.Get(io.WriteString(one, command+"\n"))(t)
		buf := make([]byte, 4<<10)
		return string(buf[:must.Get(one.Read(buf))(t)])
	}
	for command, want := range map[string]string{"pop-event": idle, "call-status": "Status: Error\nReason: No current call available.\n",
		"call-status 7": "Status: Error\nReason: No call with such id.\n", "call-status x": "Status: Error\nReason: No call with such id.\n",
		"terminate 1": "Status: Error\nReason: Unknown command.\n", strings.Repeat("x", 10<<10): "Status: Error\nReason: Unknown command.\n"} {
		if got := ask(command); got != want {
			t.Errorf("%.20s: %q", command, got)
		}
	}
	two := must.Get(net.Dial("unix", l.Address().Address))(t)
	defer two.Close()
	ends(t, two)
	told := make(chan error, 1)
	go func() {
		told <- l.SendUpdate(t.Context(), simulate.Update{Verb: simulate.Ring, Call: simulate.Call{ID: "a", Number: "+31612345678",
			Name: "J. de Vries"}})
	}()
	got := idle
	for got == idle {
		got = ask("pop-event")
	}
	if want := "Status: Ok\n\nSize: 0\nEvent-type: call-state-changed\n\nEvent: LinphoneCallIncomingReceived\nFrom: \"J. de Vries\" <sip:+31612345678@127.0.0.1:5070>\nId: 1\n\n\n\n"; got != want {
		t.Errorf("%q\nwant %q", got, want)
	}
	ask("pop-event") // after an answer, the client asks for more
	must.Do(t, <-told)
}

// TestHostileClients checks that anything that is not a
// request, is too long or comes from a web page does no harm.
func TestHostileClients(t *testing.T) {
	deep := strings.Repeat("[", 10<<10)
	for _, over := range []string{"bria", "ari", "wazo", "3cx"} {
		t.Run(over, func(t *testing.T) {
			t.Parallel()
			s := open(t, t.Context(), over, "")
			scheme, path, known := "ws", "", http.Header{}
			switch f := s.(type) {
			case *simulate.Bria:
				scheme, path = "wss", "/counterpath/socketapi/v1"
			case *simulate.ARI:
				path = "/ari/events?app=x&subscribeAll=true"
				(&http.Request{Header: known}).SetBasicAuth(f.Address().User, f.Address().Secret)
			case *simulate.Wazo:
				f.With(func() { f.Tokens.Valid = []string{"known"} })
				path = "/api/websocketd/?version=2"
				known.Set("X-Auth-Token", "known")
			case *simulate.ThreeCX:
				f.With(func() { f.Tokens.Valid = []string{"known"} })
				path = "/callcontrol/ws"
				known.Set("Authorization", "Bearer known")
			}
			d := websocket.Dialer{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, HandshakeTimeout: 20 * time.Second}
			_, at := dialable(s.Address())
			dial := func(h http.Header) (*websocket.Conn, error) {
				c, _, err := d.Dial(scheme+"://"+at+path, h)
				return c, err
			}
			for _, m := range []string{"", "\x00", deep, "{}", `{"op":"dance"}`, `{"op":"subscribe","data":7}`, "GET /status\r\n\r\n<status><type>missedCall</type></status>", "DELETE /x", strings.Repeat("x", 1<<20)} {
				c := must.Get(dial(known))(t)
				_ = c.WriteMessage(websocket.TextMessage, []byte(m)) // it may be closed by now
				_ = c.Close()
			}
			evil := known.Clone()
			evil.Set("Origin", "https://evil.example")
			if c, err := dial(evil); err == nil {
				t.Error("a web page is let in")
				_ = c.Close()
			}
			for _, strange := range []http.Header{nil, {"Authorization": {"Bearer unknown"}, "X-Auth-Token": {"unknown"}}} {
				c, err := dial(strange)
				if err == nil && over == "wazo" { // the refusal follows on the socket
					_, _, err = c.ReadMessage()
				}
				if let := err == nil; let != (over == "bria") || over == "wazo" && !websocket.IsCloseError(err, 4001, 4002) {
					t.Errorf("without a secret that it knows: %v", err)
				}
				if c != nil {
					_ = c.Close()
				}
			}
			_ = must.Get(dial(known))(t).Close() // the server is still there
		})
	}
}
