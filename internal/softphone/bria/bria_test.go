package bria

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"wiebelt/internal/core/call"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/testutil/linktest"
	"wiebelt/internal/testutil/must"
)

// TestCoalesce: however many events arrive while a question
// is open, only one more question follows.
func TestCoalesce(t *testing.T) {
	f := newFake(t)
	hold := make(chan struct{}, 64)
	f.answer = func(id int, calls string) string {
		select {
		case <-hold:
		case <-t.Context().Done(): // the test has failed
		}
		return answered(id, calls)
	}
	f.start()
	w := run(t, f.listen, times{})
	hold <- struct{}{}
	w.Until(link.Connected)
	f.question()
	f.Change(oneCall("a", "1", "", "ringing"))
	f.question()
	for range 20 {
		f.Change(oneCall("a", "1", "", "connected"))
	}
	hold <- struct{}{}
	w.Expect("ringing incoming #a 1")
	f.question()
	hold <- struct{}{}
	w.Expect("answered incoming #a 1")
	f.Change("")
	f.question()
	hold <- struct{}{}
	w.Expect("ended completed incoming #a 1")
	if len(f.questions) > 0 {
		t.Errorf("%d questions too many", len(f.questions))
	}
}

// TestFlood: a Bria that endlessly reports changes is queried
// at a limited rate, and its latest state is reported.
func TestFlood(t *testing.T) {
	f := newFake(t).start()
	w := run(t, f.listen, times{})
	w.Until(link.Connected)
	questions, began := 0, time.Now()
	for time.Since(began) < 2*time.Second {
		f.question()
		questions++
		f.send(changed)
	}
	took := time.Since(began)
	if most := askBurst + int(took/askPause) + 2; questions > most || questions < 2*askBurst {
		t.Errorf("%d questions in %v, at most %d", questions, took, most)
	}
	f.Change(oneCall("a", "1", "", "ringing"))
	w.Expect("ringing incoming #a 1")
}

// TestOtherMessages: messages that do not concern calls trigger no question.
func TestOtherMessages(t *testing.T) {
	f := newFake(t).start()
	w := run(t, f.listen, times{})
	w.Until(link.Connected)
	f.question()
	f.send(
		strings.ReplaceAll(changed, `"call"`, `"voicemail"`), strings.ReplaceAll(changed, `"call"`, `"voiceMail"`), strings.ReplaceAll(changed, `"call"`, `"callHistory"`),
		strings.ReplaceAll(changed, `"call"`, `"missedCall"`), strings.ReplaceAll(changed, `"call"`, `"neverHeardOf"`), strings.ReplaceAll(changed, ` type="call"`, ""), "POST /somethingNew\r\n\r\n<event type=\"call\"/>",
		answered(1, oneCall("old", "1", "", "ringing")), // an answer without a question
		"", "hello", strings.Repeat("x", maxHandshake))
	f.Change(oneCall("a", "1", "", "ringing"))
	w.Expect("ringing incoming #a 1")
	if n := len(f.questions); n != 1 || len(w.States) > 0 {
		t.Errorf("%d questions, %d changes of state", n, len(w.States))
	}
}

// TestNotAllowed: if the Bria user has not allowed us, the link reports that,
// and does not retry every second, since Bria may ask the user each time.
func TestNotAllowed(t *testing.T) {
	says := func(status string) func(int, string) string {
		return func(id int, _ string) string {
			return "HTTP/1.1 " + status + "\r\nTransaction-ID: " + fmt.Sprint(id) + "\r\nContent-Length: 0\r\n"
		}
	}
	for name, set := range map[string]func(*fake){
		"not ready":   func(f *fake) { f.answer = says("503 notReady") },
		"not allowed": func(f *fake) { f.answer = says("503 notAllowed") },
		"forbidden":   func(f *fake) { f.answer = says("403 Forbidden") },
		"silence":     func(f *fake) { f.answer = func(int, string) string { return "" } },
		"closed":      func(f *fake) { f.answer = func(int, string) string { go f.Close(); return "" } },
		"forbidden at the handshake": func(f *fake) {
			f.open = func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusForbidden) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			set(f)
			f.start()
			w := run(t, f.listen, times{allow: 100 * time.Millisecond, answer: time.Minute, ping: time.Hour, silent: time.Hour})
			s := w.Until(link.Refused)
			if wait := s.Retry.Sub(s.Since); wait < 7*time.Second || wait > 13*time.Second {
				t.Errorf("comes again after %v", wait)
			}
			if text := s.Err.Error(); !strings.Contains(text, "Allow Access") || strings.ContainsAny(text, "\r\n") {
				t.Errorf("says %q", text)
			}
		})
	}
}

