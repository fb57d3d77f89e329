package outbox

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"wiebelt/internal/hub"
	"wiebelt/internal/store/sqlitefile"
	"wiebelt/internal/testutil/clocktest"
	"wiebelt/internal/testutil/must"
)

// TestKeepSent: copies of delivered and refused files are kept as long as configured.
func TestKeepSent(t *testing.T) {
	now := clocktest.New(monday)
	d := answering(func(all [][]byte) (hub.Receipt, error) {
		if bytes.HasPrefix(all[0], []byte("bad")) {
			return hub.Receipt{Status: 422, Answer: "bad"}, nil
		}
		return hub.Receipt{Status: 201, Answer: "ok"}, nil
	})
	b := open(t, Options{Hub: to(d), Now: now.Now, Policy: Policy{KeepSent: 2, KeepRefused: 5}})
	good, bad := add(t, b, write(t, "a.zip", []byte("good"))), add(t, b, write(t, "b.zip", []byte("bad")))
	drive(t, b)
	kept := func(it Item) bool {
		_, err := os.Stat(b.spoolPath(it.ID))
		if got := get(t, b, it.ID).HasCopy; got != (err == nil) {
			t.Errorf("kept %v, the copy: %v", got, err)
		}
		return err == nil
	}
	bodies := func() (n int) {
		for _, it := range []Item{good, bad} {
			all, err := b.Receipts(t.Context(), it.ID)
			must.Do(t, err)
			for _, r := range all {
				if r.Body != "" {
					n++
				}
			}
		}
		return n
	}
	for _, c := range []struct {
		days      int
		good, bad bool
		bodies    int
	}{{0, true, true, 2}, {1, true, true, 2}, {2, false, true, 2}, {4, false, true, 2}, {5, false, false, 2}, {31, false, false, 0}} {
		now.Forward(monday.AddDate(0, 0, c.days).Sub(now.Now()))
		_, _, err := b.step(t.Context())
		must.Do(t, err)
		if kept(good) != c.good || kept(bad) != c.bad || bodies() != c.bodies {
			t.Errorf("after %d days: %v %v, %d bodies", c.days, kept(good), kept(bad), bodies())
		}
	}
	now.Forward(368 * 24 * time.Hour) // 399 days
	if err := b.purge(t.Context()); err != nil || get(t, b, good.ID).State != Delivered {
		t.Errorf("after 399 days: %v", err)
	}
	now.Forward(2 * 24 * time.Hour)
	must.Do(t, b.purge(t.Context()))
	for _, it := range []Item{good, bad} {
		if _, err := b.Get(t.Context(), it.ID); !errors.Is(err, ErrNoItem) {
			t.Errorf("after 401 days: %v", err)
		}
		if all, err := b.Receipts(t.Context(), it.ID); err != nil || len(all) != 0 {
			t.Errorf("after 401 days: %d receipts, %v", len(all), err)
		}
	}
}

// TestPurgeHourly: after the clock was set back, the next purge does not wait for the old time.
func TestPurgeHourly(t *testing.T) {
	now := clocktest.New(monday)
	b := open(t, Options{Now: now.Now})
	for _, c := range []struct {
		later  time.Duration
		purged bool
	}{{0, true}, {time.Hour - 1, false}, {1, true}, {-48 * time.Hour, true}} {
		now.Forward(c.later)
		if b.purgeHourly(t.Context()); b.lastPurge.Equal(now.Now()) != c.purged {
			t.Errorf("after another %v: last purged %v", c.later, b.lastPurge)
		}
	}
}

// TestPurgeErases: no file contains what was purged, not even the database's log, nor a damaged
// database that was put aside.
func TestPurgeErases(t *testing.T) {
	now := clocktest.New(monday)
	b := open(t, Options{Now: now.Now, Hub: says(hub.Receipt{Status: 200, Answer: "canary-answer"})})
	it := add(t, b, write(t, "canary-name.zip", []byte("PK canary-content")))
	drive(t, b)
	aside := write(t, b.dbPath()+".damaged", []byte("canary-answer"))
	must.Do(t, os.Chtimes(aside, monday, monday))
	now.Forward(keepBodies - time.Hour)
	must.Do(t, b.purge(t.Context()))
	must.Get(os.Stat(aside))(t)
	now.Forward(2 * time.Hour)
	must.Do(t, b.purge(t.Context()))
	nowhere(t, b, "canary-answer")
	now.Forward(keepReceipts)
	must.Do(t, b.purge(t.Context()))
	nowhere(t, b, "canary-name", it.ID)
}

// TestPurgeLeavesTheUndecided: neither waiting nor uncertain items are ever
// purged automatically.
func TestPurgeLeavesTheUndecided(t *testing.T) {
	now := clocktest.New(monday)
	b := open(t, Options{Now: now.Now, Hub: says(hub.Receipt{})})
	maybe := add(t, b, write(t, "a.zip", []byte("a")))
	if _, _, err := b.step(t.Context()); err != nil {
		t.Fatal(err)
	}
	waits := add(t, b, write(t, "b.zip", []byte("b")))
	old := monday.AddDate(-3, 0, 0)
	for _, it := range []Item{maybe, waits} {
		must.Do(t, os.Chtimes(b.spoolPath(it.ID), old, old))
	}
	sent := add(t, b, write(t, "c.zip", []byte("c"))) // delivered, but its copy could not be removed
	must.Get(b.db.Exec("UPDATE items SET state = 'delivered', kept = 0, decided = ? WHERE id = ?", sqlitefile.Micros(monday), sent.ID))(t)
	must.Do(t, os.Chtimes(b.spoolPath(sent.ID), old, old))
	stray := b.spoolPath(uuid.NewString())
	part := strings.TrimSuffix(stray, ".zip") + ".part"
	for _, name := range []string{stray, part} {
		write(t, name, []byte("x"))
	}
	reports := filepath.Join(b.o.Dir, ReportsName)
	must.Do(t, os.Mkdir(reports, 0o700))
	aged := write(t, filepath.Join(reports, "report-aged.csv"), nil)
	others := []string{write(t, filepath.Join(reports, "other.csv"), nil), write(t, filepath.Join(b.spoolDir(), "other.txt"), nil)}
	for _, name := range append(others, aged) {
		must.Do(t, os.Chtimes(name, old, old))
	}
	recent := write(t, filepath.Join(reports, "report-recent.csv"), nil)
	must.Do(t, b.purge(t.Context()))
	for _, name := range []string{aged, b.spoolPath(sent.ID)} {
		if _, err := os.Stat(name); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s stays: %v", filepath.Base(name), err)
		}
	}
	for _, name := range append(others, recent) {
		must.Get(os.Stat(name))(t)
	}
	for _, name := range []string{stray, part} { // recent: somebody may be adding it
		must.Get(os.Stat(name))(t)
		must.Do(t, os.Chtimes(name, old, old))
	}
	now.Forward(5 * 365 * 24 * time.Hour)
	must.Do(t, b.purge(t.Context()))
	if it := get(t, b, maybe.ID); it.State != Uncertain || !it.HasCopy {
		t.Errorf("%+v", it)
	}
	if it := get(t, b, waits.ID); it.State != Waiting {
		t.Errorf("%+v", it)
	}
	for _, name := range []string{stray, part} {
		if _, err := os.Stat(name); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("a stray file stays: %v", err)
		}
	}
	for _, it := range []Item{maybe, waits} {
		must.Get(os.Stat(b.spoolPath(it.ID)))(t)
	}
}
