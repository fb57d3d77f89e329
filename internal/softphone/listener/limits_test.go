package listener

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"wiebelt/internal/simulate"
	"wiebelt/internal/testutil/must"
)

// flood returns a function that sends more of a control frame than is allowed.
func flood(kind int) func(*websocket.Conn) {
	return func(c *websocket.Conn) {
		for range 2 * EventsBurst {
			c.WriteControl(kind, nil, time.Now().Add(time.Second))
		}
	}
}

// TestHostileFrames: a violation of the WebSocket protocol
// closes the connection with the matching status.
func TestHostileFrames(t *testing.T) {
	for _, tt := range []struct {
		name  string
		send  func(*websocket.Conn)
		close int
	}{
		{"binary", func(c *websocket.Conn) { c.WriteMessage(websocket.BinaryMessage, []byte(`{"event":"call"}`)) }, websocket.CloseUnsupportedData},
		{"not UTF-8", func(c *websocket.Conn) {
			c.WriteMessage(websocket.TextMessage, []byte("{\"event\":\"call\",\"name\":\"\xff\"}"))
		}, websocket.CloseInvalidFramePayloadData},
		{"surrogate in UTF-8", func(c *websocket.Conn) {
			c.WriteMessage(websocket.TextMessage, []byte("{\"event\":\"call\",\"name\":\"\xed\xa0\x80\"}"))
		}, websocket.CloseInvalidFramePayloadData},
		{"overlong UTF-8", func(c *websocket.Conn) {
			c.WriteMessage(websocket.TextMessage, []byte("{\"event\":\"call\",\"name\":\"\xc0\xaf\"}"))
		}, websocket.CloseInvalidFramePayloadData},
		{"too large", func(c *websocket.Conn) {
			c.WriteMessage(websocket.TextMessage, bytes.Repeat([]byte(" "), MaxMessage+1))
		}, websocket.CloseMessageTooBig},
		{"too large in parts", func(c *websocket.Conn) {
			w, _ := c.NextWriter(websocket.TextMessage)
			for range 40 {
				w.Write(bytes.Repeat([]byte(" "), 1000))
			}
			w.Close()
		}, websocket.CloseMessageTooBig},
		{"said to be huge", func(c *websocket.Conn) {
			c.NetConn().Write([]byte{0x81, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 2, 3, 4})
		}, websocket.CloseMessageTooBig},
		{"not masked", func(c *websocket.Conn) { c.NetConn().Write([]byte{0x81, 0x02, '{', '}'}) }, websocket.CloseProtocolError},
		{"compressed", func(c *websocket.Conn) { c.NetConn().Write([]byte{0xc1, 0x80, 1, 2, 3, 4}) }, websocket.CloseProtocolError},
		{"unknown kind", func(c *websocket.Conn) { c.NetConn().Write([]byte{0x83, 0x80, 1, 2, 3, 4}) }, websocket.CloseProtocolError},
		{"continues nothing", func(c *websocket.Conn) { c.NetConn().Write([]byte{0x80, 0x80, 1, 2, 3, 4}) }, websocket.CloseProtocolError},
		{"long ping", func(c *websocket.Conn) { c.NetConn().Write([]byte{0x89, 0xfe, 0x00, 0x7e, 1, 2, 3, 4}) }, websocket.CloseProtocolError},
		{"flood of pings", flood(websocket.PingMessage), 0},
		{"flood of pongs", flood(websocket.PongMessage), 0},
		{"HTTP", func(c *websocket.Conn) { io.WriteString(c.NetConn(), "GET / HTTP/1.1\r\n\r\n") }, websocket.CloseProtocolError},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newDesk(t)
			c := d.socket(t)
			defer c.Close()
			tt.send(c)
			c.SetReadDeadline(time.Now().Add(10 * time.Second))
			_, m, err := c.ReadMessage()
			if err == nil {
				t.Fatalf("answered %s", m)
			}
			if tt.close != 0 && !websocket.IsCloseError(err, tt.close) {
				t.Errorf("ended with %v, want %d", err, tt.close)
			}
			if e, ok := err.(net.Error); ok && e.Timeout() {
				t.Error("not ended")
			}
			d.connected(t, 0)
			if len(d.events()) != 0 {
				t.Error("event taken")
			}
		})
	}
}

