package history

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"wiebelt/internal/core/call"
	"wiebelt/internal/testutil/clocktest"
	"wiebelt/internal/testutil/must"
)

var monday = time.Date(2026, 9, 14, 10, 42, 3, 0, time.Local)

func known(rang time.Time) Entry {
	return Entry{
		Rang: rang, Answered: rang.Add(4 * time.Second), Ended: rang.Add(2 * time.Minute), Kind: "baresip",
		Number: "+31612345678", NumberDisplay: "06 12 34 56 78", Line: "Schade", LineNumber: "020 123 45 67",
		Name: "J. de Vries", ContactID: "c-100200", RelationNumber: "100200",
		Link: "https://hub.example/contacts/viewcontact/c-100200", Matches: 1,
		Outcome: OutcomeFound, Result: ResultAnswered,
	}
}

func open(t *testing.T, path string, keep Keep, c *clocktest.Clock) *Store {
	t.Helper()
	s := must.Get(Open(path, keep, 7, c.Now))(t)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func put(t *testing.T, s *Store, e Entry) int64 {
	t.Helper()
	return must.Get(s.Put(t.Context(), e))(t)
}

func read(t *testing.T, path string) []Entry {
	t.Helper()
	r := must.Get(OpenReadOnly(t.Context(), path))(t)
	defer r.Close()
	work := must.Get(r.UnhandledCalls(t.Context(), 100_000))(t)
	rest := must.Get(r.Page(t.Context(), Query{}, 0, 100_000))(t)
	all := append(work, rest...)
	slices.SortFunc(all, func(a, b Entry) int { return cmp.Or(b.Rang.Compare(a.Rang), cmp.Compare(b.ID, a.ID)) })
	return all
}

func same(a, b Entry) bool {
	if !a.Rang.Equal(b.Rang) || !a.Answered.Equal(b.Answered) || !a.Ended.Equal(b.Ended) || !a.HandledAt.Equal(b.HandledAt) {
		return false
	}
	a.Rang, a.Answered, a.Ended, a.HandledAt = b.Rang, b.Answered, b.Ended, b.HandledAt
	return a == b
}

func TestPutAndRead(t *testing.T) {
	defer goleak.VerifyNone(t)
	path := filepath.Join(t.TempDir(), "a folder with ? # % and é", "history.db")
	s := open(t, path, KeepFull, clocktest.New(monday))
	defer s.Close()
	first := known(monday)
	first.Answered, first.Ended, first.Result = time.Time{}, time.Time{}, ResultLive
	first.ID = put(t, s, first)
	second := known(monday.Add(time.Minute))
	second.Outgoing, second.Name = true, "“Ünïcode” 'quote' \x00nul"
	second.ID = put(t, s, second)

	first.Result, first.Ended, first.HandledAt = ResultMissed, monday.Add(9*time.Second), monday // by the second
	if id := put(t, s, first); id != first.ID {
		t.Errorf("update gave id %d, want %d", id, first.ID)
	}
	got := read(t, path)
	if len(got) != 2 || !same(got[0], second) || !same(got[1], first) {
		t.Errorf("read %+v\nwant the newest first: %+v, %+v", got, second, first)
	}
	e, err := s.Get(t.Context(), first.ID)
	if err != nil || !same(e, first) {
		t.Errorf("Get = %+v, %v", e, err)
	}
	if _, err := s.Get(t.Context(), 999); !errors.Is(err, ErrGone) {
		t.Errorf("Get of an unknown id: %v, want ErrGone", err)
	}
}

// TestKeep: no more of a call is kept than what is allowed, and no person with a number
// that is withheld. TestConfigure keeps nothing.
func TestKeep(t *testing.T) {
	passedOn := func(e Entry, via, by string) Entry { e.Via, e.AnsweredBy = via, by; return e }
	noPerson := known(monday).withoutPerson()
	withheld := func(e Entry) Entry { e.Number, e.NumberDisplay = "", ""; return e }
	for _, tt := range []struct {
		keep      Keep
		put, want Entry
	}{
		{KeepFull, known(monday), known(monday)},
		{KeepNumbers, known(monday), noPerson},
		{KeepNumbers, passedOn(known(monday), "Receptie (101)", "J. Kanarie"), passedOn(noPerson, "101", "")},
		{KeepNumbers, passedOn(known(monday), "Kanarie 2", "+31201234567"), passedOn(noPerson, "", "+31201234567")},
		{KeepNumbers, passedOn(known(monday), "102", "Jan (P.) Kanarie (zolder)"), passedOn(noPerson, "102", "")},
		{KeepFull, passedOn(known(monday), "Receptie (101)", "J. Kanarie"), passedOn(known(monday), "Receptie (101)", "J. Kanarie")},
		{KeepFull, withheld(known(monday)), withheld(noPerson)},
	} {
		path := filepath.Join(t.TempDir(), "h.db")
		tt.want.ID = put(t, open(t, path, tt.keep, clocktest.New(monday)), tt.put)
		if got := read(t, path); len(got) != 1 || !same(got[0], tt.want) {
			t.Errorf("%s: kept %+v\nwant %+v", tt.keep, got, tt.want)
		}
	}
}

func TestPurge(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h.db")
	c := clocktest.New(monday)
	s := open(t, path, KeepFull, c)
	old := known(monday)
	oldID := put(t, s, old)
	c.Forward(6 * 24 * time.Hour)
	put(t, s, known(c.Now()))
	if n := len(read(t, path)); n != 2 {
		t.Fatalf("%d entries after six days, want 2", n)
	}
	c.Forward(25 * time.Hour) // the next Put purges
	put(t, s, known(c.Now()))
	if got := read(t, path); len(got) != 2 {
		t.Errorf("%d entries after the purge, want 2", len(got))
	}

	old.ID = oldID
	if _, err := s.Put(t.Context(), old); !errors.Is(err, ErrGone) {
		t.Errorf("writing a purged entry again: %v, want ErrGone", err)
	}
}

// TestPurgeFlood checks that only the newest calls are kept when there are too many.
func TestPurgeFlood(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h.db")
	s := open(t, path, KeepFull, clocktest.New(monday))
	oldest := put(t, s, known(monday))
	put(t, s, known(monday))
	must.Get(s.db.ExecContext(t.Context(), `UPDATE sqlite_sequence SET seq = ?`, oldest+maxCalls-1))(t)
	put(t, s, known(monday))
	must.Do(t, s.Purge(t.Context()))
	if got := read(t, path); len(got) != 2 || got[0].ID == oldest || got[1].ID == oldest {
		t.Errorf("%+v", got)
	}
}

func TestRestore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h.db")
	s := open(t, path, KeepFull, clocktest.New(monday))
	e := known(monday)
	e.Result = ResultMissed
	id := put(t, s, e)
	must.Do(t, s.Handle(t.Context(), id))
	was := must.Get(s.Get(t.Context(), id))(t)
	for _, keep := range []Keep{KeepFull, KeepNumbers} {
		must.Do(t, s.Configure(t.Context(), keep, 7))
		must.Get(s.Remove(t.Context(), id))(t)
		for range 2 { // the second time changes nothing
			must.Do(t, s.Restore(t.Context(), was))
		}
		want := was
		if keep == KeepNumbers {
			want = was.withoutPerson()
		}
		if got, err := s.Get(t.Context(), id); err != nil || got != want {
			t.Errorf("%s: %+v, want %+v, %v", keep, got, want, err)
		}
	}
	if next := put(t, s, known(monday)); next <= id {
		t.Errorf("ID %d after %d", next, id)
	}
}

