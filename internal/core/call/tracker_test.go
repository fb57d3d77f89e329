package call

import (
	"cmp"
	"reflect"
	"strings"
	"testing"
	"time"
)

var (
	t0   = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	full = Source{Kind: KindWebSocket, Conn: "1", ReportLevel: AllStates}
	two  = Source{Kind: KindWebSocket, Conn: "2", ReportLevel: AllStates}
	bare = Source{Kind: "baresip", Conn: "127.0.0.1:4444", ReportLevel: AllStates}
	ring = Source{Kind: KindCommand, ReportLevel: RingOnly}
	url  = Source{Kind: KindURL, ReportLevel: RingOnly}
)

type step struct {
	after  time.Duration // since t0
	source Source
	id     string
	state  State
	number string
	want   ChangeKind
	call   ID // 0: not checked
}

// TestIdentity checks which reports belong to one call.
func TestIdentity(t *testing.T) {
	const a, b = "+31612345678", "+31201234567"
	s := time.Second
	stories := map[string][]step{
		"one call, whole life": {
			{0, full, "1", Ringing, a, Began, 1}, {s, full, "1", Ringing, a, NoChange, 1},
			{2 * s, full, "1", Answered, "", WasAnswered, 1}, {3 * s, full, "1", Answered, "", NoChange, 1}, {600 * s, full, "1", Ended, "", WasEnded, 1},
		},
		"an id is free after the end": {
			{0, full, "1", Ringing, a, Began, 1}, {s, full, "1", Ended, a, WasEnded, 1}, {2 * s, full, "1", Ringing, b, Began, 2},
		},
		"two ids on one way are two calls": {
			{0, full, "1", Ringing, a, Began, 1}, {0, full, "2", Ringing, a, Began, 2},
			{s, full, "1", Ended, a, WasEnded, 1}, {s, full, "2", Answered, a, WasAnswered, 2},
		},
		"the same id on another connection is another call": {
			{0, full, "1", Ringing, a, Began, 1}, {s, two, "1", Ringing, b, Began, 2}, {2 * s, two, "1", Ended, b, WasEnded, 2},
		},
		"passed on": {
			{0, full, "1", Ringing, a, Began, 1}, {s, full, "1", Answered, a, WasAnswered, 1}, {5 * s, full, "1", Answered, b, AnotherCaller, 1},
		},
		"passed on as it is answered": {
			{0, full, "1", Ringing, a, Began, 1}, {s, full, "1", Answered, b, AnotherCaller, 1},
		},
		"passed on to a withheld caller": {
			{0, full, "1", Ringing, a, Began, 1}, {s, full, "1", Ringing, "", AnotherCaller, 1},
		},
		"no id: the end after ten minutes finds its call": {
			{0, ring, "", Ringing, a, Began, 1}, {600 * s, ring, "", Ended, a, WasEnded, 1},
			{700 * s, url, "", Ringing, a, Began, 2}, {760 * s, url, "", Ended, a, WasEnded, 2},
		},
		"no id: an end without a number ends the only call": {
			{0, ring, "", Ringing, a, Began, 1}, {60 * s, ring, "", Ended, "host", WasEnded, 1},
		},
		"no id: only an end, and without a number, ends the only call": {
			{0, ring, "", Ringing, a, Began, 1}, {s, ring, "", Ended, b, NoChange, 0}, {2 * s, ring, "", Ringing, "", Began, 2},
		},
		"no id: an end without a number is dropped when there are two": {
			{0, ring, "", Ringing, a, Began, 1}, {s, ring, "", Ringing, b, Began, 2}, {60 * s, ring, "", Ended, "", NoChange, 0},
		},
		"ring-only: a ring within 15 s repeats": {
			{0, ring, "", Ringing, a, Began, 1}, {10 * s, ring, "", Ringing, a, NoChange, 1}, {24 * s, ring, "", Ringing, a, NoChange, 1},
		},
		"ring-only: a ring after 15 s is a new call": {
			{0, ring, "", Ringing, a, Began, 1}, {16 * s, ring, "", Ringing, a, Began, 2},
		},
		"a source that tells more repeats at any age": {
			{0, full, "", Ringing, a, Began, 1}, {40 * s, full, "", Ringing, a, NoChange, 1}, {6000 * s, full, "", Ringing, a, NoChange, 1},
			{6000 * s, full, "", Ended, a, WasEnded, 1}, {6000 * s, full, "", Ringing, a, Began, 2},
			{6000*s + AssumeEndedAfter, full, "", Ringing, a, Began, 3},
		},
		"two withheld rings without id are one caller": {
			{0, full, "", Ringing, "", Began, 1}, {3 * s, full, "", Ringing, "", NoChange, 1},
		},
		"two sources within 5 s are one call": {
			{0, bare, "x", Ringing, a, Began, 1}, {4 * s, ring, "", Ringing, a, SameCall, 1},
		},
		"two sources after 5 s are two calls": {
			{0, bare, "x", Ringing, a, Began, 1}, {6 * s, ring, "", Ringing, a, Began, 2},
		},
		"two callers behind one switchboard stay two": {
			{0, bare, "x", Ringing, a, Began, 1}, {s, bare, "y", Ringing, a, Began, 2}, {2 * s, ring, "", Ringing, a, Began, 3},
		},
		"a caller who rings again while they speak is one more call": {
			{0, bare, "x", Ringing, a, Began, 1}, {s, full, "1", Ringing, a, SameCall, 1}, {2 * s, bare, "x", Answered, a, WasAnswered, 1},
			{60 * s, bare, "y", Ringing, a, Began, 2}, {61 * s, full, "2", Ringing, a, SameCall, 2}, {70 * s, two, "3", Ringing, a, Began, 3},
		},
		"another source cannot end a call": {
			{0, bare, "x", Ringing, a, Began, 1}, {s, url, "", Ended, a, NoChange, 0}, {2 * s, bare, "x", Answered, a, WasAnswered, 1},
		},
		"a second source's end is not obeyed": {
			{0, bare, "x", Ringing, a, Began, 1}, {s, ring, "", Ringing, a, SameCall, 1}, {2 * s, ring, "", Ended, a, NoChange, 0}, {3 * s, bare, "x", Ended, a, WasEnded, 1},
		},
		"the source that tells more takes a merged call over": {
			{0, url, "", Ringing, a, Began, 1}, {s, bare, "x", Ringing, a, SameCall, 1}, {9 * s, bare, "x", Ended, a, WasEnded, 1},
		},
		"what is answered is no longer merged": {
			{0, bare, "x", Ringing, a, Began, 1}, {s, bare, "x", Answered, a, WasAnswered, 1}, {2 * s, full, "1", Ringing, a, Began, 2},
		},
		"an id of another source changes nobody": {
			{0, bare, "1", Ringing, a, Began, 1}, {s, full, "1", Answered, b, Began, 2},
		},
		"an end of nothing is dropped": {{0, full, "9", Ended, a, NoChange, 0}},
		"answered without any call":    {{0, ring, "", Answered, "", NoChange, 0}},
		"answered, with its id alone":  {{0, full, "9", Answered, "", Began, 1}, {s, full, "9", Ended, "", WasEnded, 1}},
		"a page takes no phone's call over, whatever it reports": {
			{0, url, "", Answered, b, Began, 1}, {s, url, "", Ended, b, WasEnded, 1},
			{2 * s, ring, "", Ringing, a, Began, 2}, {3 * s, url, "", Ringing, a, SameCall, 2}, {4 * s, ring, "", Ended, a, WasEnded, 2},
		},
		"a phone that only tells when a call is answered tells of the next one": {
			{0, url, "", Answered, a, Began, 1}, {10 * s, url, "", Answered, a, NoChange, 1}, {120 * s, url, "", Answered, a, Began, 2}, {121 * s, url, "", Answered, a, NoChange, 2},
			{200 * s, ring, "", Answered, "anonymous", Began, 3}, {260 * s, ring, "", Answered, "anonymous", Began, 4},
		},
		"ring-only: an answer after a ring belongs to it, however often it is told": {
			{0, ring, "", Ringing, a, Began, 1}, {60 * s, ring, "", Answered, a, WasAnswered, 1}, {600 * s, ring, "", Answered, a, NoChange, 1},
		},
	}
	for name, steps := range stories {
		t.Run(name, func(t *testing.T) {
			tr := NewTracker()
			for i, s := range steps {
				now := t0.Add(s.after)
				key := s.number
				key = cmp.Or(key, "withheld")
				got := tr.Apply(Event{Source: s.source, ID: s.id, State: s.state, Number: s.number, At: now}, key, now)
				if got.Kind != s.want || s.call != 0 && got.Call.ID != s.call {
					t.Fatalf("step %d: kind %d call %d, want %d call %d", i, got.Kind, got.Call.ID, s.want, s.call)
				}
			}
		})
	}
}

