package history

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/core/phone"
	"wiebelt/internal/store/sqlitefile"
	"wiebelt/internal/testutil/clocktest"
	"wiebelt/internal/testutil/must"
)

func reader(t *testing.T, path string) *Reader {
	t.Helper()
	r := must.Get(OpenReadOnly(t.Context(), path))(t)
	t.Cleanup(func() { _ = r.Close() })
	return r
}

func ids(es []Entry) []int64 {
	all := []int64{}
	for _, e := range es {
		all = append(all, e.ID)
	}
	return all
}

// TestWalk checks that walking along a list returns every call once, in order, in every
// view, from both ends, even where many rang at the same moment.
func TestWalk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h.db")
	s := open(t, path, KeepFull, clocktest.New(monday.Add(time.Hour)))
	results := []string{ResultAnswered, ResultMissed, ResultAnsweredElsewhere, ResultNotHere, ResultUnknown}
	var want []Entry
	for i := range 60 {
		e := known(monday.Add(time.Duration(i/7) * time.Second)) // seven at a time
		e.Result, e.Outgoing, e.Number = results[i%5], i%10 == 3, fmt.Sprintf("+3161234%04d", i)
		e.ID = put(t, s, e)
		if i%2 == 0 && e.Missed() {
			must.Do(t, s.Handle(t.Context(), e.ID))
			e.HandledAt = monday
		}
		want = append([]Entry{e}, want...)
	}
	r := reader(t, path)
	var open []Entry
	for _, e := range want {
		if e.Open() {
			open = append(open, e)
		}
	}
	if got, err := r.UnhandledCalls(t.Context(), 4); err != nil || len(open) < 5 || !slices.Equal(ids(got), ids(open[:4])) {
		t.Errorf("open: %v, %v, want the first of %v", ids(got), err, ids(open))
	}
	for name, tt := range map[string]struct {
		q  Query
		in func(Entry) bool
	}{
		"all": {Query{}, func(e Entry) bool { return !e.Open() }},
		"mine": {Query{View: ViewMine}, func(e Entry) bool {
			return !e.Open() && (e.Outgoing || e.Result != ResultAnsweredElsewhere && e.Result != ResultNotHere)
		}},
		"missed":   {Query{View: ViewMissedHandled}, func(e Entry) bool { return e.Missed() && !e.Open() }},
		"others":   {Query{View: ViewElsewhere}, func(e Entry) bool { return !e.Outgoing && e.Result == ResultAnsweredElsewhere }},
		"unsure":   {Query{View: ViewUnsure}, func(e Entry) bool { return !e.Outgoing && (e.Result == ResultNotHere || e.Result == ResultUnknown) }},
		"filtered": {Query{Filter: "de vries 0612340"}, func(e Entry) bool { return !e.Open() }},
		"one":      {Query{Filter: "12340017"}, func(e Entry) bool { return strings.HasSuffix(e.Number, "0017") }},
		"none":     {Query{Filter: "zzz"}, func(Entry) bool { return false }},
	} {
		var list []Entry
		for _, e := range want {
			e.NumberDisplay = "06 12 34 " + e.Number[8:10] + " " + e.Number[10:12]
			if tt.in(e) {
				list = append(list, e)
			}
		}
		if name == "filtered" { // NumberDisplay is the same everywhere, the number is not
			tt.q.Filter = "de vries 61234"
		}
		t.Run(name, func(t *testing.T) {
			got, err := r.Page(t.Context(), tt.q, 0, 7)
			must.Do(t, err)
			for len(got) > 0 && len(got) < 100 {
				more := must.Get(r.Page(t.Context(), tt.q, len(got), 7))(t)
				if len(more) == 0 {
					break
				}
				got = append(got, more...)
			}
			if !slices.Equal(ids(got), ids(list)) {
				t.Fatalf("down: %v\nwant %v", ids(got), ids(list))
			}
			for _, span := range []int{1, 7, 59, 60, 1000} {
				var parts []Entry
				for next := (Place{}); ; {
					some, after, err := r.Part(t.Context(), tt.q, next, span, 1000)
					must.Do(t, err)
					parts = append(parts, some...)
					if next = after; next == (Place{}) {
						break
					}
				}
				if !slices.Equal(ids(parts), ids(list)) {
					t.Fatalf("in parts of %d: %v\nwant %v", span, ids(parts), ids(list))
				}
			}
			all, since, err := r.Count(t.Context(), tt.q, Place{}, monday.Add(4*time.Second))
			wantSince := 0
			for i, e := range list {
				if !e.Rang.Before(monday.Add(4 * time.Second)) {
					wantSince++
				}
				sinceAfter := 0
				for _, o := range list[i+1:] {
					if !o.Rang.Before(monday.Add(4 * time.Second)) {
						sinceAfter++
					}
				}
				after, newer, err := r.Count(t.Context(), tt.q, e.Place(), monday.Add(4*time.Second))
				if err != nil || after != len(list)-1-i || newer != sinceAfter {
					t.Fatalf("%d and %d calls after number %d, %v, want %d and %d", after, newer, i, err, len(list)-1-i, sinceAfter)
				}
				from, err := r.Page(t.Context(), tt.q, i, 3)
				if err != nil || !slices.Equal(ids(from), ids(list[i:min(len(list), i+3)])) {
					t.Fatalf("from %d: %v, %v", i, ids(from), err)
				}
			}
			if err != nil || all != len(list) || since != wantSince {
				t.Errorf("counts %d and %d, %v, want %d and %d", all, since, err, len(list), wantSince)
			}
		})
	}
}

