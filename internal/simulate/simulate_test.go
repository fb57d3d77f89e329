package simulate_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"wiebelt/internal/simulate"
	"wiebelt/internal/testutil/linktest"
	"wiebelt/internal/testutil/must"
)

func TestMain(m *testing.M) { linktest.Main(m) }

// serve starts the peer: a WebSocket that passes every message to answer and
// sends what it returns; nil answers nothing, and closed ends the connection.
func serve(t *testing.T, answer func(message string) (string, bool)) int {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/events" || r.Header.Get("Authorization") != "Bearer tok" || len(r.Header["Origin"]) > 0 {
			t.Errorf("handshake %s %v", r.URL, r.Header)
		}
		up := websocket.Upgrader{Subprotocols: []string{"wiebelt.v1"}}
		c, err := up.Upgrade(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		for {
			_, m, err := c.ReadMessage()
			if err != nil {
				return
			}
			back, more := answer(string(m))
			if !more {
				return
			}
			if back != "" && c.WriteMessage(websocket.TextMessage, []byte(back)) != nil {
				return
			}
		}
	}))
	t.Cleanup(s.Close)
	return s.Listener.Addr().(*net.TCPAddr).Port
}

func dial(t *testing.T, port int) *simulate.Phone {
	t.Helper()
	p := must.Get(simulate.Dial(context.Background(), port, "tok"))(t)
	t.Cleanup(func() { p.Close() })
	return p
}

func TestAnswersAreWaitedFor(t *testing.T) {
	next := make(chan string, 1)
	port := serve(t, func(string) (string, bool) {
		s := <-next
		return s, s != "close"
	})
	p := dial(t, port)
	ctx := context.Background()
	next <- `{"event":"error","code":"bad_number","message":"no"}`
	var refused *simulate.RefusedError
	if err := p.Ring(ctx, simulate.Call{}); !errors.As(err, &refused) || refused.Code != "bad_number" || refused.Message != "no" {
		t.Errorf("%v", err)
	}
	next <- "close"
	if err := p.Ring(ctx, simulate.Call{}); err == nil || errors.As(err, &refused) {
		t.Errorf("closed without an answer: %v", err)
	}
	<-p.Done()

	p = dial(t, port)
	short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	next <- ""
	if err := p.Ring(short, simulate.Call{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("no answer: %v", err)
	}
	// A late answer must not count for the next report.
	if err := p.Ring(ctx, simulate.Call{}); err == nil {
		t.Error("report on a connection whose answers are out of step")
	}
}
