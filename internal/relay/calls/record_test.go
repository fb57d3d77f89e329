package calls

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/relay/wire"
	"wiebelt/internal/testutil/must"
)

var at = time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)

func report(after time.Duration, s call.State, users ...wire.User) Report {
	return Report{Event: call.Event{ID: "wazo/1", State: s, At: at.Add(after)}, Users: users}
}

// take applies reports in order.
func take(t *testing.T, r Record, all ...Report) Record {
	t.Helper()
	for i, report := range all {
		before, _ := json.Marshal(r)
		after, changed, err := r.Apply(report)
		if now, _ := json.Marshal(r); err != nil || string(now) != string(before) {
			t.Fatalf("report %d: %v; before %s, then %s", i, err, before, now)
		}
		if again, changed, err := after.Apply(report); changed || err != nil || !reflect.DeepEqual(again, after) {
			t.Errorf("report %d once more: changed %v, %v", i, changed, err)
		}
		if !changed && !reflect.DeepEqual(r, after) {
			t.Errorf("report %d changes what it says it does not", i)
		}
		r = after
	}
	return r
}

// heard checks what a user is told of a call.
func heard(t *testing.T, r Record, u wire.User, want string) {
	t.Helper()
	got := "nothing"
	if c, ok := r.ForUser(u); ok {
		got = fmt.Sprint(c.State, " ", c.Reason, " ", c.AnsweredBy, " ", c.AnsweredElsewhere)
	}
	if got != want {
		t.Errorf("%s: %s, want %s", u, got, want)
	}
}

// TestGroup: one of three users answers a call, and the others learn who did.
func TestGroup(t *testing.T) {
	r := take(t, Record{}, report(0, call.Ringing, "anna", "bob", "carla"))
	for _, u := range []wire.User{"anna", "bob", "carla"} {
		heard(t, r, u, "ringing   false")
	}
	heard(t, r, "dirk", "nothing")
	r = take(t, r, report(5*time.Second, call.Answered, "anna"))
	heard(t, r, "bob", "ringing   true") // before his phone stops
	r = take(t, r, report(6*time.Second, call.Ended, "bob", "carla"))
	heard(t, r, "anna", "answered   false")
	heard(t, r, "bob", "ended elsewhere anna true")
	heard(t, r, "carla", "ended elsewhere anna true")
	end := report(6*time.Second, call.Ended)
	end.Reason, end.AnsweredBy = call.AnsweredElsewhere, "Dirk (104)" // may be unknown to the relay
	heard(t, take(t, take(t, Record{}, report(0, call.Ringing, "bob")), end), "bob", "ended elsewhere Dirk (104) false")
	if r.retention() != lifetime {
		t.Error("over while anna talks")
	}
	end = report(90*time.Second, call.Ended)
	end.Reason = call.Completed
	r = take(t, r, end)
	heard(t, r, "anna", "ended completed  false")
	if r.retention() != endedRetention {
		t.Error("not over")
	}
}

// TestTwoPhones: a call goes on for a user while one of their phones has it: the one that
// answered, or any that rings. The end for all is the end at all of them.
func TestTwoPhones(t *testing.T) {
	at := func(after time.Duration, s call.State, extension string) Report {
		r := report(after, s, "anna")
		r.Extension = extension
		return r
	}
	rings := take(t, Record{}, at(0, call.Ringing, "101"), at(0, call.Ringing, "102"))
	talks := take(t, rings, at(time.Second, call.Answered, "102"))
	for _, c := range []struct {
		r     Record
		ended []string
		want  string
	}{
		{talks, []string{"101"}, "answered   false"},
		{talks, []string{"102"}, "ended   false"},
		{talks, []string{"101", "102"}, "ended   false"},
		{talks, []string{""}, "ended   false"},
		{talks, []string{"199"}, "ended   false"},
		{rings, []string{"101"}, "ringing   false"},
		{rings, []string{"101", "102"}, "ended   false"},
		{take(t, rings, at(time.Second, call.Ended, "101"), at(2*time.Second, call.Answered, "102")), []string{"101"}, "answered   false"},
		{take(t, talks, at(2*time.Second, call.Ringing, "103")), []string{"103"}, "answered   false"},
		{take(t, talks, at(2*time.Second, call.Answered, "103")), []string{"102"}, "answered   false"},
	} {
		for i, extension := range c.ended {
			c.r = take(t, c.r, at(time.Duration(3+i)*time.Second, call.Ended, extension))
		}
		heard(t, c.r, "anna", c.want)
	}
	if r := take(t, talks, report(time.Minute, call.Ended)); !r.Ended() {
		t.Errorf("%+v", r)
	}
}