func TestFilter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h.db")
	s := open(t, path, KeepFull, clocktest.New(monday))
	e := known(monday)
	e.Name = "Ş.Ö. Müller-İpek"
	put(t, s, e)
	text := Entry{Rang: monday, Number: "text:receptie", NumberDisplay: "receptie"}
	put(t, s, text)
	r := reader(t, path)
	for filter, want := range map[string]int{
		"": 2, "   ": 2, "-": 2, "müller": 1, "MULLER": 1, "s.o.": 1, "ipek": 1, "schade": 1, "leven": 0, "receptie": 1,
		"0612": 1, "06-12 34": 1, "+31612": 1, "31 6 12345678": 1, "(06) 12.34": 1, "612345679": 0, "100200": 1, "100 200": 1, "020 123": 1,
		"muller 0612": 1, "0612 muller": 1, "12 muller 06": 1, "x0612": 0, "muller 0613": 0, "muller jansen": 0, "1": 1, "9": 0, "%": 0, "_": 0, "'": 0, "\"": 0, "\\": 0,
		"\x00": 2, "\xff": 2, "\n": 2, "a\nb": 0, strings.Repeat("muller ", 500): 1, strings.Repeat("x", 10000): 0,
	} {
		got, err := r.Page(t.Context(), Query{Filter: filter}, 0, 10)
		if err != nil || len(got) != want {
			t.Errorf("%.30q found %d, %v, want %d", filter, len(got), err, want)
		}
	}
	if HasTerms(" - ") || !HasTerms("x") {
		t.Error("HasTerms")
	}
}

