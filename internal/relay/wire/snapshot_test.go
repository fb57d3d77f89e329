package wire

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/testutil/must"
)

var at = time.Date(2026, 11, 22, 9, 41, 25, 0, time.UTC)

func snapshot(calls ...Call) Snapshot {
	return Snapshot{V: 1, Relay: "r2", Epoch: 1732268400123, Seq: 8121, At: at, Calls: calls}
}

// TestParseSnapshot: a message of another shape is refused completely; unknown
// values are ignored.
func TestParseSnapshot(t *testing.T) {
	const ok = `{"v":1,"relay":"r2","epoch":1,"seq":0,"at":"2026-11-22T09:41:25.972Z","calls":[%s]}`
	for body, want := range map[string]int{
		fmt.Sprintf(ok, ""): 0,
		fmt.Sprintf(ok, `{"id":"wazo/1.2","state":"ringing","weather":"fair"}`):              1,
		fmt.Sprintf(ok, `{"id":"a"},{"id":"b"}`):                                             2,
		strings.Replace(fmt.Sprintf(ok, `{"id":"a"}`), `"v":1`, `"v":7,"more":[1]`, 1):       1,
		fmt.Sprintf(ok, `{"id":"a"},{"id":"a"}`):                                             -1,
		fmt.Sprintf(ok, `{"state":"ringing"}`):                                               -1,
		fmt.Sprintf(ok, `{"id":"a\u202eb"}`):                                                 -1,
		fmt.Sprintf(ok, `{"id":"`+strings.Repeat("a", call.MaxID+1)+`"}`):                    -1,
		fmt.Sprintf(ok, `{"id":7}`):                                                          -1,
		fmt.Sprintf(ok, strings.Repeat(`{"id":"x"},`, MaxCalls)+`{"id":"y"}`):                -1,
		fmt.Sprintf(ok, `{"id":"a","name":"`+strings.Repeat("n", MaxBytes)+`"}`):             -1,
		strings.Replace(fmt.Sprintf(ok, ""), `"v":1`, `"v":0`, 1):                            -1,
		strings.Replace(fmt.Sprintf(ok, ""), `"epoch":1`, `"epoch":-1`, 1):                   -1,
		strings.Replace(fmt.Sprintf(ok, ""), `"seq":0`, `"seq":-1`, 1):                       -1,
		strings.Replace(fmt.Sprintf(ok, ""), `"2026-11-22T09:41:25.972Z"`, `"yesterday"`, 1): -1,
		"": -1, "null": -1, "[]": -1, "{}": -1,
	} {
		s, err := ParseSnapshot([]byte(body))
		if got := len(s.Calls); err == nil != (want >= 0) || err == nil && got != want {
			t.Errorf("%.120s: %d calls, %v", body, got, err)
		}
	}
}

// TestEncode: messages are limited in size. Ended calls are dropped before ringing ones,
// and those before answered ones.
func TestEncode(t *testing.T) {
	var s Snapshot
	for i := range 60 {
		c := Call{ID: fmt.Sprint("a/", i), State: "ringing", Began: at.Add(time.Duration(i) * time.Second), Name: strings.Repeat("é", 120)}
		if i%3 > 0 {
			c.State = "ended"
		}
		s.Calls = append(s.Calls, c)
	}
	s.Epoch, s.At = 1, at
	got := must.Get(ParseSnapshot(s.Encode()))(t)
	ringing := 0
	for _, c := range got.Calls {
		if c.State == "ringing" {
			ringing++
		}
	}
	if ringing != 20 || len(s.Calls) != 60 {
		t.Errorf("%d of 20 that ring are left; ours are %d", ringing, len(s.Calls))
	}
	for i := range s.Calls {
		s.Calls[i].State = "ringing"
	}
	s.Calls[0].State, s.Calls[0].Answered = "answered", &at
	got = must.Get(ParseSnapshot(s.Encode()))(t)
	if !slices.ContainsFunc(got.Calls, func(c Call) bool { return c.ID == s.Calls[0].ID }) {
		t.Error("the call that somebody talks on is left out")
	}
}

// TestCompare: snapshots are ordered by the bucket's epoch, then
// by its revision, never by a clock.
func TestCompare(t *testing.T) {
	now, late := snapshot(), snapshot()
	late.At = at.Add(time.Hour)
	before, lost := now, now
	before.Seq--
	lost.Epoch, lost.Seq = lost.Epoch+1, 1
	if now.Compare(late) != 0 || now.Compare(before) <= 0 || before.Compare(now) >= 0 || lost.Compare(now) <= 0 {
		t.Error("not in order")
	}
}