// TestNoLongerAllowed: the link reports when permission is withdrawn while connected.
func TestNoLongerAllowed(t *testing.T) {
	f := newFake(t)
	f.answer = func(id int, calls string) string {
		if id == 1 {
			return answered(id, calls)
		}
		return "HTTP/1.1 403 Forbidden\r\n"
	}
	f.start()
	w := run(t, f.listen, times{})
	w.Until(link.Connected)
	f.Change("")
	w.Until(link.Refused)
}

// TestHangs: a Bria that hangs is noticed, whether or not it
// answers pings; one that only ignores pings keeps its link.
func TestHangs(t *testing.T) {
	f := newFake(t)
	f.deaf = true
	f.start()
	quick := times{allow: time.Minute, answer: time.Minute, ping: 20 * time.Millisecond, silent: 60 * time.Millisecond}
	w := run(t, f.listen, quick)
	w.Until(link.Connected)
	for range 4 {
		f.question() // asked without any event
	}
	if len(w.States) > 0 {
		t.Error("the link broke")
	}
	w.Stop()

	f = newFake(t)
	f.answer = func(id int, calls string) string {
		if id == 1 {
			return answered(id, calls)
		}
		return ""
	}
	f.start()
	quick.answer = 100 * time.Millisecond
	w = run(t, f.listen, quick)
	w.Until(link.Connected)
	f.Change("")
	if s := w.Until(link.Waiting); !strings.Contains(s.Err.Error(), "does not answer") {
		t.Error(s.Err)
	}
}

// TestPongs: an idle connection that answers pings is not queried.
func TestPongs(t *testing.T) {
	f := newFake(t).start()
	w := run(t, f.listen, times{allow: time.Minute, answer: time.Minute, ping: 10 * time.Millisecond, silent: 2 * time.Second})
	w.Until(link.Connected)
	time.AfterFunc(2500*time.Millisecond, func() { f.Change(oneCall("a", "1", "", "ringing")) })
	w.Expect("ringing incoming #a 1")
	if n := len(f.questions); n != 2 {
		t.Errorf("%d questions", n)
	}
}

// TestRestart: when the phone exits during a call and comes back,
// the call is over and the link reconnects within two seconds.
func TestRestart(t *testing.T) {
	f := newFake(t).start()
	w := run(t, f.listen, times{})
	w.Until(link.Connected)
	f.Change(oneCall("a", "1", "", "ringing"))
	w.Expect("ringing incoming #a 1")
	f.Close()
	w.Until(link.Waiting)
	w.Expect("ended incoming #a 1")
	f.calls = oneCall("b", "2", "", "ringing")
	f.start()
	back := time.Now()
	w.Until(link.Connected)
	must.Within(t, back, 2*time.Second)
	w.Expect("ringing incoming #b 2")
}

// TestDropped: a briefly lost connection loses no call, and
// the snapshot shows what happened meanwhile.
func TestDropped(t *testing.T) {
	f := newFake(t).start()
	w := run(t, f.listen, times{})
	w.Until(link.Connected)
	f.Change(oneCall("a", "1", "", "ringing") + oneCall("b", "2", "", "ringing"))
	w.Expect("ringing incoming #a 1")
	w.Expect("ringing incoming #b 2")
	f.With(func() { f.Calls = oneCall("a", "1", "", "ringing") })
	f.EachSocket(linktest.Cut)
	w.Expect("ended incoming #b 2")
	w.Expect("ringing incoming #a 1")
	f.With(func() { f.Calls = oneCall("a", "1", "", "connected") })
	f.EachSocket(linktest.Cut)
	w.Expect("ringing incoming #a 1")
	w.Expect("answered incoming #a 1")
}

// TestNoFrame: an invalid WebSocket frame is not mistaken for the end of the phone.
func TestNoFrame(t *testing.T) {
	f := newFake(t).start()
	w := run(t, f.listen, times{})
	w.Until(link.Connected)
	f.EachSocket(func(c *websocket.Conn) { _, _ = c.NetConn().Write([]byte{0x83, 0}) })
	if s := w.Until(link.Waiting); link.CauseOf(s.Err) != link.CauseUnexpected {
		t.Error(s.Err)
	}
}

