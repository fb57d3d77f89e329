package threecx

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"wiebelt/internal/simulate"
	"wiebelt/internal/softphone/exchangelink"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/testutil/linktest"
	"wiebelt/internal/testutil/must"
)

// hostileEvents returns messages that no 3CX sends, and hostileParts invalid participants:
// tables, and mutations of real ones.
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
		string(part{status: "Ringing", number: strings.Repeat("6", 100_000), name: strings.Repeat("ë", 100_000), call: 33}.json("101", 7)),
		string(part{status: "Ringing", number: "\u202e06\u0000", name: "\u2066x\n", call: 33}.json("101", 7)),
	}
	return linktest.Mutate(out, n, string(ring.json("101", 7)), string(ring.as(up).json("101", 7)))
}

// TestHostileParticipants tries answers that the API could give.
func TestHostileParticipants(t *testing.T) {
	x, e := rigged(t)
	w := e.Link(linktest.Account(x.Address())).Connected()
	for i, m := range append(hostileParts(330), `{"id":"`+linktest.Number+linktest.Known.Secret+`"}`) {
		x.Intercept(linktest.Says("/callcontrol/101/participants/7", m))
		x.note(simulate.Upsert, simulate.Entity("101", 7))
		e.Reports(t, w, i)
	}
	if len(w.States) != 0 {
		t.Error("the link broke for an answer that only cannot be read")
	}
	if said := w.Log.String(); strings.Contains(said, linktest.Number) || strings.Contains(said, "canary") {
		t.Error("the log repeats an answer")
	}
}

func FuzzMessage(f *testing.F) {
	for _, s := range hostileEvents(60) {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		feed(t, func(ctx context.Context, s *session) error {
			s.take("101", mustPart(ring.json("101", 7)))
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
			if json.Unmarshal(b, &p) == nil && p.at("101") {
				s.take("101", p)
				s.take("101", p)
				s.end(s.leg("101", *p.ID))
				if len(s.r.Calls()) != 0 {
					t.Fatalf("%q is not over", b)
				}
			}
			return nil
		})
	})
}

func mustPart(b []byte) (p participant) {
	if err := json.Unmarshal(b, &p); err != nil {
		panic(err)
	}
	return p
}

// feed runs f with a session without a connection.
func feed(t *testing.T, f func(context.Context, *session) error) {
	t.Helper()
	p := must.Get(New(exchangelink.Account{Address: "https://127.0.0.1:1", User: "c", Extension: "101", Secret: linktest.Secret("x")}))(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // so that no request is sent
	if _, err := linktest.Once(t, linktest.Scripted{Phone: p, Do: func(_ context.Context, r *link.Reporter) error {
		return f(ctx, &session{phone: p.(*phone), r: r})
	}}); err != nil {
		t.Fatal(err)
	}
}