// TestACallBackIsAnother checks that a call back to the ringing
// number is a separate call, whichever is reported first.
func TestACallBackIsAnother(t *testing.T) {
	in, out := Event{Source: bare, ID: "x"}, Event{Source: full, ID: "1", Direction: Outgoing}
	for _, events := range [][]Event{{in, out}, {out, in}} {
		tr := NewTracker()
		for i, e := range events {
			e.Number, e.At = "+31612345678", t0
			if got := tr.Apply(e, e.Number, t0); got.Kind != Began || got.Call.ID != ID(i+1) {
				t.Errorf("%+v", got)
			}
		}
	}
}

// TestASecondSourceAddsWhatItKnows checks that a second source adds details and takes nothing away.
func TestASecondSourceAddsWhatItKnows(t *testing.T) {
	tr := NewTracker()
	tr.Apply(Event{Source: bare, ID: "x", Number: "1", Name: "first"}, "1", t0)
	got := tr.Apply(Event{Source: full, ID: "1", Number: "1", Name: "second", Line: "line", Via: "via", Queue: "queue"}, "1", t0)
	if c := got.Call; got.Kind != SameCall || c.Name != "first" || c.Line != "line" || c.Via != "via" || c.Queue != "queue" {
		t.Errorf("%+v", got)
	}
	tr = NewTracker()
	tr.Apply(Event{Source: bare, ID: "x", Number: "1"}, "1", t0)
	for _, e := range []Event{{Source: full, Name: "n"}, {Source: bare, Line: "l"}, {Source: bare, Via: "v"}, {Source: bare, Queue: "q"}, {Source: bare, Name: "m"}} {
		e.ID, e.Number = "x", "1"
		got = tr.Apply(e, "1", t0)
		if again := tr.Apply(e, "1", t0); got.Kind != SameCall || again.Kind != NoChange || got.Call.Name != cmp.Or(e.Name, "n") {
			t.Errorf("%+v: %+v, again %+v", e, got, again)
		}
	}
	if c := got.Call; c.Name != "m" || c.Line != "l" || c.Via != "v" || c.Queue != "q" {
		t.Errorf("%+v", got)
	}
}