// TestTickOff checks that a missed call is ticked off only by a later call in which its
// caller was spoken to or called back, and that only unticked calls count, once per caller.
func TestTickOff(t *testing.T) {
	at := func(minute int, number, result string) Entry {
		e := known(monday.Add(time.Duration(minute) * time.Minute))
		e.Number, e.Result, e.Answered = number, result, time.Time{}
		return e
	}
	out := func(e Entry) Entry { e.Outgoing = true; return e }
	talking := func(e Entry) Entry { e.Answered = e.Rang; return e }
	const a, b = "+31612345678", "+31201234567"
	tests := []struct {
		name        string
		put         []Entry
		callers, of int // from this many calls
	}{
		{"the four are four", []Entry{at(0, a, ResultMissed), at(0, b, ResultAnsweredElsewhere), at(0, "+31201234568", ResultNotHere), at(0, "+31201234569", ResultUnknown)}, 1, 1},
		{"called back", []Entry{at(0, a, ResultMissed), out(at(1, a, ResultNotHere))}, 0, 0},
		{"rang again and was answered", []Entry{at(0, a, ResultMissed), at(1, a, ResultMissed), at(2, a, ResultAnswered)}, 0, 0},
		{"rings again now", []Entry{at(0, a, ResultMissed), at(1, a, ResultLive)}, 1, 1},
		{"and is spoken to", []Entry{at(0, a, ResultMissed), talking(at(1, a, ResultLive))}, 0, 0},
		{"a colleague took the second", []Entry{at(0, a, ResultMissed), at(1, a, ResultAnsweredElsewhere)}, 0, 0},
		{"nobody knows who took the second", []Entry{at(0, a, ResultMissed), at(1, a, ResultNotHere), at(2, a, ResultUnknown)}, 1, 1},
		{"refused meanwhile", []Entry{at(0, a, ResultMissed), at(1, a, ResultRejected)}, 1, 1},
		{"missed again: one to call back", []Entry{at(0, a, ResultMissed), at(1, a, ResultMissed)}, 1, 2},
		{"somebody else", []Entry{at(0, a, ResultMissed), at(1, b, ResultAnswered)}, 1, 1},
		{"before", []Entry{at(1, a, ResultMissed), at(0, a, ResultAnswered)}, 1, 1},
		{"reported late", []Entry{at(1, a, ResultAnswered), at(0, a, ResultMissed)}, 0, 0},
		{"reported late, and missed again", []Entry{at(1, a, ResultMissed), at(0, a, ResultMissed)}, 1, 2},
		{"outgoing and not taken", []Entry{out(at(0, a, ResultMissed))}, 0, 0},
		{"withheld is not one caller", []Entry{at(0, "", ResultMissed), at(1, "", ResultMissed), at(2, "", ResultAnswered)}, 2, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "h.db")
			s := open(t, path, KeepFull, clocktest.New(monday))
			for _, e := range tt.put {
				put(t, s, e)
			}
			for _, when := range []string{"at once", "after a restart"} {
				calls := must.Get(reader(t, path).UnhandledCalls(t.Context(), 10))(t)
				if n := s.Missed(); n != tt.callers || len(calls) != tt.of {
					t.Errorf("%s: %d to call back of %d calls, want %d of %d", when, n, len(calls), tt.callers, tt.of)
				}
				must.Do(t, s.Close())
				s = open(t, path, KeepFull, clocktest.New(monday))
			}
			for _, e := range must.Get(reader(t, path).UnhandledCalls(t.Context(), 10))(t) {
				must.Do(t, s.HandleNumber(t.Context(), e.Number))
				if e.Number == "" {
					must.Do(t, s.Handle(t.Context(), e.ID))
				}
			}
			if n := s.Missed(); n != 0 {
				t.Errorf("%d after they were ticked off", n)
			}
		})
	}
}

// TestPutKeepsWhatTheUserSaid checks that a call stays ticked off, and its person rejected,
// through further reports of the call, and that both can be undone. A call passed on to somebody
// else has a new person. The card can withdraw what it itself reported about the person.
func TestPutKeepsWhatTheUserSaid(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "h.db"), KeepFull, clocktest.New(monday))
	e := known(monday)
	e.Result = ResultMissed
	e.ID = put(t, s, e)
	must.Do(t, s.Handle(t.Context(), e.ID))
	was, err := s.RemovePerson(t.Context(), e.ID)
	if err != nil || was.ContactID != "c-100200" {
		t.Fatalf("%+v, %v", was, err)
	}
	put(t, s, e)
	got, err := s.Get(t.Context(), e.ID)
	if err != nil || !got.PersonRejected || got.HandledAt.IsZero() || !same(got.withoutFile(), got) || got.Name != e.Name {
		t.Errorf("%+v, %v", got, err)
	}
	other := e
	other.Number, other.Name = "+31201234567", "A. Ander"
	put(t, s, other)
	if got := must.Get(s.Get(t.Context(), e.ID))(t); got.PersonRejected || got.Name != other.Name || got.Link != other.Link {
		t.Errorf("passed on: %+v", got)
	}
	put(t, s, e)
	must.Get(s.RemovePerson(t.Context(), e.ID))(t)
	must.Do(t, s.UndoHandle(t.Context(), e.ID))
	must.Do(t, s.SetPerson(t.Context(), was))
	if got, err := s.Get(t.Context(), e.ID); err != nil || got.PersonRejected || !got.Open() || got.ContactID != e.ContactID ||
		s.Missed() != 1 {
		t.Errorf("taken back: %+v, %v", got, err)
	}
	denied := e
	denied.PersonRejected = true
	put(t, s, denied)
	if got, err := s.Get(t.Context(), e.ID); err != nil || !got.PersonRejected || got.ContactID != "" || got.Name != e.Name {
		t.Errorf("said on the card: %+v, %v", got, err)
	}
	put(t, s, e)
	if got, err := s.Get(t.Context(), e.ID); err != nil || got.PersonRejected || got.ContactID != e.ContactID {
		t.Errorf("taken back on the card: %+v, %v", got, err)
	}
	must.Get(s.Remove(t.Context(), e.ID))(t)
	if _, err := s.Remove(t.Context(), e.ID); !errors.Is(err, ErrGone) {
		t.Errorf("removed twice: %v", err)
	}
	if _, err := s.Put(t.Context(), e); !errors.Is(err, ErrGone) {
		t.Errorf("a removed call came back: %v", err)
	}
	if _, err := s.RemovePerson(t.Context(), e.ID); !errors.Is(err, ErrGone) {
		t.Errorf("TakeOff of what is gone: %v", err)
	}
	given, up := context.WithCancel(t.Context())
	up()
	if _, err := s.Put(given, known(monday)); err == nil {
		t.Error("written for nobody")
	}
	wantState(t, s, FaultNone, NoticeNone)
}

