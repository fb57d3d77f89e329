package wire

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/testutil/must"
)

// TestJournalAnswer: missed calls arrive with their ages and cleaned texts.
func TestJournalAnswer(t *testing.T) {
	rang := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	a := JournalAnswer{At: rang.Add(time.Hour)}
	if !a.Add(MissedCall{Number: "\u202e0698760011", Line: "Schade\x00", Queue: "Claims\n", By: "\u200bBob", Rang: rang, Ended: rang.Add(time.Minute)}, 7) {
		t.Fatal("no room for one")
	}
	got := must.Get(ParseJournalAnswer(a.Encode()))(t)
	now := time.Date(2027, 1, 1, 12, 0, 0, 0, time.UTC)
	want := MissedCall{Number: "0698760011", Line: "Schade", Queue: "Claims", By: "Bob", Rang: now.Add(-time.Hour), Ended: now.Add(-59 * time.Minute)}
	got.Calls = append(got.Calls, MissedCall{Rang: rang.AddDate(9, 0, 0), Ended: rang.AddDate(9, 0, 1)}) // by another relay's clock
	if all := got.LocalTimes(now); got.Seen != 7 || len(all) != 2 || all[0] != want || all[1].Rang != now || all[1].Ended != now {
		t.Errorf("%+v", all)
	}
}

// TestJournalAnswerIsBounded checks that an answer is bounded in the
// number of calls and in their length.
func TestJournalAnswerIsBounded(t *testing.T) {
	for _, name := range []string{"", strings.Repeat("x", 1000)} {
		a := JournalAnswer{At: time.Now()}
		n := uint64(0)
		for a.Add(MissedCall{By: name, Rang: time.Now()}, n+1) {
			n++
		}
		if n > maxPage || n < 40 || (n == maxPage) != (name == "") {
			t.Errorf("%d calls", n)
		}
		if got, err := ParseJournalAnswer(a.Encode()); err != nil || uint64(len(got.Calls)) != n || got.Seen != n {
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