// TestOldReports: a report older than what is known changes nothing; a new ring updates the
// caller, but does not undo an answer.
func TestOldReports(t *testing.T) {
	r := take(t, Record{}, report(10*time.Second, call.Answered, "anna"))
	for name, old := range map[string]Report{"older": report(5*time.Second, call.Ended, "anna"), "nobody's": report(20*time.Second, call.Ringing)} {
		if _, changed, err := r.Apply(old); changed || err != nil {
			t.Errorf("%s: changed %v, %v", name, changed, err)
		}
	}
	late := report(11*time.Second, call.Ringing, "anna")
	late.Name, late.Queue = "J. de\u202e Vries", "Schade"
	r = take(t, r, late)
	if c, _ := r.ForUser("anna"); c.State != "answered" || c.Name != "J. de Vries" || c.Queue != "Schade" {
		t.Errorf("%+v", c)
	}
	r = take(t, r, report(20*time.Second, call.Ended))
	if _, changed, _ := r.Apply(report(30*time.Second, call.Ringing, "anna")); changed {
		t.Error("what was over rings again")
	}
}

// TestOrders: in whatever order the reports on a call arrive, it is over for everybody once
// its end is reported, and a stored record is read back as it was written.
func TestOrders(t *testing.T) {
	users := []wire.User{"anna", "bob", "carla"}
	for seed := range uint64(200) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		r := Record{}
		for i := range 12 {
			one := report(time.Duration(i)*time.Second, call.State(rnd.IntN(3)), users[:rnd.IntN(4)]...)
			one.Extension = []string{"", "101", "102"}[rnd.IntN(3)]
			r = take(t, r, one)
		}
		r = take(t, r, report(time.Minute, call.Ended))
		if !r.Ended() {
			t.Fatalf("seed %d: %+v", seed, r)
		}
		if len(r.Legs) == 0 {
			continue
		}
		b, _ := json.Marshal(r)
		if back, err := parse(b); err != nil || !reflect.DeepEqual(back, r) {
			t.Fatalf("seed %d: %+v, %v", seed, back, err)
		}
	}
}

// TestOvertaken: if a call's end is reported before everything
// else, the late reports do not ring.
func TestOvertaken(t *testing.T) {
	r := take(t, Record{}, report(0, call.Ended))
	for i, late := range []Report{report(time.Second, call.Ringing, "anna"), report(2*time.Second, call.Answered, "bob"), report(3*time.Second, call.Ended)} {
		if after, changed, err := r.Apply(late); changed || err != nil || len(after.Legs) > 0 {
			t.Errorf("report %d: %+v, %v", i, after, err)
		}
	}
}

// TestPassedOn: a user to whom a call is passed on is not told
// that somebody else took it away.
func TestPassedOn(t *testing.T) {
	r := take(t, Record{}, report(0, call.Ringing, "anna", "carla"), report(time.Second, call.Answered, "anna"), report(2*time.Second, call.Ended, "carla"),
		report(time.Minute, call.Ringing, "bob", "dirk"), report(time.Minute, call.Ended, "anna"))
	heard(t, r, "bob", "ringing   false")
	heard(t, r, "carla", "ended elsewhere anna true")
	r = take(t, r, report(61*time.Second, call.Answered, "bob"), report(62*time.Second, call.Ended, "dirk"))
	heard(t, r, "bob", "answered   false")
	heard(t, r, "dirk", "ended elsewhere bob true")
}