func TestDamagedFileIsSetAside(t *testing.T) {
	for _, kind := range []string{"no database", "bytes overwritten", "cut", "empty"} {
		t.Run(kind, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "h.db")
			c := clocktest.New(monday)
			s := open(t, path, KeepFull, c)
			for i := range 300 {
				put(t, s, known(monday.Add(-time.Duration(i)*time.Second)))
			}
			s.Close()
			b := must.Get(os.ReadFile(path))(t)
			switch kind {
			case "no database":
				b = []byte(strings.Repeat("not a database\n", 500))
			case "bytes overwritten":
				for i := 4096; i < len(b); i++ {
					b[i] ^= 0x5a
				}
			case "cut":
				b = b[:len(b)/2+100]
			case "empty":
				b = nil
			}
			must.Do(t, os.WriteFile(path, b, 0o600))
			s = open(t, path, KeepFull, c)
			if wantAside := kind != "empty"; (s.State().Notice == NoticeDamaged) != wantAside {
				t.Errorf("%+v", s.State())
			}
			id := put(t, s, known(monday))
			if got := read(t, path); len(got) != 1 || got[0].ID != id {
				t.Errorf("the new file holds %d entries", len(got))
			}
			if s.State().Notice == NoticeNone {
				return
			}
			old := monday.AddDate(0, 0, -8)
			must.Do(t, os.Chtimes(s.asidePath(), old, old))
			must.Do(t, s.Purge(t.Context()))
			if _, err := os.Stat(s.asidePath()); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the damaged file outlived the days to keep: %v", err)
			}
		})
	}
}

func TestReaderCannotWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h.db")
	if _, err := OpenReadOnly(t.Context(), path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v, want fs.ErrNotExist", err)
	}
	s := open(t, path, KeepFull, clocktest.New(monday))
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := OpenReadOnly(ended, path); !errors.Is(err, context.Canceled) {
		t.Errorf("nobody waits any more: %v", err)
	}
	r := must.Get(OpenReadOnly(t.Context(), path))(t)
	defer r.Close()
	if _, err := r.db.Exec("DELETE FROM calls"); err == nil {
		t.Error("the reader could delete")
	}
	// The reader sees what is written after it was opened, and blocks no writer.
	put(t, s, known(monday))
	if got, err := r.Page(t.Context(), Query{}, 0, 10); len(got) != 1 || err != nil {
		t.Errorf("%d calls, %v", len(got), err)
	}
	if runtime.GOOS != "windows" {
		files, _ := filepath.Glob(path + "*")
		for _, f := range files {
			if fi, err := os.Stat(f); err != nil || fi.Mode().Perm() != 0o600 {
				t.Errorf("%s: %v, %v, want 0600", filepath.Base(f), fi.Mode(), err)
			}
		}
	}
}

// TestOpenEndsWhatWasLive checks that a program that ended during a
// call does not leave it ringing forever.
func TestOpenEndsWhatWasLive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h.db")
	s := open(t, path, KeepFull, clocktest.New(monday))
	ringing, talking := known(monday), known(monday)
	ringing.Answered, ringing.Ended, ringing.Result = time.Time{}, time.Time{}, ResultLive
	talking.Ended, talking.Result = time.Time{}, ResultLive
	ringing.ID, talking.ID = put(t, s, ringing), put(t, s, talking)
	s.Close()
	s = open(t, path, KeepFull, clocktest.New(monday))
	for id, want := range map[int64]string{ringing.ID: ResultUnknown, talking.ID: ResultAnswered} {
		if e, err := s.Get(t.Context(), id); e.Result != want || err != nil {
			t.Errorf("entry %d reads %q, %v, want %q", id, e.Result, err, want)
		}
	}
}