func TestLargestMessageFits(t *testing.T) {
	d := newDesk(t)
	p := dial(t, d)
	m := `{"event":"call"}`
	m += strings.Repeat(" ", MaxMessage-len(m))
	must.Do(t, p.Send(context.Background(), []byte(m)))
}

// TestFlood: a hundred events may arrive at once; one more
// closes the connection. After that, 50 a second are allowed.
func TestFlood(t *testing.T) {
	now := time.Unix(1e9, 0)
	d := newDesk(t, func(c *Config, _ *timing) { c.Now = func() time.Time { return now } })
	ctx := context.Background()
	flood, quiet := dial(t, d), dial(t, d)
	var err error
	n := 0
	for ; err == nil; n++ {
		err = flood.Ring(ctx, simulate.Call{Number: "0612345678"})
	}
	if r, ok := err.(*simulate.RefusedError); !ok || r.Code != "slow_down" || n != EventsBurst+1 {
		t.Errorf("event %d: %v", n, err)
	}
	must.Receive(t, flood.Done(), "the end of the flood")
	if err := quiet.Ring(ctx, simulate.Call{Number: "0612345678"}); err != nil {
		t.Errorf("the other phone: %v", err)
	}
	// HTTP, per token
	report := func() error {
		return simulate.ReportHTTP(ctx, d.Port(), pathTok, "ringing", "", simulate.Call{Number: "0612345678"})
	}
	for _, allowed := range []int{EventsBurst, EventsPerSec} {
		for i := range allowed + 1 {
			if err := report(); (err == nil) != (i < allowed) {
				t.Fatalf("HTTP event %d of %d: %v", i, allowed, err)
			}
		}
		now = now.Add(time.Second)
	}
	now = now.Add(-time.Hour) // setting the clock back allows nothing
	d.answers(204, get("/v1/call?number=0612345678", d.host(), withBearer))
	if status, _, body := d.raw(get("/v1/call/"+pathTok, d.host())); status != 429 || !strings.Contains(body, "slow_down") {
		t.Errorf("flood: %d %s", status, body)
	}
	if got, want := len(d.events()), EventsBurst+1+EventsBurst+EventsPerSec+1; got != want {
		t.Errorf("%d events, want %d", got, want)
	}
}

func TestConnectionsAreLimited(t *testing.T) {
	d := newDesk(t)
	var open []*websocket.Conn
	for range MaxConnections {
		c := d.socket(t)
		defer c.Close()
		open = append(open, c)
	}
	d.connected(t, MaxConnections)
	if status, _, body := d.raw(upgrade(d.host(), withProtocol, withBearer)); status != 429 || !strings.Contains(body, "slow_down") {
		t.Errorf("one more: %d %s", status, body)
	}
	open[0].Close()
	d.connected(t, MaxConnections-1)
	d.socket(t).Close()
}

// TestHalfOpenPeer: a peer that has vanished silently is noticed; one that answers pings
// stays, and is still served after reporting nothing for longer than a message may take.
func TestHalfOpenPeer(t *testing.T) {
	d := newDesk(t, func(_ *Config, tm *timing) {
		tm.ping, tm.pong, tm.message = 150*time.Millisecond, 600*time.Millisecond, 50*time.Millisecond
	})
	alive := d.socket(t)
	defer alive.Close()
	pongs := make(chan string, 1)
	alive.SetPongHandler(func(s string) error { pongs <- s; return nil })
	must.Do(t, alive.WriteMessage(websocket.PingMessage, []byte("?")))
	must.Do(t, alive.WriteMessage(websocket.TextMessage, []byte(`{"event":"other"}`)))
	must.Do(t, alive.WriteMessage(websocket.TextMessage, []byte(`{"event":"call"}`)))
	if _, b, err := alive.ReadMessage(); err != nil || string(b) != `{"event":"ack"}` {
		t.Errorf("%s %v", b, err)
	}
	dead := d.socket(t) // never read from, so its pings go unanswered
	defer dead.Close()
	ended := make(chan error, 1)
	go func() { _, _, err := alive.ReadMessage(); ended <- err }()
	must.Soon(t, func() (bool, any) { d.mu.Lock(); defer d.mu.Unlock(); return len(d.gone) == 1, d.gone })
	select {
	case err := <-ended:
		t.Fatalf("the living one ended: %v", err)
	default:
	}
	if d.connected(t, 1); len(pongs) != 1 {
		t.Errorf("%d pongs", len(pongs))
	}
	alive.Close()
	<-ended
}