// TestEvent: ages on the relay's clock become times on ours.
func TestEvent(t *testing.T) {
	here := at.Add(-3 * time.Hour) // our clock is wrong
	answered := at.Add(-20 * time.Second)
	ring := Call{ID: "wazo/1", State: "ringing", Number: "+31698760011", Name: "J. de\u202e Vries", Line: "0201234567", Via: "Receptie (101)", Queue: "Schade\u202e", Began: at.Add(-50 * time.Second)}
	for _, tt := range []struct {
		change func(*Call)
		state  call.State
		age    time.Duration
		reason call.Reason
	}{
		{func(*Call) {}, call.Ringing, 50 * time.Second, call.ReasonUnknown},
		{func(c *Call) { c.State, c.Answered = "answered", &answered }, call.Answered, 20 * time.Second, call.ReasonUnknown},
		{func(c *Call) { c.State, c.Answered = "held", &answered }, call.Answered, 20 * time.Second, call.ReasonUnknown},
		{func(c *Call) { c.State = "simmering" }, call.Ringing, 50 * time.Second, call.ReasonUnknown},
		{func(c *Call) { c.State, c.Reason = "ended", "elsewhere" }, call.Ended, 50 * time.Second, call.Elsewhere},
		{func(c *Call) { c.Reason = "missed" }, call.Ringing, 50 * time.Second, call.ReasonUnknown},
		{func(c *Call) { c.Began = time.Time{} }, call.Ringing, 0, call.ReasonUnknown},
		{func(c *Call) { c.Began = at.Add(time.Hour) }, call.Ringing, 0, call.ReasonUnknown},
	} {
		c := ring
		tt.change(&c)
		e := snapshot(c).Event(c, here)
		if e.State != tt.state || !e.At.Equal(here) || !e.Since.Equal(here.Add(-tt.age)) || e.Reason != tt.reason || e.Name != "J. de Vries" || e.Queue != "Schade" || e.Via != "Receptie (101)" {
			t.Errorf("%+v: %+v", c, e)
		}
	}
}

// TestState: a known state is returned unchanged, and anything else is not a state.
func TestState(t *testing.T) {
	s := State{Relay: "r1", At: at, Hub: "ok", Links: []LinkState{{Name: "centrale\u202e", Kind: "ari", State: LinkElsewhere}}}
	if got, err := ParseState(s.Encode()); err != nil || got.V != 1 || got.Links[0].Name != "centrale" || !got.At.Equal(at) || got.Hub != "ok" {
		t.Errorf("%+v, %v", got, err)
	}
	many := s
	many.Links = make([]LinkState, MaxLinks+1)
	for _, b := range []string{"", "{}", "[]", "null", `{"v":1,"relay":"r1"}`, strings.Replace(string(s.Encode()), "r1", "R 1", 1), strings.Replace(string(s.Encode()), `"v":1`, `"v":0`, 1),
		string(many.Encode()), strings.Replace(string(s.Encode()), "ok", strings.Repeat("k", MaxBytes), 1)} {
		if got, err := ParseState([]byte(b)); err == nil {
			t.Errorf("%.60s: %+v", b, got)
		}
	}
}

// TestNames: no name can reach another's subjects.
func TestNames(t *testing.T) {
	site := must.Get(ParseSite("kantoor-1"))(t)
	for _, s := range []string{"", "a.b", "a b", "A", "*", ">", strings.Repeat("a", 33)} {
		if _, err := ParseSite(s); err == nil {
			t.Errorf("site %q", s)
		}
	}
	for _, s := range []string{"", "a b", "*", "a.>", "é", "a=b", "a/b", "\\kantoor\anna", strings.Repeat("a", 65)} {
		if _, err := ParseUser(s); err == nil {
			t.Errorf("user %q", s)
		}
	}
	seen := map[string]User{}
	for _, s := range []string{"anna", "Anna.B", "anna-b", "anna_b", "a..b", "."} {
		u := must.Get(ParseUser(s))(t)
		for _, topic := range Topics {
			subject := site.Of(topic, u)
			if back, err := UserOf(subject); err != nil || back != u || strings.Count(subject, ".") != 3 || seen[subject] != "" {
				t.Errorf("%s: %q, %v", subject, back, err)
			}
			seen[subject] = u
		}
	}
	if _, err := UserOf("wiebelt.kantoor-1.calls.*"); err == nil {
		t.Error("everybody is no user")
	}
}

func FuzzParseSnapshot(f *testing.F) {
	f.Add(snapshot(Call{ID: "a/1", State: "ringing", Number: "1"}).Encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := ParseSnapshot(b)
		if err != nil {
			return
		}
		again, err := ParseSnapshot(s.Encode())
		if err != nil || again.Compare(s) != 0 || len(again.Calls) != len(s.Calls) {
			t.Errorf("%q does not come back: %v", b, err)
		}
		for _, c := range s.Calls {
			if e := s.Event(c, at); e != e.Clean() || e.Since.After(at) {
				t.Errorf("%+v", e)
			}
		}
		_, _ = json.Marshal(s)
	})
}
