package history

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/core/address"
	"wiebelt/internal/testutil/clocktest"
	"wiebelt/internal/testutil/must"
)

func wantState(t *testing.T, s *Store, f Fault, n Notice) {
	t.Helper()
	if got := s.State(); got.Fault != f || got.Notice != n {
		t.Errorf("state %+v, want %q and %q", got, f, n)
	}
}

// TestDiskTroublePasses checks that after a full or unwritable disk, calls are kept again
// without a restart, and nothing acknowledged is lost.
func TestDiskTroublePasses(t *testing.T) {
	for _, tt := range []struct {
		fault         Fault
		begin, finish string
	}{
		{FaultFull, "PRAGMA max_page_count = 1", "PRAGMA max_page_count = 1000000"},
		{FaultReadOnly, "PRAGMA query_only = ON", "PRAGMA query_only = OFF"},
	} {
		t.Run(string(tt.fault), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "h.db")
			s := open(t, path, KeepFull, clocktest.New(monday))
			before := put(t, s, known(monday))
			must.Get(s.db.Exec(tt.begin))(t)
			big := known(monday)
			big.Name = strings.Repeat("x", 100_000)
			if _, err := s.Put(t.Context(), big); faultOf(err) != tt.fault {
				t.Errorf("%v", err)
			}
			wantState(t, s, tt.fault, NoticeNone)
			must.Get(s.db.Exec(tt.finish))(t)
			after := put(t, s, known(monday))
			wantState(t, s, FaultNone, NoticeNone)
			if got := ids(read(t, path)); len(got) != 2 || got[0] != after || got[1] != before {
				t.Errorf("kept %v", got)
			}
		})
	}
}

// TestFileChangesUnderUs checks that a file removed, replaced or damaged while in use is
// recreated, and that no ID is used twice: calls in progress still hold theirs.
func TestFileChangesUnderUs(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // a file in use cannot be removed there
	}
	for _, tt := range []struct {
		name   string
		do     func(t *testing.T, path string)
		notice Notice
	}{
		{"deleted", func(t *testing.T, path string) { must.Do(t, os.Remove(path)) }, NoticeGone},
		{"deleted with its log", func(t *testing.T, path string) { must.Do(t, remove(path, path+"-wal", path+"-shm")) }, NoticeGone},
		{"another one in its place", func(t *testing.T, path string) {
			must.Do(t, os.Rename(path, path+".old"))
			must.Do(t, os.WriteFile(path, nil, 0o600))
		}, NoticeGone},
		{"nonsense in its place", func(t *testing.T, path string) {
			must.Do(t, os.Remove(path))
			must.Do(t, os.WriteFile(path, []byte(strings.Repeat("nonsense", 1000)), 0o600))
		}, NoticeGone},
		{"the folder deleted", func(t *testing.T, path string) { must.Do(t, os.RemoveAll(filepath.Dir(path))) }, NoticeGone},
		{"its log deleted", func(t *testing.T, path string) { must.Do(t, remove(path+"-wal", path+"-shm")) }, NoticeNone},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "below", "h.db")
			s := open(t, path, KeepFull, clocktest.New(monday))
			going := known(monday)
			going.ID = put(t, s, going)
			r := reader(t, path)
			tt.do(t, path)
			going.Result = ResultMissed
			_, err := s.Put(t.Context(), going)
			if tt.notice == NoticeNone {
				if err != nil {
					t.Errorf("the log was all that went: %v", err)
				}
			} else if !errors.Is(err, ErrGone) {
				t.Errorf("a call of the file that went: %v, want ErrGone", err)
			}
			if !r.Stale() != (tt.notice == NoticeNone) {
				t.Errorf("the reader is stale: %v", r.Stale())
			}
			id := put(t, s, known(monday))
			if id <= going.ID {
				t.Errorf("ID %d was given again", id)
			}
			wantState(t, s, FaultNone, tt.notice)
			s.Dismiss()
			wantState(t, s, FaultNone, NoticeNone)
			if got := ids(read(t, path)); got[0] != id {
				t.Errorf("the file holds %v, want %d first", got, id)
			}
		})
	}
}