func TestConcurrentPuts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h.db")
	s := open(t, path, KeepFull, clocktest.New(monday))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 10 {
				if _, err := s.Put(context.Background(), known(monday)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if n := len(read(t, path)); n != 80 {
		t.Errorf("%d entries, want 80", n)
	}
}

func TestResultOf(t *testing.T) {
	tests := []struct {
		reports         call.ReportLevel
		answered, ended bool
		reason          call.Reason
		want            string
	}{
		{call.AllStates, false, false, call.ReasonUnknown, ResultLive},
		{call.AllStates, true, false, call.ReasonUnknown, ResultLive},
		{call.AllStates, true, true, call.ReasonUnknown, ResultAnswered},
		{call.AllStates, true, true, call.Rejected, ResultAnswered},
		{call.AllStates, false, true, call.Missed, ResultMissed},
		{call.AllStates, false, true, call.AnsweredElsewhere, ResultAnsweredElsewhere},
		{call.AllStates, false, true, call.Rejected, ResultRejected},
		{call.AllStates, false, true, call.Completed, ResultAnswered},
		{call.AllStates, false, true, call.ReasonUnknown, ResultNotHere},
		{call.RingAndEnd, false, true, call.ReasonUnknown, ResultUnknown},
		{call.RingAndEnd, false, true, call.Missed, ResultMissed},
		{call.RingAndEnd, false, false, call.ReasonUnknown, ResultLive},
		{call.RingOnly, false, false, call.ReasonUnknown, ResultUnknown},
		{call.RingOnly, true, false, call.ReasonUnknown, ResultLive},
		{call.RingOnly, false, true, call.Missed, ResultMissed},
	}
	for _, tt := range tests {
		if got := ResultOf(tt.reports, tt.answered, tt.ended, tt.reason); got != tt.want {
			t.Errorf("ResultOf(%v, %v, %v, %v) = %q, want %q", tt.reports, tt.answered, tt.ended, tt.reason, got, tt.want)
		}
	}
}

// TestConfigure checks that what is kept can be changed at run time, in both directions.
func TestConfigure(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "history.db")
	now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	s, err := Open(path, KeepFull, 30, func() time.Time { return now })
	must.Do(t, err)
	defer func() { _ = s.Close() }()
	put := func(age time.Duration) int64 {
		t.Helper()
		id, err := s.Put(ctx, Entry{Rang: now.Add(-age), Number: "+31201234567", Name: "J. de Vries", ContactID: "17", Result: ResultMissed})
		must.Do(t, err)
		return id
	}
	young, old := put(time.Hour), put(10*24*time.Hour)
	configure := func(k Keep, days int) {
		t.Helper()
		must.Do(t, s.Configure(ctx, k, days))
	}
	must.Do(t, os.WriteFile(path+".damaged", nil, 0o600))
	for range 2 { // the second time at the start
		configure(KeepPaused, AllDays)
		_, err := s.Get(ctx, young)
		if !errors.Is(err, ErrGone) || put(0) != 0 || s.Missed() != 0 || s.Handle(ctx, young) != nil || s.Purge(ctx) != nil {
			t.Errorf("paused: %v, %d missed", err, s.Missed())
		}
		if id, err := s.Put(ctx, Entry{ID: young, Rang: now}); id != young || err != nil {
			t.Errorf("paused: a call became %d, %v", id, err)
		}
		if err := s.PutMissed(ctx, []Entry{{Rang: now, Number: "+31201234567"}}); !errors.Is(err, ErrOff) {
			t.Errorf("paused: whoever tells of missed calls may forget them: %v", err)
		}
		must.Do(t, s.Close())
		s = must.Get(Open(path, KeepPaused, AllDays, func() time.Time { return now }))(t)
	}
	configure(KeepFull, AllDays)
	if _, err := s.Get(ctx, old); err != nil || s.Purge(ctx) != nil || s.Missed() != 1 {
		t.Errorf("afterwards: %v, %d missed", err, s.Missed())
	}
	if _, err := os.Stat(path + ".damaged"); err != nil {
		t.Error(err)
	}
	configure(KeepPaused, AllDays)
	must.Do(t, s.DeleteOlder(ctx, now.Add(-20*24*time.Hour)))
	if err := s.DeleteNumber(ctx, "+31201234567"); err != nil {
		t.Errorf("paused: a person may delete: %v", err)
	}
	configure(KeepFull, 30)
	if _, err := s.Get(ctx, old); !errors.Is(err, ErrGone) {
		t.Errorf("paused: a person deleted it: %v", err)
	}
	young, old = put(time.Hour), put(10*24*time.Hour)
	configure(KeepFull, 7)
	if _, err := s.Get(ctx, old); !errors.Is(err, ErrGone) {
		t.Fatalf("fewer days: %v", err)
	}
	configure(KeepNumbers, 7)
	named := Entry{ID: young, Number: "+31201234567", Name: "J. de Vries", ContactID: "17"}
	must.Do(t, errors.Join(s.PutLookup(ctx, named), s.SetPerson(ctx, named)))
	if e, err := s.Get(ctx, young); err != nil || e.Name != "" || e.ContactID != "" || !e.Missed() || s.Missed() != 1 {
		t.Fatalf("numbers only: %+v %v", e, err)
	}
	inTheWay := filepath.Join(path+".damaged", "open") // like a file another process has open on Windows
	must.Do(t, os.MkdirAll(inTheWay, 0o700))
	for _, off := range []func() error{
		func() error { return s.Configure(ctx, KeepOff, 7) },
		func() error { return s.HandleNumber(ctx, "+31201234567") },
		func() error { return s.Purge(ctx) },
	} {
		if err := off(); err == nil {
			t.Error("off: what cannot be removed was left without a word")
		}
	}
	must.Do(t, os.Remove(inTheWay))
	if id := put(0); id != 0 {
		t.Fatal("off: something was kept")
	}
	if id, err := s.Put(ctx, Entry{ID: young, Rang: now}); id != 0 || err != nil {
		t.Errorf("off: a call kept its place %d, %v", id, err)
	}
	if _, err := s.Get(ctx, young); !errors.Is(err, ErrGone) || s.DeleteNumber(ctx, "+31201234567") != nil || s.Missed() != 0 {
		t.Errorf("off: %v, or there is something to delete, or %d were missed", err, s.Missed())
	}
	for _, left := range []string{path, path + ".damaged"} {
		if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("off: the file is there: %v", err)
		}
	}
	if err := s.PutMissed(ctx, []Entry{{Rang: now, Number: "+31201234567"}}); !errors.Is(err, ErrOff) {
		t.Errorf("off: whoever tells of missed calls may forget them: %v", err)
	}
	configure(KeepFull, 7)
	again := put(0)
	if e, err := s.Get(ctx, again); err != nil || e.Name == "" || again <= old {
		t.Fatalf("on again: %d after %d, %+v %v", again, old, e, err)
	}
}