// TestPutLosesNobody checks that a known caller stays in the history when less is known
// later: the hub does not answer when the card is shown again, or nobody was chosen on it.
func TestPutLosesNobody(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "h.db"), KeepFull, clocktest.New(monday))
	chosen := known(monday)
	chosen.Matches, chosen.Outcome = 3, OutcomeSeveral
	several := chosen.withoutPerson()
	failed := several
	failed.Matches, failed.Outcome = 0, OutcomeFailed
	first, nobody, another, named := failed, several, chosen, failed
	first.Outcome, nobody.Matches, nobody.Outcome, another.ContactID, named.Name = "", 0, OutcomeNobody, "c-9", "A. Ander"
	denied := several
	denied.PersonRejected, denied.Name = true, "A. Ander"
	other := several
	other.Number = "+31201234567"
	for _, c := range []struct {
		what           string
		was, put, want Entry
	}{
		{"nobody is chosen", chosen, several, chosen},
		{"one was chosen, and the hub is away", chosen, failed, chosen},
		{"several, and the hub is away", several, failed, several},
		{"taken off, and the hub is away", denied, failed, denied},
		{"the hub is back", failed, several, several},
		{"the hub is away from the first", first, failed, failed},
		{"the phone tells a name while the hub is away", failed, named, named},
		{"nobody, and then some", nobody, several, several},
		{"another one is chosen", chosen, another, another},
		{"taken off", chosen, denied, denied},
		{"passed on", chosen, other, other},
	} {
		c.put.ID = put(t, s, c.was)
		put(t, s, c.put)
		got := must.Get(s.Get(t.Context(), c.put.ID))(t)
		if c.want.ID, got.rejectedBy = got.ID, 0; !same(got, c.want) {
			t.Errorf("%s: %+v, want %+v", c.what, got, c.want)
		}
	}
	several.ID = put(t, s, several)
	chosen.ID = several.ID
	must.Do(t, s.SetPerson(t.Context(), chosen)) // in the calls window
	put(t, s, several)                           // at the end of the call
	if got := must.Get(s.Get(t.Context(), chosen.ID))(t); !same(got, chosen) {
		t.Errorf("chosen while it went on: %+v", got)
	}
}