// TestOpensLater checks that a location unusable at the start can become usable later.
func TestOpensLater(t *testing.T) {
	dir := t.TempDir()
	blocked := filepath.Join(dir, "below")
	must.Do(t, os.WriteFile(blocked, nil, 0o600))
	c := clocktest.New(monday)
	s, err := Open(filepath.Join(blocked, "h.db"), KeepFull, 7, c.Now)
	if err == nil || s == nil {
		t.Fatalf("%v, %v", s, err)
	}
	defer s.Close()
	wantState(t, s, FaultOther, NoticeNone)
	must.Do(t, os.Remove(blocked))
	if _, err := s.Put(t.Context(), known(monday)); err == nil {
		t.Error("tried at once: a broken disk would be hammered")
	}
	wantState(t, s, FaultOther, NoticeNone)
	c.Forward(reopenInterval)
	if id := put(t, s, known(monday)); id == 0 {
		t.Error("nothing was kept")
	}
	wantState(t, s, FaultNone, NoticeNone)
	must.Do(t, s.DeleteNumber(t.Context(), "+31612345678"))
}

// TestNewerFileIsLeftAlone checks that a newer file is not touched,
// and that writing to it and deleting from it report failure.
func TestNewerFileIsLeftAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h.db")
	c := clocktest.New(monday)
	s := open(t, path, KeepFull, c)
	put(t, s, known(monday))
	must.Get(s.db.Exec("PRAGMA user_version = 99"))(t)
	must.Do(t, s.Close())
	s, err := Open(path, KeepFull, 7, c.Now)
	if !errors.Is(err, ErrNewer) || s == nil {
		t.Fatalf("%v", err)
	}
	defer s.Close()
	if _, err := OpenReadOnly(t.Context(), path); !errors.Is(err, ErrNewer) {
		t.Errorf("OpenReadOnly: %v", err)
	}
	if err := CheckFile(t.Context(), path); !errors.Is(err, ErrNewer) {
		t.Errorf("CheckFile: %v", err)
	}
	wantState(t, s, FaultNewer, NoticeNone)
	if _, err := s.Put(t.Context(), known(monday)); err == nil {
		t.Error("written into a newer file")
	}
	if err := s.DeleteNumber(t.Context(), "+31612345678"); err == nil {
		t.Error("said deleted, and was not")
	}
	if _, err := s.Remove(t.Context(), 1); err == nil {
		t.Error("said deleted, and was not")
	}
	must.Do(t, s.Purge(t.Context()))
	if err := s.DeleteAll(t.Context()); !errors.Is(err, ErrNewer) {
		t.Errorf("all was deleted: %v", err)
	}
	wantState(t, s, FaultNewer, NoticeNone)
	if b, err := os.ReadFile(path); err != nil || !bytes.Contains(b, []byte("J. de Vries")) {
		t.Errorf("the newer file was changed (%v)", err)
	}
}

// canary returns a call whose caller can be recognised in any file.
func canary(i int) Entry {
	e := known(monday.Add(time.Duration(i) * time.Second))
	e.Number, e.NumberDisplay = fmt.Sprintf("+3164711%04d", i), fmt.Sprintf("06 47 11 %02d %02d", i/100, i%100)
	e.Name, e.RelationNumber = fmt.Sprintf("Kanarie%04dvogel", i), fmt.Sprintf("8800%04d", i)
	e.ContactID, e.Link = fmt.Sprintf("kooi-%04d", i), fmt.Sprintf("https://hub.example/contacts/viewcontact/kooi-%04d", i)
	e.Result = ResultMissed
	return e
}

// traces returns the texts about canary i that a file may contain:
// those that identify the person, and those of the number.
func traces(i int) (person, number []string) {
	e := canary(i)
	return []string{e.Name, strings.ToLower(e.Name), e.RelationNumber, e.ContactID}, []string{e.Number[1:], e.NumberDisplay, address.OnlyDigits(e.NumberDisplay)}
}

// found counts the canaries with a trace in any file below dir.
func found(t *testing.T, dir string, which func(int) []string) (n int) {
	t.Helper()
	var everything []byte
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(p)
		everything = append(append(everything, b...), '|')
		return err
	})
	must.Do(t, err)
	for i := range canaries {
		for _, w := range which(i) {
			if bytes.Contains(everything, []byte(w)) {
				n++
				break
			}
		}
	}
	return n
}

