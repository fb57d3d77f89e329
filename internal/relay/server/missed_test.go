package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"wiebelt/internal/core/call"
	"wiebelt/internal/relay/users"
	"wiebelt/internal/relay/wire"
	"wiebelt/internal/softphone/webhook"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/natstest"
)

// missedCalls requests a user's missed calls, page by page; requesting a page
// confirms the previous one.
func (o *office) missedCalls(u wire.User, pages int) (all []wire.MissedCall, seen uint64) {
	o.t.Helper()
	for range pages {
		b, _ := json.Marshal(wire.JournalRequest{LastSeq: seen})
		a := must.Get(wire.ParseJournalAnswer(must.Get(natstest.Ask(o.node.Conn, o.Keys.Site.UserSubject(wire.TopicJournal, u), b))(o.t)))(o.t)
		all, seen = append(all, a.Calls...), a.LastSeq
	}
	return all, seen
}

// until waits until a user has missed n calls.
func (o *office) until(u wire.User, n int) (all []wire.MissedCall) {
	o.t.Helper()
	must.Soon(o.t, func() (bool, any) {
		page, err := o.journal.Page(o.t.Context(), u, 0)
		all = page.Calls
		return err == nil && len(all) == n, fmt.Sprint(len(all), " of ", n, ", ", err)
	})
	return all
}

// canary is a caller's number of these tests.
func canary(i int) string { return fmt.Sprintf("06987%05d", i) }

// missed makes calls ring for an extension that nobody answers.
func (o *office) missed(extension string, from, to int) {
	o.t.Helper()
	for i := from; i < to; i++ {
		for _, state := range []string{"ringing", "ended"} {
			o.report("", fmt.Sprintf(`{"id":"%s/%d","state":%q,"number":%q,"queue":"Schade","reason":"missed","extension":%q}`, extension, i, state, canary(i), extension))
		}
	}
}

// traces counts the numbers found in any file of the relay.
func (o *office) traces(from, to int) (n int) {
	o.t.Helper()
	all := natstest.Files(o.t, o.config.Dir)
	for i := from; i < to; i++ {
		if bytes.Contains(all, []byte(canary(i))) {
			n++
		}
	}
	return n
}

// TestJournal: users receive each call that rang while they were away once, whatever restarts.
func TestJournal(t *testing.T) {
	_, client := theHub(t)
	o := start(t, func(c *Config) { c.Hub, c.Settings.Journal.Days = client, 2 })
	o.add(users.Entry{User: "anna", Extensions: []string{"101"}})
	const n = 100
	before := time.Now()
	o.missed("101", 0, n/2)
	o.until("anna", n/2)
	o.end()
	o.run()
	o.missed("101", n/2, n)
	o.missed("101", 0, 1) // the exchange restarts its ids
	o.until("anna", n+1)
	all, _ := o.missedCalls("anna", 1)
	again, seen := o.missedCalls("anna", 1) // the first answer was lost
	rang := map[string]int{}
	for _, c := range all {
		rang[c.Number]++
		if c.Queue != "Schade" || c.Reason != "missed" || c.Rang.Before(before.Truncate(time.Millisecond)) || c.Ended.Before(c.Rang) {
			t.Fatalf("%+v", c)
		}
	}
	if len(rang) != n || rang[canary(0)] != 2 || len(again) != len(all) {
		t.Errorf("%d numbers; %d the second time", len(rang), len(again))
	}
	if a := o.ask("anna", all[n/2-1].Number); a.Failure != "" { // it rang before the relay started again
		t.Errorf("she may not look up who has called her: %s", a.Failure)
	}
	if left, err := o.journal.Page(t.Context(), "anna", seen); err != nil || len(left.Calls) > 0 {
		t.Errorf("%d left, %v", len(left.Calls), err)
	}
}

