package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/core/contact"
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
		{func(c *Call) { c.State, c.Reason = "ended", "elsewhere" }, call.Ended, 50 * time.Second, call.AnsweredElsewhere},
		{func(c *Call) { c.Reason = "missed" }, call.Ringing, 50 * time.Second, call.ReasonUnknown},
		{func(c *Call) { c.Began = time.Time{} }, call.Ringing, 0, call.ReasonUnknown},
		{func(c *Call) { c.Began = at.Add(time.Hour) }, call.Ringing, 0, call.ReasonUnknown},
	} {
		c := ring
		tt.change(&c)
		e := snapshot(c).Event(c, here)
		if e.State != tt.state || !e.At.Equal(here) || !e.StateSince.Equal(here.Add(-tt.age)) || e.Reason != tt.reason || e.Name != "J. de Vries" || e.Queue != "Schade" || e.Via != "Receptie (101)" {
			t.Errorf("%+v: %+v", c, e)
		}
	}
}

// TestState: a known state is returned unchanged, and anything else is not a state.
func TestState(t *testing.T) {
	s := State{Relay: "r1", At: at, Hub: "ok", Links: []LinkState{{Name: "centrale\u202e", Kind: "ari", State: LinkOtherRelay}}}
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
			subject := site.UserSubject(topic, u)
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
			if e := s.Event(c, at); e != e.Clean() || e.StateSince.After(at) {
				t.Errorf("%+v", e)
			}
		}
		_, _ = json.Marshal(s)
	})
}

// TestJournalAnswer: missed calls arrive with their ages and cleaned texts.
func TestJournalAnswer(t *testing.T) {
	rang := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	a := JournalAnswer{At: rang.Add(time.Hour)}
	if !a.Add(MissedCall{Number: "\u202e0698760011", Line: "Schade\x00", Queue: "Claims\n", AnsweredBy: "\u200bBob", Rang: rang, Ended: rang.Add(time.Minute)}, 7) {
		t.Fatal("no room for one")
	}
	got := must.Get(ParseJournalAnswer(a.Encode()))(t)
	now := time.Date(2027, 1, 1, 12, 0, 0, 0, time.UTC)
	want := MissedCall{Number: "0698760011", Line: "Schade", Queue: "Claims", AnsweredBy: "Bob", Rang: now.Add(-time.Hour), Ended: now.Add(-59 * time.Minute)}
	got.Calls = append(got.Calls, MissedCall{Rang: rang.AddDate(9, 0, 0), Ended: rang.AddDate(9, 0, 1)}) // by another relay's clock
	if all := got.LocalTimes(now); got.LastSeq != 7 || len(all) != 2 || all[0] != want || all[1].Rang != now || all[1].Ended != now {
		t.Errorf("%+v", all)
	}
}

// TestJournalAnswerIsBounded checks that an answer is bounded in the
// number of calls and in their length.
func TestJournalAnswerIsBounded(t *testing.T) {
	for _, name := range []string{"", strings.Repeat("x", 1000)} {
		a := JournalAnswer{At: time.Now()}
		n := uint64(0)
		for a.Add(MissedCall{AnsweredBy: name, Rang: time.Now()}, n+1) {
			n++
		}
		if n > maxPage || n < 40 || (n == maxPage) != (name == "") {
			t.Errorf("%d calls", n)
		}
		if got, err := ParseJournalAnswer(a.Encode()); err != nil || uint64(len(got.Calls)) != n || got.LastSeq != n {
			t.Errorf("%d of them arrive: %v", len(got.Calls), err)
		}
	}
}