const canaries = 500

// TestDeletedMeansGone checks that deleted data is in no file, including the log and
// SQLite's side files, however it was deleted and even while someone has the file open.
func TestDeletedMeansGone(t *testing.T) {
	person := func(i int) []string { p, _ := traces(i); return p }
	number := func(i int) []string { _, n := traces(i); return n }
	both := func(i int) []string { return append(person(i), number(i)...) }
	file := func(i int) []string { p, _ := traces(i); return p[2:] } // all but the name
	for _, tt := range []struct {
		name string
		do   func(ctx context.Context, s *Store, ids []int64, c *clocktest.Clock) error
		gone func(int) []string
	}{
		{"all", func(ctx context.Context, s *Store, _ []int64, _ *clocktest.Clock) error { return s.DeleteAll(ctx) }, both},
		{"older", func(ctx context.Context, s *Store, _ []int64, c *clocktest.Clock) error {
			return s.DeleteOlder(ctx, c.Now())
		}, both},
		{"retention", func(ctx context.Context, s *Store, _ []int64, c *clocktest.Clock) error {
			c.Forward(8 * 24 * time.Hour)
			return s.Purge(ctx)
		}, both},
		{"each number", func(ctx context.Context, s *Store, _ []int64, _ *clocktest.Clock) error {
			for i := range canaries {
				if err := s.DeleteNumber(ctx, canary(i).Number); err != nil {
					return fmt.Errorf("number %d: %w", i, err)
				}
			}
			return nil
		}, both},
		{"each call", func(ctx context.Context, s *Store, ids []int64, _ *clocktest.Clock) error {
			for _, id := range ids {
				if _, err := s.Remove(ctx, id); err != nil {
					return err
				}
			}
			return nil
		}, both},
		{"each person", func(ctx context.Context, s *Store, ids []int64, _ *clocktest.Clock) error {
			for _, id := range ids {
				if _, err := s.RemovePerson(ctx, id); err != nil {
					return err
				}
			}
			return nil
		}, file},
		{"numbers only", func(ctx context.Context, s *Store, _ []int64, _ *clocktest.Clock) error {
			return s.Configure(ctx, KeepNumbers, 7)
		}, person},
		{"off", func(ctx context.Context, s *Store, _ []int64, _ *clocktest.Clock) error {
			return s.Configure(ctx, KeepOff, 7)
		}, both},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel() // these wait for the disk
			dir := t.TempDir()
			path := filepath.Join(dir, "h.db")
			c := clocktest.New(monday.Add(time.Hour))
			s := open(t, path, KeepFull, c)
			r := reader(t, path)
			var all []int64
			for i := range canaries {
				e := canary(i)
				e.Result = ResultLive
				e.ID = put(t, s, e)
				if i%3 == 0 { // a call that continues: a longer name, then the first again
					e.Name += " en nog een naam"
					put(t, s, e)
					last := canary(i)
					last.ID = e.ID
					put(t, s, last)
				}
				all = append(all, e.ID)
			}
			stranger := known(monday.Add(2 * time.Hour))
			kept := put(t, s, stranger)
			if n := found(t, dir, both); n != canaries {
				t.Fatalf("%d of %d can be found at all", n, canaries)
			}
			must.Get(r.Page(t.Context(), Query{Filter: "kanarie"}, 0, 1000))(t)
			must.Do(t, tt.do(t.Context(), s, all, c))
			if n := found(t, dir, tt.gone); n != 0 {
				t.Errorf("something of %d of %d is left", n, canaries)
			}
			if strings.HasPrefix(tt.name, "each") {
				if e, err := s.Get(t.Context(), kept); err != nil {
					t.Errorf("somebody else went too: %+v, %v", e, err)
				}
			}
			must.Do(t, s.Close())
			_ = r.Close()
			if n := found(t, dir, tt.gone); n != 0 {
				t.Errorf("something of %d of %d is back after closing", n, canaries)
			}
		})
	}
}