// TestAnotherSourceTakesOver checks that a call whose source is gone goes on with
// another that reported it, if that can report more than the ring.
func TestAnotherSourceTakesOver(t *testing.T) {
	for _, c := range []struct {
		second   Source
		answered ChangeKind
		ended    ChangeKind
	}{{two, WasAnswered, WasEnded}, {url, NoChange, NoChange}} {
		tr := NewTracker()
		tr.Apply(Event{Source: full, ID: "x", Number: "1"}, "1", t0)
		tr.Apply(Event{Source: c.second, ID: "y", Number: "1"}, "1", t0)
		if got := tr.Apply(Event{Source: c.second, ID: "y", State: Answered}, "", t0); got.Kind != NoChange {
			t.Errorf("%s: taken from a source that is there: %+v", c.second.Kind, got)
		}
		tr.SourceGone(full)
		answered := tr.Apply(Event{Source: c.second, ID: "y", State: Answered}, "", t0)
		ended := tr.Apply(Event{Source: c.second, ID: "y", State: Ended}, "", t0)
		if answered.Kind != c.answered || ended.Kind != c.ended {
			t.Errorf("%s: %+v, %+v", c.second.Kind, answered, ended)
		}
	}
}

// TestLateReports checks that a report too late for a card goes to the live call
// if it can; otherwise it and all that follow make one call of the history.
func TestLateReports(t *testing.T) {
	tr := NewTracker()
	at := func(s int) time.Time { return t0.Add(time.Duration(s) * time.Second) }
	apply := func(from Source, id string, s State, n string, when, now int) Change {
		return tr.Apply(Event{Source: from, ID: id, State: s, Number: n, At: at(when)}, n, at(now))
	}
	late := apply(full, "1", Ringing, "1", 0, 61)
	if late.Kind != TooOld || late.Call.ID == 0 || !late.At.Equal(at(0)) {
		t.Fatalf("%+v", late)
	}
	if c := apply(full, "1", Ringing, "1", 3, 121); c.Call.ID != late.Call.ID {
		t.Errorf("it rings twice: %+v", c)
	}
	for _, c := range []Change{apply(full, "1", Answered, "", 5, 121), apply(full, "1", Ended, "", 90, 160)} {
		if c.Kind != TooOld || c.Call.ID != late.Call.ID || !c.Call.Answered.Equal(at(5)) {
			t.Errorf("%+v", c)
		}
	}
	if c := apply(full, "1", Ended, "", 91, 161); c.Kind != NoChange {
		t.Errorf("an end of nothing: %+v", c)
	}
	if c := apply(ring, "", Answered, "", 91, 161); c.Kind != NoChange {
		t.Errorf("nobody knows which call was answered: %+v", c)
	}
	for number, s := range map[string]State{"": Ringing, "6": Answered} {
		if c := apply(ring, "", s, number, 91, 161); c.Kind != TooOld {
			t.Errorf("number %q, without an id: %+v", number, c)
		}
	}
	if c := apply(full, "1", Ringing, "1", 100, 170); c.Kind != TooOld || c.Call.ID == late.Call.ID {
		t.Errorf("the id came again: %+v", c)
	}
	if c := apply(full, "1", Ringing, "2", 400, 500); c.Kind != TooOld || c.Call.Number != "2" || c.Call.Rang != at(400) {
		t.Errorf("long after an end was lost, it is another call: %+v", c)
	}
	on := apply(full, "7", Ringing, "3", 1000, 1000)
	if c := apply(full, "7", Ringing, "3", 900, 1001); c.Kind != TooOld {
		t.Errorf("before the call began: %+v", c)
	}
	if c := apply(full, "7", Ended, "", 1010, 1100); c.Kind != WasEnded || c.Call.ID != on.Call.ID || !c.At.Equal(at(1010)) {
		t.Errorf("the end of a live call came late: %+v", c)
	}
	if c := apply(full, "8", Ringing, "5", 1041, 1100); c.Kind != Began {
		t.Errorf("just in time: %+v", c)
	}
	for i := range 10 * maxLate {
		apply(full, time.Duration(i).String(), Ringing, "4", 2000, 3000)
	}
	if tr.Len() != 1 || len(tr.late) > maxLate {
		t.Errorf("%d calls, %d late ones", tr.Len(), len(tr.late))
	}
}

