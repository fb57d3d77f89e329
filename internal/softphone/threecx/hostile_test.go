package threecx

import (
	"context"
	"encoding/json"
	"errors"
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

// hostileEvents gives messages that no 3CX sends, and hostileParts what no
// participant is: tables, and mutations of real ones.
func hostileEvents(n int) []string {
	out := []string{
		"", "{", "null", "[]", `"x"`, "17", `{"sequence":null}`, `{"sequence":"x"}`, `{"sequence":1.5}`, `{"sequence":99999999999999999999}`, `{"sequence":-1,"event":null}`,
		`{"event":{}}`, `{"event":[]}`, `{"event":{"event_type":"0","entity":"/callcontrol/101/participants/7"}}`, `{"event":{"event_type":0,"entity":7}}`,
		`{"event":{"event_type":null,"entity":"/callcontrol/101/participants/7"}}`, `{"event":{"event_type":1,"entity":"/callcontrol/101/participants/999999999999999999"}}`,
		`{"sequence":9223372036854775807,"event":{"event_type":1,"entity":"/callcontrol/101/participants/1"}}`, `{"RequestID":"x","StatusCode":200,"Response":{}}`,
		strings.Repeat("[", 50_000), strings.Repeat(`{"event":`, 20_000), "\x00\x01\x02", "\xff\xfe",
		`{"sequence":42,"event":{"event_type":0,"entity":"/callcontrol/101/participants/` + strings.Repeat("7", 100_000) + `"}}`,
	}
	seeds := []string{
		`{"sequence":42,"event":{"event_type":0,"entity":"/callcontrol/101/participants/7","attached_data":null}}`,
		`{"sequence":43,"event":{"event_type":1,"entity":"/callcontrol/101/participants/7","attached_data":null}}`,
		`{"sequence":44,"event":{"event_type":2,"entity":"/callcontrol/101/participants/7","attached_data":{"dtmf_input":"5"}}}`,
	}
	return linktest.Mutate(out, n, seeds...)
}

func hostileParts(n int) []string {
	out := []string{
		"", "{", "null", "[]", `"x"`, "17", "{}", `{"id":null}`, `{"id":"7"}`, `{"id":7.5}`, `{"id":-7,"status":"Ringing"}`, `{"id":7}`, `{"id":7,"status":17}`, `{"id":8,"status":"Ringing","dn":"101"}`,
		`{"id":7,"status":"Ringing","dn":"102","party_caller_id":"0612345678"}`, `{"id":7,"status":"Ringing","dn":"101","party_caller_id":[]}`, `{"id":7,"status":"Ringing","dn":"101","callid":"33"}`,
		`{"id":7,"status":"Ringing","dn":"101","callid":99999999999999999999}`, strings.Repeat("[", 50_000), "\x00\xff", "<html>",
		part{status: "Ringing", number: strings.Repeat("6", 100_000), name: strings.Repeat("ë", 100_000), call: 33}.json("101", 7),
		part{status: "Ringing", number: "\u202e06\u0000", name: "\u2066x\n", call: 33}.json("101", 7),
	}
	return linktest.Mutate(out, n, ring.json("101", 7), ring.as(up).json("101", 7))
}

// follow plays one real call and waits for its end, among whatever else comes.
func follow(x *exchange, w *linktest.Watch, i int, m string) {
	x.t.Helper()
	x.set("101", 10_000+i, &part{status: "Ringing", number: "0201234599", call: 5000 + i})
	for state := call.Ringing; ; {
		e := w.Next()
		if e != e.Clean() || e.Source.Kind != registry.ThreeCX {
			x.t.Fatalf("%q: %+v", m, e)
		}
		if e.ID != fmt.Sprintf("%d.%d", 5000+i, 10_000+i) || e.State != state {
			continue
		}
		if state == call.Ended {
			return
		}
		x.set("101", 10_000+i, nil)
		state = call.Ended
	}
}

func TestHostileMessages(t *testing.T) {
	all := hostileEvents(330)
	x := newExchange(t)
	x.participants["101/7"] = ring.json("101", 7)
	w := listen(t, x.config())
	w.Until(link.Connected)
	for i, m := range all {
		x.write(m)
		follow(x, w, i, m)
	}
	t.Logf("%d messages, each followed by a call that was reported; states beside: %d", len(all), len(w.States))
	if len(w.States) != 0 {
		t.Error("the link broke for a message that only cannot be read")
	}
}

// TestHostileParticipants: what an answer of the API could be.
func TestHostileParticipants(t *testing.T) {
	all := hostileParts(330)
	x := newExchange(t)
	w := listen(t, x.config())
	w.Until(link.Connected)
	for i, m := range all {
		x.with(func() {
			x.raw = func(w http.ResponseWriter, r *http.Request) bool {
				if !strings.HasSuffix(r.URL.Path, "/participants/7") {
					return false
				}
				io.WriteString(w, m)
				return true
			}
		})
		x.write(x.note(upsert, "/callcontrol/101/participants/7"))
		follow(x, w, i, m)
	}
	t.Logf("%d answers, each followed by a call that was reported; states beside: %d", len(all), len(w.States))
	if len(w.States) != 0 {
		t.Error("the link broke for an answer that only cannot be read")
	}
}

func TestHostileConnections(t *testing.T) {
	linktest.Broken(t, secret, nil, func(t *testing.T) (*linktest.Watch, <-chan *linktest.Socket, func()) {
		x := newExchange(t)
		w := listen(t, x.config())
		return w, x.upgraded, func() { x.last(w) }
	})
}

func TestBadTokens(t *testing.T) {
	linktest.BadTokens(t, "/connect/token", map[string]string{
		"none": `{}`, "not a string": `{"access_token":17}`, "a line end": `{"access_token":"a\r\nX-Evil: 1"}`, "too long": `{"access_token":"` + strings.Repeat("x", 20<<10) + `"}`,
		"not JSON": "<html>", "odd life": `{"access_token":"x","expires_in":"soon"}`,
	}, answering)
}

// TestNothingSecretIsSaid looks for what must not be said in logs and states,
// while everything goes wrong that can.
func TestNothingSecretIsSaid(t *testing.T) {
	linktest.Discreet(t, linktest.Echoes(secret), []string{"/connect/token", "/callcontrol/101", "/callcontrol/ws"}, answering, unsaid)
	t.Run("events that cannot be read", func(t *testing.T) {
		x := newExchange(t)
		w := listen(t, x.config())
		w.Until(link.Connected)
		x.set("101", 7, ring.as(func(p *part) { p.number, p.name = linktest.Number, linktest.Name }))
		w.Next()
		x.write(secret+linktest.Number, `{"sequence":"`+linktest.Number+`"}`)
		x.with(func() { x.participants["101/8"] = `{"id":"` + linktest.Number + secret + `"}` })
		x.write(x.note(upsert, "/callcontrol/101/participants/8"))
		follow(x, w, 1, "")
		said := w.Log.String()
		if !strings.Contains(said, "cannot be read") {
			t.Error("nothing was logged")
		}
		unsaid(t, said)
	})
}

func unsaid(t *testing.T, said string) {
	t.Helper()
	linktest.Unsaid(t, said, secret, "canary", client, "Bearer", "/callcontrol", "/101")
}

func FuzzMessage(f *testing.F) {
	for _, s := range hostileEvents(60) {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		feed(t, func(ctx context.Context, s *session) error {
			s.take(mustPart(ring.json("101", 7)))
			err := s.message(ctx, b)
			if err != nil && !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			return nil
		})
	})
}