// TestPutMissed checks that calls missed while Wiebelt was not running
// are written once, however often they are reported, and not in addition
// to those that Wiebelt saw; and that all of them are written or none.
func TestPutMissed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h.db")
	s := open(t, path, KeepFull, clocktest.New(monday))
	heard := Entry{Kind: "relay", Number: "+31612345678", Rang: monday.Add(-time.Hour), Result: ResultNotHere}
	put(t, s, heard)
	away := func(number string, after time.Duration) Entry {
		return Entry{Number: number, Rang: heard.Rang.Add(after), Ended: heard.Rang.Add(after + time.Minute), Result: ResultMissed}
	}
	first := []Entry{away(heard.Number, time.Second), away(heard.Number, time.Minute), away("", time.Minute), away("", time.Minute+time.Second)}
	must.Do(t, s.PutMissed(t.Context(), first))
	for i := range first { // another source reports a slightly different time
		first[i].Rang = first[i].Rang.Add(time.Second / 3)
	}
	must.Do(t, s.PutMissed(t.Context(), append(first, away("+31698765432", 0))))
	all := read(t, path)
	n := 0
	for _, e := range all {
		if e.WhileOff() {
			n++
		}
	}
	if len(all) != 5 || n != 4 || s.Missed() != 4 {
		t.Errorf("%d of %d are away, %d missed: %+v", n, len(all), s.Missed(), all)
	}
	must.Do(t, s.Configure(t.Context(), KeepNumbers, 7))
	must.Do(t, s.PutMissed(t.Context(), []Entry{away(nameMark+"J. de Vries", time.Hour)}))
	if e := read(t, path)[0]; e.Number != nameMark {
		t.Errorf("a name is kept: %+v", e)
	}
	must.Get(s.db.Exec("PRAGMA query_only = ON"))(t)
	if err := s.PutMissed(t.Context(), []Entry{away("+31698765433", 0)}); err == nil {
		t.Error("kept on a disk that takes nothing")
	}
}