// TestMigratesTheFirstVersion checks that a file of the
// first version is migrated completely and can be searched.
func TestMigratesTheFirstVersion(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h.db")
	db, err := sql.Open("sqlite", path)
	must.Do(t, err)
	must.Get(db.Exec(migrations[0].SQL + "; PRAGMA user_version = 1;"))(t)
	tx := must.Get(db.BeginTx(t.Context(), nil))(t)
	for i := range 1200 {
		_, err := tx.Exec(`INSERT INTO calls (rang, answered, ended, outgoing, kind, number, shown, line, line_number,
			name, contact_id, relation_number, link, matches, outcome, result) VALUES (?, 0, 0, 0, 'ari', ?, '', '', '', ?, '', '', '', 0, '', 'missed')`,
			sqlitefile.Micros(monday)+int64(i), fmt.Sprint("+316", 10000000+i), fmt.Sprint("Müller ", i))
		must.Do(t, err)
	}
	must.Do(t, tx.Commit(), db.Close())
	s := open(t, path, KeepFull, clocktest.New(monday))
	if n := s.Missed(); n != 1200 {
		t.Errorf("%d missed calls of 1200", n)
	}
	all, err := reader(t, path).UnhandledCalls(t.Context(), 1200)
	if err != nil || len(all) != 1200 {
		t.Fatalf("%d, %v", len(all), err)
	}
	must.Do(t, s.change(t.Context(), func(tx *sql.Tx, _ Keep) error {
		_, err := tx.Exec(`UPDATE calls SET handled = 1`)
		return err
	}))
	for filter, want := range map[string]int{"muller": 1200, "muller 1199": 1, "10000042": 1} {
		if n, _, err := reader(t, path).Count(t.Context(), Query{Filter: filter}, Place{}, monday); n != want || err != nil {
			t.Errorf("%q: %d, %v, want %d", filter, n, err, want)
		}
	}
}

// TestNamesInPlaceOfNumbers checks that what a phone sent instead of a number counts as a
// name, and so does a colleague's: with KeepNumbers no file contains it, neither for new
// calls nor for those stored with names before.
func TestNamesInPlaceOfNumbers(t *testing.T) {
	n := phone.DefaultRules().Parse("sip:jan.kanarie@pbx.example", "")
	if n.Kind != phone.NoNumber || n.Key() == nameMark {
		t.Fatalf("%+v", n)
	}
	path := filepath.Join(t.TempDir(), "history.db")
	c := clocktest.New(monday)
	s := open(t, path, KeepFull, c)
	put := func() int64 {
		t.Helper()
		c.Forward(time.Minute)
		return must.Get(s.Put(t.Context(), Entry{Number: n.Key(), NumberDisplay: n.Display(), Rang: c.Now(), Result: ResultMissed}))(t)
	}
	passedOn := Entry{Number: "+31612345678", Via: "jan kanarie (101)", AnsweredBy: "kanarie", Rang: monday, Result: ResultAnsweredElsewhere}
	passedOn.ID = must.Get(s.Put(t.Context(), passedOn))(t)
	put()
	put()
	if m := s.Missed(); m != 1 {
		t.Errorf("the same caller twice: %d missed", m)
	}
	must.Do(t, s.Configure(t.Context(), KeepNumbers, 7))
	put()
	put()
	if m := s.Missed(); m != 4 { // it is unknown whether they are from one caller
		t.Errorf("callers without a number: %d missed", m)
	}
	if e, err := s.Get(t.Context(), passedOn.ID); err != nil || e.Via != "101" || e.AnsweredBy != "" {
		t.Errorf("%+v, %v", e, err)
	}
	for id := passedOn.ID + 1; id <= passedOn.ID+4; id++ {
		if e, err := s.Get(t.Context(), id); err != nil || e.Number != nameMark || e.NumberDisplay != "" || e.Fits("kanarie") {
			t.Errorf("%+v, %v", e, err)
		}
	}
	for _, p := range []string{path, path + "-wal"} {
		if b, err := os.ReadFile(p); err != nil || bytes.Contains(b, []byte("kanarie")) {
			t.Errorf("%s holds the name (%v)", filepath.Base(p), err)
		}
	}
}