// TestHeardOfLate checks that an ongoing call that is reported late is one call with its
// true times, however long ago it began, and the same call as another source reports.
func TestHeardOfLate(t *testing.T) {
	tr := NewTracker()
	at := func(s int) time.Time { return t0.Add(time.Duration(s) * time.Second) }
	apply := func(from Source, id string, s State, since, now int) Change {
		return tr.Apply(Event{Source: from, ID: id, State: s, Number: "1", At: at(now), StateSince: at(since)}, "1", at(now))
	}
	if c := apply(full, "1", Ringing, 0, 300); c.Kind != Began || c.Call.Rang != at(0) {
		t.Errorf("%+v", c)
	}
	if c := apply(two, "2", Ringing, 3, 301); c.Kind != SameCall {
		t.Errorf("another source heard it too: %+v", c)
	}
	if c := apply(full, "1", Answered, 20, 302); c.Kind != WasAnswered || c.Call.Answered != at(20) {
		t.Errorf("%+v", c)
	}
	if c := apply(full, "3", Answered, 40, 303); c.Kind != Began || c.Call.Answered != at(40) {
		t.Errorf("%+v", c)
	}
	if c := apply(full, "4", Ringing, 400, 304); c.Kind != Began || c.Call.Rang != at(304) {
		t.Errorf("one that has not begun: %+v", c)
	}
}