// TestUnfitAnswers: an invalid answer is refused as a whole. Each is a
// valid one with a change.
func TestUnfitAnswers(t *testing.T) {
	journal := func(b []byte) error { _, err := ParseJournalAnswer(b); return err }
	joined := func(b []byte) error { _, err := ParseJoined(b); return err }
	const (
		missed = `{"v":1,"at":"2026-03-02T09:00:00Z","seen":7,"calls":[{"number":"1","rang":"2026-03-02T08:00:00Z"}]}`
		member = `{"v":1,"site":"kantoor","user":"anna","token":"x","urls":["wss://relay.example"]}`
	)
	for name, c := range map[string]struct {
		parse    func([]byte) error
		good     string
		from, to string
	}{
		"journal: no JSON":            {journal, missed, `}`, ``},
		"journal: no version":         {journal, missed, `"v":1,`, ``},
		"journal: no clock":           {journal, missed, `"at":"2026-03-02T09:00:00Z",`, ``},
		"journal: nothing to keep":    {journal, missed, `"seen":7,`, ``},
		"journal: nothing to tell":    {journal, missed, `{"number":"1","rang":"2026-03-02T08:00:00Z"}`, ``},
		"journal: never rang":         {journal, missed, `,"rang":"2026-03-02T08:00:00Z"`, ``},
		"journal: too many":           {journal, missed, `{"number"`, strings.Repeat(`{"rang":"2026-03-02T08:00:00Z"},`, maxPage) + `{"number"`},
		"journal: too long":           {journal, missed, `"number":"1"`, `"number":"` + strings.Repeat("1", maxPageBytes+1024) + `"`},
		"membership: no JSON":         {joined, member, `}`, ``},
		"membership: no version":      {joined, member, `"v":1,`, ``},
		"membership: no site":         {joined, member, `kantoor`, ``},
		"membership: no user":         {joined, member, `anna`, ``},
		"membership: everybody":       {joined, member, `anna`, `*`},
		"membership: no token":        {joined, member, `"token":"x",`, ``},
		"membership: nowhere to go":   {joined, member, `"wss://relay.example"`, ``},
		"membership: a wider subject": {joined, member, `kantoor`, `kantoor.>`},
	} {
		if err := c.parse([]byte(c.good)); err != nil {
			t.Fatalf("%s: the good one: %v", name, err)
		}
		bad := bytes.Replace([]byte(c.good), []byte(c.from), []byte(c.to), 1)
		if bytes.Equal(bad, []byte(c.good)) {
			t.Fatalf("%s: nothing was changed", name)
		}
		if err := c.parse(bad); err == nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestLookupAnswer: an answer is read back, within its limits, and a
// message of another shape is refused.
func TestLookupAnswer(t *testing.T) {
	one := contact.Contact{ID: "7", RelationNumber: "100200", Initials: "J.", Prefix: "de", FamilyName: "Vries", Link: "https://hub.example/7",
		Address: contact.Address{Street: "Dorpsstraat", City: "Ons Dorp"}, Producer: contact.CodedValue{Code: "P1", Description: "Piet"}}
	back, err := ParseLookupAnswer(LookupAnswer{Contacts: []contact.Contact{one}}.Encode())
	if err != nil || !reflect.DeepEqual(back.Contacts, []contact.Contact{one}) {
		t.Errorf("%+v, %v", back, err)
	}
	if a, err := ParseLookupAnswer([]byte(`{"v":2,"contacts":[{"ID":"7","FamilyName":"V\u202eries","New":1}],"failure":"hub_slow"}`)); err != nil || a.Contacts[0].FamilyName != "Vries" || a.Failure != contact.HubSlow {
		t.Errorf("%+v, %v", a, err)
	}
	one.FamilyName = strings.Repeat("n", 200)
	many := LookupAnswer{}
	for range 1000 {
		many.Contacts = append(many.Contacts, one)
	}
	if back, err := ParseLookupAnswer(many.Encode()); err != nil || len(back.Contacts) == 0 || len(back.Contacts) > maxContacts {
		t.Errorf("%d contacts, %v", len(back.Contacts), err)
	}
	for _, bad := range []string{"", "null", "{}", "[]", `{"v":0}`, `{"v":1,"contacts":{}}`, `{"v":1,"contacts":[` + strings.Repeat(`{},`, maxContacts) + `{}]}`,
		`{"v":1,"failure":"hub\u202eslow"}`, `{"v":1,"failure":"` + strings.Repeat("x", maxFailure+1) + `"}`, `{"v":1,"x":"` + strings.Repeat("x", maxAnswer) + `"}`} {
		if _, err := ParseLookupAnswer([]byte(bad)); err == nil {
			t.Errorf("%.40q is an answer", bad)
		}
	}
}