// TestIncomingAndLastByKind checks the queries over whole days: how many
// calls came in, and when the last one did for each kind of source.
// Outgoing calls do not count, as they do not show that calls reach us.
func TestIncomingAndLastByKind(t *testing.T) {
	c := clocktest.New(time.Date(2026, 11, 20, 18, 0, 0, 0, time.Local))
	s := open(t, filepath.Join(t.TempDir(), "history.db"), KeepNumbers, c)
	at := func(day, hour int) time.Time { return time.Date(2026, 11, day, hour, 0, 0, 0, time.Local) }
	for _, e := range []Entry{
		{Rang: at(18, 10), Kind: "http"}, {Rang: at(19, 0), Kind: "http"}, {Rang: at(19, 11), Kind: "baresip"},
		{Rang: at(19, 12), Kind: "baresip", Outgoing: true}, {Rang: at(19, 23), Kind: "http"}, {Rang: at(20, 0), Kind: "command"},
	} {
		e.Number, e.Result = "+31612345678", ResultUnknown
		must.Get(s.Put(t.Context(), e))(t)
	}
	for day, want := range map[int]int{17: 0, 18: 1, 19: 3, 20: 1} {
		if n, err := s.CountIncoming(t.Context(), at(day, 0), at(day+1, 0)); n != want || err != nil {
			t.Errorf("day %d: %d calls, %v; want %d", day, n, err, want)
		}
	}
	last, err := s.LastByKind(t.Context())
	if err != nil || len(last) != 3 || !last["http"].Equal(at(19, 23)) || !last["baresip"].Equal(at(19, 11)) || !last["command"].Equal(at(20, 0)) {
		t.Errorf("%v, %v", last, err)
	}
}

// seed creates a history of n calls, one per minute.
func seed(tb testing.TB, path string, n int) {
	tb.Helper()
	s := must.Get(Open(path, KeepFull, 365, time.Now))(tb)
	id, err := s.Put(context.Background(), known(time.Now()))
	must.Do(tb, err)
	_, err = s.db.Exec(`WITH RECURSIVE i(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM i WHERE n < ?)
		INSERT INTO calls (`+writtenColumns+`) SELECT rang - n * 60000000, answered, ended, outgoing, kind, printf('+316%08d', n), printf('06 %08d', n),
			line, line_number, via, char(65 + n % 26) || '. ' || name, contact_id, relation_number, link, matches, outcome, result, handled, taken_off, taken_by,
			char(97 + n % 26) || printf('. de vries%s316%08d', char(10), n) || char(10) || 'schade' || char(10) || '0201234567'
		FROM i, calls WHERE id = ?`, n-1, id)
	must.Do(tb, err)
	must.Do(tb, s.Close())
}

// BenchmarkLists measures the list queries with 100,000 calls.
func BenchmarkLists(b *testing.B) {
	path := filepath.Join(b.TempDir(), "h.db")
	seed(b, path, 100_000)
	s := must.Get(Open(path, KeepFull, 365, time.Now))(b)
	defer s.Close()
	r := must.Get(OpenReadOnly(b.Context(), path))(b)
	defer r.Close()
	ctx := context.Background()
	first, err := r.Page(ctx, Query{}, 0, 1)
	must.Do(b, err)
	gone := int64(0)
	for _, bb := range []struct {
		name string
		f    func() error
	}{
		{"newest", func() error { _, err := r.Page(ctx, Query{}, 0, 300); return err }},
		{"jump", func() error { _, err := r.Page(ctx, Query{}, 90_000, 300); return err }},
		{"filter, many", func() error { _, err := r.Page(ctx, Query{Filter: "vries"}, 0, 300); return err }},
		{"filter, none", func() error { _, err := r.Page(ctx, Query{Filter: "zzz"}, 0, 300); return err }},
		{"filter, two words", func() error { _, err := r.Page(ctx, Query{Filter: "vries 0612"}, 0, 300); return err }},
		{"mine", func() error { _, err := r.Page(ctx, Query{View: ViewMine}, 0, 300); return err }},
		{"count all", func() error { _, _, err := r.Count(ctx, Query{}, Place{}, first[0].Rang); return err }},
		{"count filter", func() error { _, _, err := r.Count(ctx, Query{Filter: "vries"}, Place{}, first[0].Rang); return err }},
		{"put", func() error { _, err := s.Put(ctx, known(time.Now())); return err }},
		{"remove", func() error { gone++; _, err := s.Remove(ctx, gone); return err }},
	} {
		b.Run(bb.name, func(b *testing.B) {
			for b.Loop() {
				must.Do(b, bb.f())
			}
		})
	}
}
