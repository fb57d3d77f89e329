package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/core/contact"
	"wiebelt/internal/relay/users"
	"wiebelt/internal/relay/wire"
)

// missedCalls asks for the calls that a user has missed, page after page, and says
// that those of each are kept only with the next one.
func (o *office) missedCalls(u wire.User, pages int) (all []wire.MissedCall, seen uint64) {
	o.t.Helper()
	for range pages {
		b, _ := json.Marshal(wire.JournalRequest{Seen: seen})
		m, err := o.node.Conn.Request(o.Keys.Site.Of(wire.Journal, u), b, time.Minute)
		if err != nil {
			o.t.Fatal(err)
		}
		a, err := wire.ParseJournalAnswer(m.Data)
		if err != nil {
			o.t.Fatal(err)
		}
		all, seen = append(all, a.Calls...), a.Seen
	}
	return all, seen
}

// until waits until a user has missed n calls.
func (o *office) until(u wire.User, n int) {
	o.t.Helper()
	for began := time.Now(); ; time.Sleep(time.Millisecond) {
		all, err := o.journal.Page(o.t.Context(), u, 0)
		if err == nil && len(all.Calls) == n {
			return
		}
		if time.Since(began) > time.Minute {
			o.t.Fatalf("%s has missed %d of %d, %v", u, len(all.Calls), n, err)
		}
	}
}

// canary is a caller's number of these tests.
func canary(i int) string { return fmt.Sprintf("06987%05d", i) }

// missed has calls ring for an extension that nobody answers.
func (o *office) missed(extension string, from, to int) {
	o.t.Helper()
	for i := from; i < to; i++ {
		for _, state := range []string{"ringing", "ended"} {
			o.post("/in/"+o.secret, fmt.Sprintf(`{"id":"%s/%d","state":%q,"number":%q,"queue":"Schade","reason":"missed","extension":%q}`, extension, i, state, canary(i), extension))
		}
	}
}

// traces counts the numbers that stand in any file of the relay.
func (o *office) traces(from, to int) (n int) {
	o.t.Helper()
	var all bytes.Buffer
	err := fs.ErrNotExist
	for errors.Is(err, fs.ErrNotExist) { // the server removed or renamed one meanwhile
		all.Reset()
		err = filepath.WalkDir(o.config.Dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			b, err := os.ReadFile(path)
			all.Write(b)
			return err
		})
	}
	if err != nil {
		o.t.Fatal(err)
	}
	for i := from; i < to; i++ {
		if bytes.Contains(all.Bytes(), []byte(canary(i))) {
			n++
		}
	}
	return n
}

// TestJournal: what rang while a user was away he is told once, whatever starts
// anew; what a computer heard, or he answered, is not among it.
func TestJournal(t *testing.T) {
	_, client := theHub(t)
	o := start(t, func(c *Config) { c.Hub, c.Settings.Journal.Days = client, 2 })
	if err := o.users.Load().Put(t.Context(), users.Entry{User: "anna", Extensions: []string{"101"}}); err != nil {
		t.Fatal(err)
	}
	bob, states, _ := o.desk(users.Entry{User: "bob", Extensions: []string{"102"}})
	wait(t, states, connected)
	for !o.table.Load().Knows("anna") || !o.table.Load().Knows("bob") {
		time.Sleep(time.Millisecond) // the table follows the bucket
	}
	const n = 100
	before := time.Now()
	o.missed("101", 0, n/2)
	o.post("/in/"+o.secret, `{"id":"a","state":"ringing","number":"0698000001","extension":"101"}`)
	o.post("/in/"+o.secret, `{"id":"a","state":"answered","extension":"101"}`)
	o.post("/in/"+o.secret, `{"id":"a","state":"ended"}`)
	o.post("/in/"+o.secret, `{"id":"b","state":"ringing","number":"0698000002","direction":"outgoing","extension":"101"}`)
	o.post("/in/"+o.secret, `{"id":"b","state":"ended"}`)
	o.post("/in/"+o.secret, `{"id":"c","state":"ringing","number":"0698000003","extension":"102"}`)
	wait(t, bob, func(e call.Event) bool { return e.State == call.Ringing })
	o.post("/in/"+o.secret, `{"id":"c","state":"ended","reason":"missed"}`)
	wait(t, bob, func(e call.Event) bool { return e.State == call.Ended })
	o.until("anna", n/2)
	o.end()
	o.run()
	o.missed("101", n/2, n)
	o.missed("101", 0, 1) // the exchange begins its ids anew
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
	if a := o.ask("anna", canary(n-1)); a.Failure == contact.ScopeRefused {
		t.Error("she may not look up who has called her")
	}
	if left, err := o.journal.Page(t.Context(), "anna", seen); err != nil || len(left.Calls) > 0 {
		t.Errorf("%d left, %v", len(left.Calls), err)
	}
	if all, _ := o.missedCalls("bob", 2); len(all) > 0 {
		t.Errorf("bob heard %+v himself", all)
	}
}

// TestJournalForgotten: nothing of a caller is left in any file of the relay once the
// user has it, he was removed, the office says so, or its days are over; nor of what the
// relay knew of a user who was removed, before and then.
func TestJournalForgotten(t *testing.T) {
	o := start(t, func(c *Config) { c.Settings.Journal.Days = 2 })
	const own = 1000 // canaries of the users themselves
	for i, u := range []wire.User{"anna", "bob", "carla", "dirk"} {
		for version := range 2 {
			n := canary(own + 10*version + i)
			if err := o.users.Load().Put(t.Context(), users.Entry{User: u, Name: n, Extensions: []string{fmt.Sprint(101 + i)}, Numbers: []string{n}, Email: n, Queues: []string{n}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	for !o.table.Load().Knows("dirk") {
		time.Sleep(time.Millisecond)
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
	if !o.lookups.may(t.Context(), "bob", last) {
		t.Error("he may not look up who called him")
	}
	if err := o.users.Load().Remove(t.Context(), "bob"); err != nil {
		t.Fatal(err)
	}
	o.until("bob", 0)
	if n := o.traces(each, 2*each); n > 0 {
		t.Errorf("%d are left of a user who was removed", n)
	}
	if o.lookups.may(t.Context(), "bob", last) {
		t.Error("whoever gets his name may look up who called him")
	}
	for began := time.Now(); o.traces(own+1, own+2)+o.traces(own+10, own+14) > 3; time.Sleep(time.Millisecond) { // the relay's copy follows
		if time.Since(began) > time.Minute {
			t.Fatal("what he was is left")
		}
	}
	if n := o.traces(own+10, own+14); n != 3 {
		t.Errorf("%d of the other three are there", n)
	}
	if n := o.traces(own, own+4); n > 0 {
		t.Errorf("of %d users there is what they were before", n)
	}
	if n, err := o.journal.Forget(t.Context(), func(m wire.MissedCall) bool { return strings.HasPrefix(m.Number, "06987002") }); err != nil || n == 0 || o.traces(250, 300) > 0 {
		t.Errorf("%d forgotten, %d left, %v", n, o.traces(250, 300), err)
	}
	o.end()
	o.config.Settings.Journal.Days = 0
	o.run()
	for began := time.Now(); o.traces(0, 4*each) > 0; time.Sleep(time.Millisecond) { // the server removes the file beside its other work
		if time.Since(began) > time.Minute {
			t.Fatalf("%d are left where nothing is to be kept", o.traces(0, 4*each))
		}
	}
	o.missed("101", 0, 1)
	if all, _ := o.missedCalls("anna", 1); len(all) > 0 {
		t.Errorf("%+v is kept", all)
	}
}