func FuzzParticipant(f *testing.F) {
	for _, s := range hostileParts(60) {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		feed(t, func(_ context.Context, s *session) error {
			var p participant
			if json.Unmarshal(b, &p) == nil && s.mine(p) {
				s.take(p)
				s.take(p)
				s.end(*p.ID)
				if len(s.r.Calls()) != 0 {
					t.Fatalf("%q is not over", b)
				}
			}
			return nil
		})
	})
}

func mustPart(s string) (p participant) {
	if err := json.Unmarshal([]byte(s), &p); err != nil {
		panic(err)
	}
	return p
}

// feed gives a session without a connection.
func feed(t *testing.T, f func(context.Context, *session) error) {
	t.Helper()
	p, err := New(exchangelink.Account{Address: "https://127.0.0.1:1", User: "c", Extension: "101", Secret: func(context.Context) (string, error) { return "x", nil }})
	if err != nil {
		t.Fatal(err)
	}
	err = link.Once(t.Context(), link.Config{Take: func(e call.Event) error {
		if e != e.Clean() || e.ID == "" || e.Source.Kind != registry.ThreeCX {
			t.Fatalf("%+v", e)
		}
		return nil
	}}, feeder{p.(*phone), f})
	if err != nil {
		t.Fatal(err)
	}
}

type feeder struct {
	*phone
	f func(context.Context, *session) error
}

func (f feeder) Session(ctx context.Context, r *link.Reporter) error {
	ctx, cancel := context.WithCancel(ctx)
	cancel() // so that nothing is asked of anybody
	return f.f(ctx, &session{phone: f.phone, r: r})
}

// answering runs a link to an exchange whose requests raw answers first.
func answering(t *testing.T, raw linktest.Raw) *linktest.Watch {
	t.Helper()
	x := newExchange(t)
	x.raw = raw
	return listen(t, x.config())
}
