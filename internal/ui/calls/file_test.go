package calls

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"wiebelt/internal/store/history"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/ui/uitest"
)

// keep creates a history of n calls, one per minute,
// every hundredth from a caller named Zeldzaam.
func keep(t *testing.T, path string, n int) *history.Store {
	t.Helper()
	s := must.Get(history.Open(path, history.KeepFull, 365, func() time.Time { return uitest.Noon }))(t)
	t.Cleanup(func() { _ = s.Close() })
	for i := range n {
		e := customer()
		e.ID, e.Rang, e.Number = 0, uitest.Noon.Add(-time.Duration(n-1-i)*time.Minute), fmt.Sprintf("+316%08d", i)
		if i%100 == 50 {
			e.Name = "Q. Zeldzaam"
		}
		must.Get(s.Put(t.Context(), e))(t)
	}
	return s
}

func readAll(t *testing.T, f *file, w readRequest) (all []readResult) {
	t.Helper()
	w.path = f.path
	f.read(t.Context(), w, func(a readResult) { all = append(all, a) })
	if len(all) == 0 {
		t.Fatal("nothing was told")
	}
	return all
}

// TestFile checks that the requested calls are read, and reported at the right positions.
func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h.db")
	f := &file{path: path, now: func() time.Time { return uitest.Noon }}
	defer f.close()
	if a := readAll(t, f, readRequest{})[0]; a.err != nil || !a.exact || a.count != 0 {
		t.Errorf("no file yet: %+v", a)
	}
	const n = 900
	s := keep(t, path, n)
	for _, tt := range []struct {
		name                string
		w                   readRequest
		start, first, count int
		length              int
	}{
		{"newest", readRequest{}, 0, n, n, block},
		{"around a call", readRequest{index: 400}, 250, n - 250, n, block},
		{"around one at the top", readRequest{index: 3}, 0, n, n, block},
		{"at the end", readRequest{index: 899}, 749, n - 749, n, 151},
	} {
		all := readAll(t, f, tt.w)
		a := all[len(all)-1]
		if a.err != nil || a.start != tt.start || a.count != tt.count || len(a.entries) != tt.length || a.entries[0].ID != int64(tt.first) || !a.exact || a.today != 721 {
			t.Errorf("%s: from %d, %d of %d (today %d), first %d, %v", tt.name, a.start, len(a.entries), a.count, a.today, a.entries[0].ID, a.err)
		}
	}
	// A filter reports what it finds first, and the total once known.
	all := readAll(t, f, readRequest{query: history.Query{Filter: "zeldzaam"}})
	if a := all[len(all)-1]; a.count != 9 || len(a.entries) != 9 || !a.exact || a.today != 7 {
		t.Errorf("%+v", a)
	}
	all = readAll(t, f, readRequest{query: history.Query{Filter: "vries"}})
	if a := all[0]; len(a.entries) != block || a.exact || a.count != block+1 {
		t.Errorf("first %d of %d, exact %v", len(a.entries), a.count, a.exact)
	}
	if a := all[len(all)-1]; len(all) != 2 || len(a.entries) != block || !a.exact || a.count != n-9 || a.today != 721-7 {
		t.Errorf("last %d of %d (today %d), exact %v", len(a.entries), a.count, a.today, a.exact)
	}
	if all = readAll(t, f, readRequest{query: history.Query{Filter: "zzz"}}); len(all) != 1 || all[0].count != 0 || !all[0].exact {
		t.Errorf("%d answers, %+v", len(all), all[0])
	}

	must.Do(t, s.Close())
	if runtime.GOOS == "windows" {
		return // an open file cannot be replaced there
	}
	// A file that replaces it is read instead of the removed one.
	for _, name := range []string{path, path + "-wal", path + "-shm"} {
		_ = os.Remove(name)
	}
	keep(t, path, 3)
	if a := readAll(t, f, readRequest{})[0]; a.count != 3 || a.err != nil {
		t.Errorf("another file: %d calls, %v", a.count, a.err)
	}
	g := &file{path: t.TempDir(), now: time.Now} // a folder is not a missing file
	defer g.close()
	if a := readAll(t, g, readRequest{})[0]; a.err == nil {
		t.Error("a folder was read")
	}
	// Switched off: the window no longer needs a file.
	f.read(t.Context(), readRequest{}, func(a readResult) {
		if a.count != 0 || !a.exact || f.reader != nil {
			t.Errorf("%+v", a)
		}
	})
}

// TestLongSearch: a long search shows what it has, reports after
// a while that it continues, and ends when no longer needed.
func TestLongSearch(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h.db")
	keep(t, path, 40)
	f := &file{path: path, now: time.Now}
	defer f.close()
	f.span = 4
	now := uitest.Noon
	f.now = func() time.Time { now = now.Add(40 * time.Millisecond); return now }
	all := readAll(t, f, readRequest{query: history.Query{Filter: "zzz"}})
	if len(all) < 3 || all[0].slow || all[0].exact || !all[len(all)-2].slow || !all[len(all)-1].exact {
		t.Errorf("%d answers: %+v", len(all), all)
	}
	ctx, cancel := context.WithCancel(t.Context())
	told := 0
	f.read(ctx, readRequest{path: path, query: history.Query{Filter: "zzz"}}, func(a readResult) {
		told++
		cancel()
		if told == 2 && a.err == nil {
			t.Error("it went on to the end")
		}
	})
	if told != 2 {
		t.Errorf("%d answers", told)
	}
}
