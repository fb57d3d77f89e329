package ari

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"wiebelt/internal/core/call"
	"wiebelt/internal/softphone/exchangelink"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/softphone/registry"
	"wiebelt/internal/testutil/linktest"
)

// hostile gives messages that no Asterisk sends: a table, and mutations of real
// ones.
func hostile(n int) []string {
	out := []string{
		"", "{", "null", "[]", `"x"`, "17", "true", `{"type":null}`, `{"type":17}`, `{"type":{}}`, `{"type":"ChannelStateChange"}`,
		`{"type":"ChannelStateChange","channel":null}`, `{"type":"ChannelStateChange","channel":[]}`, `{"type":"ChannelStateChange","channel":"PJSIP/101-0000000c"}`,
		`{"type":"ChannelStateChange","channel":{"id":"","name":"PJSIP/101-1","state":"Ringing"}}`,
		`{"type":"ChannelStateChange","channel":{"id":1,"name":2,"state":3}}`,
		`{"type":"ChannelDestroyed","channel":{"id":"nothing"},"cause":99999999999999999999}`, `{"type":"ChannelDestroyed","cause":"x"}`, `{"type":"ChannelDestroyed"}`,
		`{"type":"ApplicationReplaced","application":{}}`, `{"type":"ApplicationReplaced","application":"somebody-elses"}`,
		strings.Repeat("[", 50_000), strings.Repeat(`{"channel":`, 20_000), "\x00\x01\x02", "\xff\xfe", `{"type":"ChannelStateChange","channel":{"connected":{"number":"` + strings.Repeat("6", 100_000) + `"}}}`,
		ring.as(func(c *chan_) { c.id = strings.Repeat("x", 5000) }).event("ChannelStateChange"),
		ring.as(func(c *chan_) { c.name = "PJSIP/" + strings.Repeat("-", 5000) }).event("ChannelStateChange"),
		ring.as(func(c *chan_) { c.name = "/" }).event("ChannelStateChange"),
		ring.as(func(c *chan_) { c.id, c.peer = "../../x?y#z", strings.Repeat("6", 50_000) }).event("ChannelStateChange"),
		ring.as(func(c *chan_) { c.id, c.peerName = "rtl", "\u202eevil\u0000\n" }).event("ChannelStateChange"),
	}
	return linktest.Mutate(out, n, ring.event("ChannelStateChange"), ring.as(up).event("ChannelConnectedLine"), ring.event("ChannelDestroyed"), ring.event("ChannelCallerId"),
		`{"type":"ApplicationRegistered","timestamp":"2026-01-05T09:30:00.000+0100","application":"wiebelt-jansen-pc7"}`)
}

func TestHostileMessages(t *testing.T) {
	all := hostile(330)
	a := newAsterisk(t)
	w := listen(t, a.config())
	w.Until(link.Connected)
	for i, m := range all {
		l := last.as(func(c *chan_) { c.id = fmt.Sprintf("1736069999.%d", i) })
		a.send(m, l.event("ChannelStateChange"), l.event("ChannelDestroyed"))
		for found := false; !found; {
			e := w.Next()
			if e != e.Clean() || e.Source.Kind != registry.ARI {
				t.Fatalf("%q: %+v", m, e)
			}
			found = e.ID == fmt.Sprintf("1736069999.%d", i) && e.State == call.Ended
		}
	}
	t.Logf("%d messages, each followed by a call that was reported; states beside: %d", len(all), len(w.States))
	if len(w.States) != 0 {
		t.Error("the link broke for a message that only cannot be read")
	}
}

// TestHostileConnections: what breaks a connection does not break the link.
func TestHostileConnections(t *testing.T) {
	linktest.Broken(t, secret, nil, func(t *testing.T) (*linktest.Watch, <-chan *linktest.Socket, func()) {
		a := newAsterisk(t)
		w := listen(t, a.config())
		return w, a.upgraded, func() { a.send(last.event("ChannelStateChange")); w.Expect(lastSaid) }
	})
}

// TestNothingSecretIsSaid looks for what must not be said in logs and states,
// while everything goes wrong that can.
func TestNothingSecretIsSaid(t *testing.T) {
	unsaid := func(t *testing.T, said string) {
		t.Helper()
		linktest.Unsaid(t, said, secret, "Basic ", "/ari/", "wiebelt-jansen")
	}
	echoes := linktest.Echoes(secret)
	// A list with a channel that cannot be read is still a list.
	echoes["is odd"] = func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"error":%q}`, fmt.Sprint(r.Header, r.URL, secret, linktest.Number))
	}
	echoes["never ends"] = func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `["`)
		for range 10 << 10 {
			if _, err := io.WriteString(w, strings.Repeat(secret, 60)); err != nil {
				break
			}
		}
	}
	linktest.Discreet(t, echoes, []string{"/", "/ari/channels"}, answering, unsaid)
	t.Run("events that cannot be read", func(t *testing.T) {
		a := newAsterisk(t)
		w := listen(t, a.config())
		w.Until(link.Connected)
		c := ring.as(func(c *chan_) { c.peer, c.peerName = linktest.Number, linktest.Name })
		a.send(c.event("ChannelStateChange"), strings.Replace(c.event("ChannelStateChange"), `"priority":1`, `"exten":1`, 1), c.event("ChannelStateChange")+linktest.Number, secret, last.event("ChannelStateChange"))
		w.Next()
		w.Expect(lastSaid)
		a.restart()
		said := fmt.Sprint(w.Until(link.Waiting).Err) + w.Log.String()
		if !strings.Contains(said, "cannot be read") {
			t.Error("nothing was logged")
		}
		unsaid(t, said)
	})
}

func FuzzMessage(f *testing.F) {
	for _, s := range hostile(60) {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := New(exchangelink.Account{Address: "https://127.0.0.1:1", User: "u", Extension: "101", Secret: func(context.Context) (string, error) { return "", nil }})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // so that nothing is asked of anybody
		f := feeder{p.(*phone), b, ctx}
		_ = link.Once(t.Context(), link.Config{Take: func(e call.Event) error {
			if e != e.Clean() || e.ID == "" || e.Source.Kind != registry.ARI {
				t.Fatalf("%+v", e)
			}
			var m message
			if json.Unmarshal(b, &m) == nil && !strings.Contains(m.Channel.Name, "/101-") {
				t.Fatalf("somebody else's call: %q", b)
			}
			return nil
		}}, f)
	})
}

// feeder gives one message to a session that has no connection.
type feeder struct {
	*phone
	message []byte
	ctx     context.Context
}

func (f feeder) Session(_ context.Context, r *link.Reporter) error {
	s := &session{phone: f.phone, r: r}
	if err := s.message(f.ctx, f.message); err != nil {
		return err
	}
	return s.message(f.ctx, f.message)
}

// answering runs a link to an exchange whose requests raw answers first.
func answering(t *testing.T, raw linktest.Raw) *linktest.Watch {
	t.Helper()
	a := newAsterisk(t)
	a.raw = raw
	return listen(t, a.config())
}