// TestOutgoingPassedOn: an outgoing call that is passed on rings at the colleague as an incoming
// one, also after others took it; the caller's stays outgoing, passed on by nobody.
func TestOutgoingPassedOn(t *testing.T) {
	dials, rings := report(0, call.Answered, "anna"), report(time.Minute, call.Ringing, "bob", "carla")
	dials.Direction, rings.Via = call.Outgoing, "101"
	unsure := report(61*time.Second, call.Answered, "bob")
	unsure.Direction, unsure.MayReturn = call.DirectionUnknown, true
	again := report(2*time.Minute, call.Ringing, "carla")
	again.Direction, again.MayReturn = call.DirectionUnknown, true
	r := take(t, Record{}, dials, rings, unsure, again)
	for u, want := range map[wire.User]string{"anna": "outgoing ", "bob": "incoming 101", "carla": "incoming 101"} {
		if c, _ := r.ForUser(u); c.Direction+" "+c.Via != want {
			t.Errorf("%s: %+v, want %s", u, c, want)
		}
	}
}

// TestAnotherCaller: if a call gets another caller, nothing of the previous one remains; if
// the same caller is reported again, details missing from the new report stay.
func TestAnotherCaller(t *testing.T) {
	before, more, after := report(0, call.Ringing, "anna"), report(time.Second, call.Ringing, "anna"), report(2*time.Second, call.Ringing, "anna")
	before.Name, before.Line = "Receptie", "0201234567"
	more.Number, more.Queue = "101", "Schade"
	after.Number = "0698760011"
	r := take(t, Record{}, before, more)
	if c, _ := r.ForUser("anna"); c.Number != "101" || c.Name != "Receptie" || c.Queue != "Schade" || !r.Began.Equal(before.At) {
		t.Errorf("%+v", r)
	}
	r = take(t, r, after)
	if c, _ := r.ForUser("anna"); c.Number != "0698760011" || c.Name != "" || c.Line != "0201234567" {
		t.Errorf("%+v", c)
	}
}

// TestUnsureEnd: an end that names an extension applies only to it while somebody else is
// talking, and otherwise to all.
func TestUnsureEnd(t *testing.T) {
	end := report(time.Minute, call.Ended, "anna")
	end.MaybeForAll = true
	rings := take(t, Record{}, report(0, call.Ringing, "anna", "bob"))
	if r := take(t, rings, end); !r.Ended() {
		t.Errorf("bob's phone rings on: %+v", r)
	}
	if r := take(t, rings, report(time.Second, call.Answered, "bob"), end); r.Ended() || r.Legs["anna"].State != "ended" {
		t.Errorf("while bob speaks: %+v", r)
	}
	if r := take(t, rings, report(time.Second, call.Answered, "anna"), end); !r.Ended() {
		t.Errorf("after anna has spoken: %+v", r)
	}
}

// TestTaken: if an exchange reports who answered a call, but not whose phones stop, those
// that rang before stop at once; a phone to which the call is passed on later does not,
// however often the answer is reported.
func TestTaken(t *testing.T) {
	again := func(after time.Duration, s call.State, users ...wire.User) Report {
		r := report(after, s, users...)
		r.MayReturn = true
		return r
	}
	r := take(t, Record{}, again(0, call.Ringing, "anna", "bob", "carla"), again(time.Second, call.Answered, "anna"))
	heard(t, r, "anna", "answered   false")
	heard(t, r, "bob", "ended elsewhere anna true")
	heard(t, r, "carla", "ended elsewhere anna true")
	r = take(t, r, again(time.Minute, call.Ringing, "bob"), again(61*time.Second, call.Answered, "anna"))
	heard(t, r, "bob", "ringing   false") // passed on to bob
	taken := again(time.Second, call.Answered, "anna")
	r = take(t, Record{}, again(0, call.Ringing, "anna"), taken, again(time.Second/2, call.Ringing, "bob"), taken)
	heard(t, r, "bob", "ended elsewhere anna true") // his ring was told late, and the answer again
	r = take(t, Record{}, again(0, call.Ringing, "anna", "bob"), again(time.Second, call.Answered, "anna"), again(time.Second, call.Answered, "bob"))
	heard(t, r, "bob", "answered   false") // both have taken it
	r = take(t, Record{}, report(0, call.Ringing, "anna", "bob"), report(time.Second, call.Answered, "anna"))
	heard(t, r, "bob", "ringing   true") // his own end is told
}

