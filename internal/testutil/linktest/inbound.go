package linktest

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/simulate"
	"wiebelt/internal/softphone/exchangelink"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/softphone/registry"
)

// inbound has the exchanges that connect to us, one after another.
type inbound struct {
	came chan *exchangelink.Socket
	of   func(*exchangelink.Socket) link.Phone
}

// Inbound listens at a path for exchanges that connect to us, and
// returns a phone that runs one session for each.
func Inbound(t testing.TB, path string, of func(*exchangelink.Socket) link.Phone) (p link.Phone, port int) {
	t.Helper()
	g := &inbound{make(chan *exchangelink.Socket, 1), of}
	ctx, cancel := context.WithCancel(context.Background())
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.URL.Path != path {
			t.Errorf("it connects to %s", q.URL.Path)
		}
		if sock, err := exchangelink.Accept(ctx, w, q, "asterisk", exchangelink.Options{}, "ari"); err == nil {
			g.came <- sock
		}
	}))
	t.Cleanup(func() { cancel(); s.Close() })
	return g, s.Listener.Addr().(*net.TCPAddr).Port
}

// Traits returns those of a connected phone.
func (g *inbound) Traits() link.Traits {
	return link.Traits{Source: registry.Of(registry.ARIOutbound).CallSource("asterisk/"), ManyExtensions: true}
}

// Session waits for an exchange and runs its session.
func (g *inbound) Session(ctx context.Context, r *link.Reporter) error {
	select {
	case sock := <-g.came:
		defer sock.Close()
		return g.of(sock).Session(ctx, r)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// AtAsterisk puts a call at an extension of an Asterisk into a state, and sends the event if
// anybody listens.
func AtAsterisk(a *simulate.ARI, id, extension, number string, state call.State) {
	event, is := "ChannelStateChange", "Up"
	switch state {
	case call.Ringing:
		is = "Ringing"
	case call.Ended:
		event = "ChannelDestroyed"
	}
	c := fmt.Sprintf(`{"id":%q,"name":"PJSIP/%s-0000000c","state":%q,"caller":{"number":%[2]q},"connected":{"number":%[4]q},"dialplan":{"exten":"s"}}`, id, extension, is, number)
	a.With(func() {
		a.Vars[id+" CONNECTEDLINE(num-pres)"] = "allowed"
		if a.Channels[id] = json.RawMessage(c); state == call.Ended {
			delete(a.Channels, id)
		}
	})
	a.Send(fmt.Sprintf(`{"type":%q,"timestamp":%q,"cause":16,"channel":%s}`, event, time.Now().Format("2006-01-02T15:04:05.000-0700"), c))
}