// TestEndlessMessage: an unfinished message is no sign of
// life, whatever pongs arrive during it, and reports nothing.
func TestEndlessMessage(t *testing.T) {
	d := newDesk(t, func(_ *Config, tm *timing) {
		tm.ping, tm.pong, tm.message = 50*time.Millisecond, time.Hour, 200*time.Millisecond
	})
	c := d.socket(t)
	defer c.Close()
	const whole = `{"event":"call"}`
	c.NetConn().Write(append([]byte{0x01, 0x80 + byte(len(whole)), 0, 0, 0, 0}, whole...)) // unfinished
	go func() { c.ReadMessage() }()                                                        // answers pings
	must.Soon(t, func() (bool, any) { d.mu.Lock(); defer d.mu.Unlock(); return len(d.gone) == 1, d.gone })
	if len(d.events()) != 0 {
		t.Error("taken before its end")
	}
}

// TestSilentCrowd: silent connections cost little and keep nobody out.
func TestSilentCrowd(t *testing.T) {
	d := newDesk(t)
	phone := dial(t, d)
	before := rss(t)
	var conns []net.Conn
	defer func() {
		for _, c := range conns {
			c.Close()
		}
	}()
	for i := range 1000 {
		c := must.Get(net.Dial("tcp4", d.host()))(t)
		conns = append(conns, c)
		if i%3 == 0 {
			io.WriteString(c, "GET /v1/ev")
		}
		if i%100 == 99 {
			if err := simulate.ReportHTTP(context.Background(), d.Port(), pathTok, "ringing", "", simulate.Call{Number: "0612345678"}); err != nil {
				t.Fatalf("phone kept out with %d silent connections: %v", i+1, err)
			}
		}
	}
	d.silentConns.mu.Lock()
	silent := len(d.silentConns.silent)
	d.silentConns.mu.Unlock()
	if silent > maxSilent {
		t.Errorf("%d silent connections", silent)
	}
	conns[0].SetReadDeadline(time.Now().Add(must.Patience))
	if _, err := conns[0].Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the oldest stays: %v", err)
	}
	if err := phone.Ring(context.Background(), simulate.Call{}); err != nil {
		t.Errorf("a phone that was there before: %v", err)
	}
	if grown := rss(t) - before; grown > 20<<20 {
		t.Errorf("grown by %d bytes", grown)
	}
}

func rss(t testing.TB) int {
	t.Helper()
	runtime.GC()
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var size, res int
	fmt.Sscan(string(b), &size, &res)
	return res * os.Getpagesize()
}

func TestSlowHandshake(t *testing.T) {
	d := newDesk(t, func(_ *Config, tm *timing) { tm.header = 100 * time.Millisecond })
	c := must.Get(net.Dial("tcp4", d.host()))(t)
	defer c.Close()
	io.WriteString(c, "GET /v1/events HTTP/1.1\r\nHost: ")
	c.SetReadDeadline(time.Now().Add(10 * time.Second))
	if _, err := bufio.NewReader(c).ReadString(0); err == nil || err != io.EOF && !strings.Contains(err.Error(), "reset") {
		t.Errorf("still open: %v", err)
	}
}