// TestRememberedLast: of many calls that are reported at once, the last ones are remembered.
func TestRememberedLast(t *testing.T) {
	o := start(t)
	o.add(users.Entry{User: "anna", Extensions: []string{"101"}})
	const n = 300
	for i := range n {
		o.enqueue(newReport(webhook.Report{Event: call.Event{ID: fmt.Sprint(i), Number: canary(i)},
			Place: webhook.Place{Extensions: []string{"101"}}}, time.Now()))
	}
	must.Soon(t, func() (bool, any) {
		for i := n - remembered + maxWriters; i < n; i++ {
			if !o.lookups.allowed(t.Context(), "anna", o.Rules.Parse(canary(i), "")) {
				return false, fmt.Sprintf("no right to look up call %d of %d", i, n)
			}
		}
		return true, nil
	})
}

// TestJournalOften: a user who asks all the time does not get an answer every
// time, and others still get theirs.
func TestJournalOften(t *testing.T) {
	o := start(t)
	o.add(users.Entry{User: "anna"})
	o.add(users.Entry{User: "bob"})
	answers := make(chan *nats.Msg, 2*lookupsMinute)
	inbox := wire.Inbox("anna") + ".x"
	must.Get(o.node.Conn.ChanSubscribe(inbox, answers))(t)
	for range cap(answers) {
		must.Do(t, o.node.Conn.PublishRequest(o.Keys.Site.UserSubject(wire.TopicJournal, "anna"), inbox, []byte("{}")))
	}
	if o.missedCalls("bob", 1); len(answers) != lookupsMinute {
		t.Errorf("answered %d times", len(answers))
	}
}

// TestJournalForgotten: no file of the relay contains any trace of a caller once the user has the
// call or was removed, or nothing is kept any more; nor anything it knew about a removed user.
func TestJournalForgotten(t *testing.T) {
	t.Parallel()
	o := start(t, func(c *Config) { c.Settings.Journal.Days = 2 })
	const own = 1000 // canaries of the users themselves
	for i, u := range []wire.User{"anna", "bob", "carla", "dirk"} {
		for version := range 2 {
			n := canary(own + 10*version + i)
			o.add(users.Entry{User: u, Name: n, Extensions: []string{fmt.Sprint(101 + i)}, Numbers: []string{n}, Email: n, Queues: []string{n}})
		}
	}
	const each = 125
	for i, u := range []wire.User{"anna", "bob", "carla", "dirk"} {
		o.missed(fmt.Sprint(101+i), i*each, (i+1)*each)
		o.until(u, each)
	}
	if n := o.traces(0, 4*each); n != 4*each {
		t.Fatalf("%d of %d are there: the test looks in the wrong place", n, 4*each)
	}
	o.missedCalls("anna", 2)
	if n := o.traces(0, each); n > 0 {
		t.Errorf("%d are left that the user has", n)
	}
	last := o.Rules.Parse(canary(2*each-1), "")
	if !o.lookups.allowed(t.Context(), "bob", last) {
		t.Error("he may not look up who called him")
	}
	must.Get(o.users.Load().Remove(t.Context(), "bob"))(t)
	o.until("bob", 0)
	if n := o.traces(each, 2*each); n > 0 {
		t.Errorf("%d are left of a user who was removed", n)
	}
	if o.lookups.allowed(t.Context(), "bob", last) {
		t.Error("whoever gets his name may look up who called him")
	}
	must.Soon(t, func() (bool, any) { // the relay's copy lags behind
		return o.traces(own+1, own+2)+o.traces(own+10, own+14) <= 3, "what he was"
	})
	if n := o.traces(own+10, own+14); n != 3 {
		t.Errorf("%d of the other three are there", n)
	}
	if n := o.traces(own, own+4); n > 0 {
		t.Errorf("of %d users there is what they were before", n)
	}
	o.end()
	o.config.Settings.Journal.Days = 0
	o.run()
	must.Soon(t, func() (bool, any) { // the server removes the file in the background
		n := o.traces(0, 4*each)
		return n == 0, n
	})
	o.missed("101", 0, 1)
	if all, _ := o.missedCalls("anna", 1); len(all) > 0 {
		t.Errorf("%+v is kept", all)
	}
}
