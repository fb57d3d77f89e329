package xelion

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"wiebelt/internal/core/call"
	"wiebelt/internal/softphone/exchangelink"
	"wiebelt/internal/softphone/link"
	"wiebelt/internal/testutil/linktest"
	"wiebelt/internal/testutil/must"
)

// examples are in testdata; a dot stands for a message that we sent and that is echoed.
func examples(t testing.TB) []linktest.Example { return linktest.Examples(t, "messages.txt") }

// feed runs f with a session without a connection, and returns what it reported.
func feed(t testing.TB, f func(*session)) []call.Event {
	t.Helper()
	p := must.Get(New(exchangelink.Account{Address: "https://127.0.0.1:1", User: "u", Extension: "101", Secret: linktest.Secret("x")}))(t)
	events, _ := linktest.Once(t, linktest.Scripted{Phone: p, Do: func(_ context.Context, r *link.Reporter) error {
		s := p.(*phone).session(r)
		f(s)
		return nil
	}})
	return events
}

// back does what happens when our message is echoed, except sending requests.
func (s *session) back() {
	waiting, _ := s.waiting()
	s.reportTimer = nil
	s.finish(waiting)
}

// TestMessages: every message yields the reports beside it.
func TestMessages(t *testing.T) {
	for _, e := range examples(t) {
		t.Run(e.Name, func(t *testing.T) {
			var got []string
			for _, event := range feed(t, func(s *session) {
				for _, l := range e.Messages {
					if l == "." {
						s.back()
					} else {
						s.message([]byte(l))
					}
				}
				s.back()
			}) {
				got = append(got, linktest.Say(event))
			}
			if !slices.Equal(got, e.Want) {
				t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(e.Want, "\n  "))
			}
		})
	}
}

// TestOrders: in whatever order messages arrive, repeated or missing, the active calls are
// those of the list read afterwards, and each reported call is over once the list lacks it.
func TestOrders(t *testing.T) {
	all := examples(t)
	rapid.Check(t, func(r *rapid.T) {
		var lines []string
		for range rapid.IntRange(1, 3).Draw(r, "stories") {
			lines = append(lines, rapid.SampledFrom(all).Draw(r, "story").Messages...)
		}
		lines = append(lines, lines[:rapid.IntRange(0, len(lines)).Draw(r, "doubled")]...)
		rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 7))
		rnd.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
		lines = lines[rapid.IntRange(0, len(lines)/2).Draw(r, "missing"):]
		rang := rapid.Bool().Draw(r, "rings in the end")
		events := feed(t, func(s *session) {
			for _, l := range lines {
				if l == "." {
					s.back()
				} else {
					s.message([]byte(l))
				}
			}
			var there []*channel
			if rang {
				there = []*channel{{id: "z1", call: "z1", number: "0201234599", role: caller}, {id: "z2", call: "z1", role: callee, phone: "101", extension: "101"}}
			}
			s.replace(there, false)
			s.back()
		})
		on := map[string]call.State{}
		for _, e := range events {
			if _, known := on[e.ID]; e.State == call.Ended {
				if !known {
					r.Fatalf("the end of nothing: %s", linktest.Say(e))
				}
				delete(on, e.ID)
			} else {
				on[e.ID] = e.State
			}
		}
		if want := map[bool]int{true: 1}[rang]; len(on) != want {
			r.Fatalf("%v goes on, want %d", on, want)
		}
	})
}

func hostile(t testing.TB, n int) []string {
	wrap := func(s string) string { return `{"notificationType":"activeChannelEvent","notification":` + s + `}` }
	c := func(s string) string { return wrap(`{"updateType":"insert","version":1,"activeChannel":` + s + `}`) }
	long := strings.Repeat("x", 50_000)
	out := []string{
		"", "{", "null", "[]", `"x"`, "17", "\x00\x01\x02", "\xff\xfe", strings.Repeat("[", 50_000), strings.Repeat(`{"notification":`, 10_000), wrap("17"), wrap("[]"), wrap(`{"activeChannel":[]}`),
		c("{}"), c("[]"), c(`"x"`), c(`{"channelId":{}}`), c(`{"channelId":"` + long + `"}`), c(`{"channelId":"a","callId":"` + long + `"}`), c(`{"channelId":"a","name":"` + long + `","phone":"101"}`),
		c(`{"channelId":"b","name":"\u202eevil\u0000\n","phone":"101"}`), c(`{"channelId":"/","callId":"/"}`), c(`{"channelId":"SIP/","callId":"SIP/"}`), c(`{"channelId":"d","phone":"101","role":[],"state":{}}`),
		wrap(`{"updateType":"insert","version":1e999,"activeChannel":{"channelId":"e"}}`), wrap(`{"updateType":"insert","version":-9223372036854775808,"activeChannel":{"channelId":"e"}}`),
		`{"notificationType":"callHungUpEvent","notification":{"callId":"` + long + `"}}`, `{"notificationType":{},"notification":{"callId":"f"}}`, `{"notificationType":"newCallEvent","notification":{"callId":"g","callerPhoneNumber":"` + long + `","caller":[[]]}}`,
	}
	var seeds []string
	for _, e := range examples(t)[:12] {
		for _, l := range e.Messages {
			if l != "." {
				seeds = append(seeds, l)
			}
		}
	}
	return linktest.Mutate(out, n, seeds...)
}

// TestRemembered: text longer than any name or number is
// not kept, however many calls a server reports.
func TestRemembered(t *testing.T) {
	feed(t, func(s *session) {
		for _, m := range hostile(t, 0) {
			s.message([]byte(m))
		}
		for id, c := range s.channels {
			if n := len(id + c.call + c.name + c.number + c.phone); n > maxText {
				t.Errorf("%d bytes of a channel", n)
			}
		}
		for id, c := range s.callInfos {
			if n := len(id + c.caller + c.callerName + c.called + c.queue + c.via + c.answererName); n > 3*maxText {
				t.Errorf("%d bytes of a call", n)
			}
		}
		if len(s.channels) == 0 || len(s.callInfos) == 0 {
			t.Error("nothing is remembered")
		}
	})
}

// FuzzMessage: whatever arrives, only calls of our extension
// are reported, and they are over once the list is empty.
func FuzzMessage(f *testing.F) {
	for _, s := range hostile(f, 100) {
		if len(s) < 4<<10 { // long ones are slow, and TestExchange has them
			f.Add([]byte(s))
		}
	}
	for _, e := range examples(f) {
		f.Add([]byte(strings.Join(e.Messages, "\n")))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		events := feed(t, func(s *session) {
			for m := range strings.SplitSeq(string(b), "\n") {
				s.message([]byte(m))
			}
			s.back()
			for _, c := range s.channels {
				if _, told := s.Legs.Known(s.r, c.id); c.extension != "" && c.extension != "101" || (told || c.waits) != (c.extension != "") {
					t.Fatalf("%+v", c)
				}
			}
			s.replace(nil, false)
			if len(s.r.Calls()) != 0 {
				t.Fatalf("%q is not over", b)
			}
		})
		if len(events) > 0 && !strings.Contains(string(b), "101") && !strings.Contains(string(b), `\u`) {
			t.Fatalf("%q: %s", b, linktest.SayAll(events...))
		}
	})
}