// elsewhere is a connection whose other end seems to be on another computer.
type elsewhere struct{ net.Conn }

func (elsewhere) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 9002} }

// TestCertificate: an expired certificate is accepted only on a connection
// that really leads to this computer, whatever name was dialled.
func TestCertificate(t *testing.T) {
	f := newFake(t).start()
	for address, name := range map[string]string{
		"": makerName, makerName + ":9002": makerName, "127.0.0.1:9002": makerName, "localhost:9002": makerName, "bria.example:9002": "bria.example",
	} {
		dialled, seems := "", func(c net.Conn) net.Conn { return elsewhere{c} }
		p := newPhone(t, address, times{}).(*phone)
		p.dialer = func(ctx context.Context, network, address string) (net.Conn, error) {
			dialled = address
			conn, err := new(net.Dialer).DialContext(ctx, network, f.listen)
			return seems(conn), err
		}
		if c := p.tls(elsewhere{}.RemoteAddr()); c.ServerName != name || c.InsecureSkipVerify {
			t.Errorf("%q: the certificate of %q is expected, unverified %v", address, c.ServerName, c.InsecureSkipVerify)
		}
		once := func() error { // until connected
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			return link.RunOnce(ctx, link.Config{StateChanged: func(link.State) { cancel() }}, p)
		}
		if err := once(); link.CauseOf(err) != link.CauseCertExpired {
			t.Errorf("%q: %v", address, err)
		}
		if (address == "" || strings.HasPrefix(address, makerName)) && dialled != "127.0.0.1:9002" {
			t.Errorf("%q: dialled %q", address, dialled)
		}
		if name != makerName {
			continue
		}
		seems = func(c net.Conn) net.Conn { return c }
		if err := once(); !errors.Is(err, context.Canceled) {
			t.Errorf("%q: %v", address, err)
		}
	}
	if c := new(phone).tls(&net.UnixAddr{Name: "x"}); c.InsecureSkipVerify {
		t.Error("a socket without an address goes unverified")
	}
}

func TestAddress(t *testing.T) {
	for address, conn := range map[string]string{
		"": "127.0.0.1:9002", "127.0.0.1:9010": "127.0.0.1:9010", "[::1]:9002": "[::1]:9002", makerName + ":9003": "127.0.0.1:9003", "bria.example:1": "bria.example:1",
		"127.0.0.1": "-", ":9002": "-", "127.0.0.1:": "-", "a:b:c": "-",
	} {
		p, err := New(address)
		switch {
		case (err != nil) != (conn == "-"):
			t.Errorf("%q: %v", address, err)
		case err == nil && p.Traits() != link.Traits{Source: call.Source{Kind: "bria", Conn: conn, ReportLevel: call.AllStates}, Local: address != "bria.example:1"}:
			t.Errorf("%q: %+v", address, p.Traits())
		}
	}
}

// TestNotBria connects to other programs that listen at the address.
func TestNotBria(t *testing.T) {
	for name, text := range map[string]string{
		"another protocol": "220 mail.example ESMTP +31612345678\r\n",
		"a web server":     "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
		"endless headers":  "HTTP/1.1 101 Switching Protocols\r\nX: ",
		"endless line":     strings.Repeat("1", 100),
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.open = func(w http.ResponseWriter, _ *http.Request) {
				conn, _, _ := w.(http.Hijacker).Hijack()
				defer conn.Close()
				_, err := conn.Write([]byte(text))
				for err == nil && strings.HasPrefix(name, "endless") {
					_, err = conn.Write([]byte(strings.Repeat("a", 4<<10)))
				}
			}
			f.start()
			isNotBria(t, f.listen, strings.HasPrefix(name, "endless"))
		})
	}
	t.Run("no TLS", func(t *testing.T) {
		web := httptest.NewServer(http.NotFoundHandler())
		defer web.Close()
		isNotBria(t, web.Listener.Addr().String(), false)
	})
}

func isNotBria(t *testing.T, address string, tooLong bool) {
	t.Helper()
	err := link.RunOnce(t.Context(), link.Config{}, newPhone(t, address, times{}))
	var refusal *link.Refusal
	if err == nil || errors.As(err, &refusal) || len(err.Error()) > 250 {
		t.Fatalf("ended with %v", err)
	}
	if tooLong && !strings.Contains(err.Error(), "too long") {
		t.Error(err)
	}
}