// TestSourcesShowWhatTheyReport checks that a source that declares ring only counts
// for more once it has reported more, and that answers without an end do not count.
func TestSourcesShowWhatTheyReport(t *testing.T) {
	tr := NewTracker()
	shows := func(want ReportLevel, states ...State) {
		t.Helper()
		var c Change
		for _, s := range states {
			c = tr.Apply(Event{Source: ring, State: s, Number: "1"}, "1", t0)
		}
		if got := c.Call.ReportLevel; got != want {
			t.Errorf("%d, want %d", got, want)
		}
	}
	shows(RingOnly, Ringing, Answered)
	shows(AllStates, Ended)
	shows(AllStates, Ringing) // the next call
	shows(AllStates, Ended, Answered)
	tr = NewTracker()
	shows(RingAndEnd, Ringing, Ended)
	shows(RingAndEnd, Ringing)
	if got := tr.Apply(Event{Source: bare, ID: "x", Number: "1"}, "1", t0); got.Kind != SameCall || got.Call.Source != bare || got.Call.ReportLevel != AllStates {
		t.Errorf("a source that reports more joins: %+v", got)
	}
}

// TestFloodIsBounded checks that a flood is bounded and ends no call of a source of another kind.
func TestFloodIsBounded(t *testing.T) {
	tr := NewTracker()
	tr.Apply(Event{Source: bare, ID: "x", Number: "1"}, "1", t0)
	for i := range 10_000 {
		id := time.Duration(i).String()
		tr.Apply(Event{Source: Source{Kind: KindWebSocket, Conn: id}, ID: id, State: State(i % 2), Number: id}, id, t0)
	}
	if tr.Len() > maxLive || len(tr.learned) > 4*maxLive {
		t.Fatalf("%d calls, %d sources remembered", tr.Len(), len(tr.learned))
	}
	if got := tr.Apply(Event{Source: bare, ID: "x", State: Ended}, "1", t0); got.Kind != WasEnded {
		t.Errorf("the flood ended another call: %+v", got)
	}
	last := time.Duration(9_999).String()
	if got := tr.Apply(Event{Source: Source{Kind: KindWebSocket, Conn: last}, ID: last, State: Ended}, last, t0); got.Kind != WasEnded {
		t.Errorf("the flood ended its newest call: %+v", got)
	}
}

// TestClean checks that no text of a report reaches a card unfiltered.
func TestClean(t *testing.T) {
	var e Event
	v := reflect.ValueOf(&e).Elem()
	for i := range v.NumField() {
		if f := v.Field(i); f.Kind() == reflect.String {
			f.SetString("\u202e" + strings.Repeat("1", 2*MaxName))
		}
	}
	e = e.Clean()
	for i := range v.NumField() {
		if f := v.Field(i); f.Kind() == reflect.String && (f.Len() == 0 || f.Len() > MaxName || strings.Contains(f.String(), "\u202e")) {
			t.Errorf("%s has %d bytes: %q", v.Type().Field(i).Name, f.Len(), f)
		}
	}
}

func TestCleanText(t *testing.T) {
	for in, want := range map[string]string{
		"J. de Vries":                  "J. de Vries",
		"  two\t spaces \n":            "two spaces",
		"\u202eevil\u202c":             "evil",
		"a\x00b\x1b[31m":               "ab[31m",
		"caf\xe9":                      "caf",
		"Zoë 😀":                        "Zoë 😀",
		strings.Repeat("é", 200):       strings.Repeat("é", 32),
		"\u200f\u200e\ufeff":           "",
		"+31612345678":                 "+31612345678",
		strings.Repeat("x", 63) + " y": strings.Repeat("x", 63),
	} {
		if got := CleanText(in, 64); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

// TestNobodyPassesACallOnToHimself: an exchange names the previous
// party of the call, which is sometimes also the present one.
func TestNobodyPassesACallOnToHimself(t *testing.T) {
	for via, want := range map[string]string{"Bob (12)": "Bob (12)", "11": "", "Anna": "", "Anna (11)": "", "Anna (12)": "Anna (12)"} {
		tr := NewTracker()
		tr.Apply(Event{Source: full, ID: "1", Number: "11", Name: "Anna"}, "11", t0)
		if got := tr.Apply(Event{Source: full, ID: "1", Number: "11", Via: via}, "11", t0); got.Call.Via != want {
			t.Errorf("%q: passed on by %q", via, got.Call.Via)
		}
	}
}