// TestReturn: if the exchange may call a user again, a call they did not answer
// comes back to them after ringing at the next user; a report in transit when
// their phone stopped does not ring.
func TestReturn(t *testing.T) {
	end := report(10*time.Second, call.Ended, "anna")
	for _, maybe := range []bool{false, true} {
		end.MaybeForAll = maybe
		again := report(30*time.Second, call.Ringing, "anna")
		r := take(t, Record{}, report(0, call.Ringing, "anna"), end, report(11*time.Second, call.Ringing, "anna", "bob"), again)
		heard(t, r, "anna", "ended   false")
		heard(t, r, "bob", "ringing   false")
		again.MayReturn = true
		soon := again
		soon.At = end.At.Add(time.Second)
		heard(t, take(t, r, soon), "anna", "ended   false") // a ring was on its way when her phone stopped
		r = take(t, r, again)
		if c, ok := r.ForUser("anna"); !ok || c.State != "ringing" || !c.Began.Equal(at.Add(30*time.Second)) {
			t.Errorf("called again: %+v", c)
		}
		r = take(t, Record{}, end, report(11*time.Second, call.Ringing, "anna"))
		heard(t, r, "anna", "nothing") // her end was told first
	}
}

func TestBadRecords(t *testing.T) {
	for _, s := range []string{"", "{}", "[]", `{"id":"a","legs":{"A B":{}}}`, `{"id":"a","legs":{"anna":null}}`, `{"id":7}`} {
		if _, err := parse([]byte(s)); err == nil {
			t.Errorf("%q is a call", s)
		}
	}
	if _, _, err := (Record{}).Apply(Report{Users: []wire.User{"anna"}}); err == nil {
		t.Error("a call without an id")
	}
}

// TestFull: a call that rings at the maximum number of users, with the longest names and
// reported one by one, can be stored and read back; a report for one more user fails,
// but still applies to the others.
func TestFull(t *testing.T) {
	long := strings.Repeat("x", 59)
	text := strings.Repeat("é", call.MaxID)
	r := Record{}
	for i := range maxLegs {
		rings := report(time.Duration(i), call.Ringing, wire.User(fmt.Sprintf("%s%05d", long, i)))
		rings.Number, rings.Name, rings.Line, rings.Via, rings.Queue = text, text, text, text, text
		rings.Direction = call.Direction(min(i, 1)) // not the record's, for all but the first
		rings.Extension = strings.Repeat("1", maxPhone)
		answered := rings
		answered.State = call.Answered
		for _, report := range []Report{rings, answered} {
			var err error
			if r, _, err = r.Apply(report); err != nil {
				t.Fatal(err)
			}
		}
	}
	b := must.Get(json.Marshal(r))(t)
	if back, err := parse(b); err != nil || len(back.Legs) != maxLegs {
		t.Fatalf("%d bytes: %v", len(b), err)
	}
	first := wire.User(long + "00000")
	r, changed, err := r.Apply(report(time.Minute, call.Ended, "anna", first))
	if !changed || !errors.Is(err, ErrTooManyUsers) || r.Legs["anna"] != nil || r.Legs[first].State != "ended" {
		t.Errorf("one too many: changed %v, %v", changed, err)
	}
}
