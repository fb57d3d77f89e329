package outbox

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"wiebelt/internal/hub"
	"wiebelt/internal/localhub"
	"wiebelt/internal/store/sqlitefile"
	"wiebelt/internal/testutil/clocktest"
	"wiebelt/internal/testutil/must"
)

// TestDeliver: a file is sent as it was added, its receipt is kept, its copy is deleted.
func TestDeliver(t *testing.T) {
	h, c := startHub(t, localhub.Config{})
	b := open(t, Options{Hub: to(c)})
	content := zipped(t, "<Contractdocument/>")
	path := write(t, "bericht é.zip", content)
	before := time.Now()
	it := add(t, b, path)
	if u, err := uuid.Parse(it.ID); err != nil || u.Version() != 7 {
		t.Errorf("id %s: %v", it.ID, err)
	}
	if it.SHA256 != sumOf(content) || it.Size != int64(len(content)) || it.Name != "bericht é.zip" || it.State != Waiting {
		t.Errorf("%+v", it)
	}
	must.Do(t, os.WriteFile(path, []byte("something else"), 0o600)) // ours is a copy
	ctx, end := context.WithCancel(t.Context())
	defer end()
	worked := make(chan error, 1)
	go func() { worked <- b.Work(ctx, nil) }()
	got := until(t, b, allOver)[0]
	if got.State != Delivered || got.Attempts != 1 || got.Tries != 1 || got.Status != 200 || got.HasCopy || got.Decided.Before(before.Truncate(time.Microsecond)) {
		t.Errorf("%+v", got)
	}
	if !box(t, h)[sumOf(content)] {
		t.Error("the hub does not have it")
	}
	all, err := b.Receipts(t.Context(), it.ID)
	if err != nil || len(all) != 1 {
		t.Fatalf("%d receipts, %v", len(all), err)
	}
	if r := all[0]; r.TryNumber != 1 || r.Status != 200 || r.Class != "done" || !strings.Contains(r.Body, sumOf(content)) ||
		r.Ended.Before(r.Began) {
		t.Errorf("%+v", r)
	}
	end()
	if err := <-worked; err != nil { // copies are deleted after their results are stored
		t.Error(err)
	}
	spooled(t, b, 0)
	if runtime.GOOS != "windows" {
		for _, dir := range []string{b.o.Dir, filepath.Join(b.o.Dir, spoolName)} {
			if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
				t.Errorf("%s: %v %v", dir, info.Mode(), err)
			}
		}
	}
}

// TestAnothersPlace checks that an outbox that others could have
// written to is not opened, so that nothing they put there is sent.
func TestAnothersPlace(t *testing.T) {
	for name, plant := range map[string]func(dir string) error{
		"the folder":   func(dir string) error { return os.Chmod(dir, 0o777) },
		"the database": func(dir string) error { return os.Chmod(filepath.Join(dir, DatabaseName), 0o666) },
		"a link":       func(dir string) error { return errors.Join(os.Rename(dir, dir+"r"), os.Symlink(dir+"r", dir)) },
	} {
		t.Run(name, func(t *testing.T) {
			if runtime.GOOS == "windows" {
				return
			}
			dir := filepath.Join(t.TempDir(), "outbox")
			b, err := Open(t.Context(), Options{Dir: dir})
			must.Do(t, err)
			must.Do(t, errors.Join(b.Close(), plant(dir)))
			b, err = Open(t.Context(), Options{Dir: dir})
			if trouble, ok := errors.AsType[*Trouble](err); !ok || trouble.Kind != Exposed || strings.Contains(err.Error(), dir) {
				t.Errorf("%v %v", b, err)
			}
		})
	}
}

// TestOneRefusedStopsNobody: one refusal affects no other item, but a hold stops all.
func TestOneRefusedStopsNobody(t *testing.T) {
	now := clocktest.New(monday)
	mode := "mixed"
	var sent []string
	d := answering(func(all [][]byte) (hub.Receipt, error) {
		name := string(all[0])
		sent = append(sent, name)
		switch {
		case mode == "forbidden":
			return hub.Receipt{Status: 403}, nil
		case name == "bad":
			return hub.Receipt{Status: 400, Answer: "bad"}, nil
		case name == "slow":
			return hub.Receipt{Status: 500}, nil
		}
		return hub.Receipt{Status: 200, Answer: "ok"}, nil
	})
	b := open(t, Options{Hub: to(d), Now: now.Now, firstWait: time.Hour})
	ids := map[string]string{}
	for _, n := range []string{"bad", "slow", "good", "fine"} {
		ids[n] = add(t, b, write(t, n+".zip", []byte(n))).ID
	}
	drive(t, b)
	for n, want := range map[string]State{"bad": Refused, "slow": Waiting, "good": Delivered, "fine": Delivered} {
		if it := get(t, b, ids[n]); it.State != want {
			t.Errorf("%s: %s", n, it.State)
		}
	}
	if !slices.Equal(sent, []string{"bad", "slow", "good", "fine"}) {
		t.Errorf("sent: %v", sent)
	}
	mode, sent = "forbidden", nil
	for _, n := range []string{"one", "two", "three"} {
		ids[n] = add(t, b, write(t, n+".zip", []byte(n))).ID
	}
	drive(t, b)
	if len(sent) != 1 {
		t.Errorf("sent on hold: %v", sent)
	}
	for _, n := range []string{"one", "two", "three"} {
		if it := get(t, b, ids[n]); it.State != Waiting || it.Attempts != 0 || it.Tries != 0 {
			t.Errorf("%s: %+v", n, it)
		}
	}
	if s, err := b.Snapshot(t.Context()); err != nil || s.Queue.HoldReason != Forbidden {
		t.Errorf("%+v %v", s.Queue, err)
	}
	// It is probed, with one item, after a quarter of an hour.
	now.Forward(probeAfter)
	drive(t, b)
	if len(sent) != 2 {
		t.Errorf("sent after the probe: %v", sent)
	}
	mode, sent = "mixed", nil
	must.Do(t, b.Release(t.Context()))
	drive(t, b)
	for _, n := range []string{"one", "two", "three"} {
		if it := get(t, b, ids[n]); it.State != Delivered {
			t.Errorf("%s: %+v", n, it)
		}
	}
}

// TestSeveralInOneRequest checks that a request has as many items
// as configured, and that they are sent one by one after a refusal.
func TestSeveralInOneRequest(t *testing.T) {
	h, c := startHub(t, localhub.Config{})
	b := open(t, Options{Hub: to(c), Policy: Policy{ItemsPerRequest: 3, KeepRefused: 30}})
	var want []string
	for i := range 7 {
		content := zipped(t, fmt.Sprint(i))
		want = append(want, sumOf(content))
		add(t, b, write(t, names(i), content))
		if i == 3 {
			add(t, b, write(t, "slecht.zip", []byte("this is no ZIP file")))
		}
	}
	other := zipped(t, "other")
	want = append(want, sumOf(other))
	must.Get(b.Add(t.Context(), Source{Path: write(t, "anders.zip", other), Intermediary: "anders"}))(t)
	must.Do(t, b.tx(t.Context(), func(tx *sql.Tx) error { return writeQueue(t.Context(), tx, Queue{HoldReason: Forbidden}) }))
	drive(t, b)
	there := box(t, h)
	for _, s := range want {
		if !there[s] {
			t.Error("a file did not arrive")
		}
	}
	if len(there) != 8 {
		t.Errorf("%d messages", len(there))
	}
	s, err := b.Snapshot(t.Context())
	if err != nil || s.Counts[Delivered] != 8 || s.Counts[Refused] != 1 {
		t.Errorf("%v %v", s.Counts, err)
	}
	// The requests: a probe with 1 item, 3 together, 3 together that are
	// refused and then sent alone, the last one, and the one for another box.
	if n := h.Stats().Messages; n != 8 {
		t.Errorf("%d requests", n)
	}
}

// TestOneWorker checks that only one of several workers
// runs, and that another takes over when it ends.
func TestOneWorker(t *testing.T) {
	release := make(chan struct{})
	d := answering(func([][]byte) (hub.Receipt, error) {
		<-release
		return hub.Receipt{Status: 200, Answer: "ok"}, nil
	})
	a := open(t, Options{Hub: to(d)})
	b := open(t, Options{Dir: a.o.Dir, Hub: to(d)})
	if a.Busy() || b.Busy() {
		t.Error("busy without a worker")
	}
	stop := make(chan struct{})
	working := make(chan error, 1)
	go func() { working <- a.Work(t.Context(), stop) }()
	until(t, b, func([]Item) bool { return b.Busy() })
	for _, x := range []*Outbox{a, b} {
		if err := x.Work(t.Context(), nil); !errors.Is(err, ErrBusy) {
			t.Errorf("a second worker: %v", err)
		}
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := b.Work(ended, nil); err != nil {
		t.Errorf("a second worker that was ended: %v", err)
	}
	first := add(t, b, write(t, "a.zip", []byte("one"))) // handed over: a sends it
	until(t, b, func(all []Item) bool { return len(all) == 1 && all[0].State == Sending })
	if err := b.Forget(t.Context(), first.ID, true); !errors.Is(err, ErrState) {
		t.Errorf("forget while it is sent: %v", err)
	}
	second := add(t, b, write(t, "b.zip", []byte("two")))
	joined := make(chan error, 1)
	stopB := make(chan struct{})
	go func() { joined <- b.WorkWhenFree(t.Context(), stopB) }()
	close(stop) // after the request in progress
	close(release)
	if err := <-working; err != nil {
		t.Error(err)
	}
	if got := get(t, b, first.ID); got.State != Delivered {
		t.Errorf("%+v", got)
	}
	until(t, b, allOver)
	if got := get(t, a, second.ID); got.State != Delivered {
		t.Errorf("%+v", got)
	}
	close(stopB)
	if err := <-joined; err != nil {
		t.Error(err)
	}
}

// TestFirstVersion: the database of the first version is migrated with its waiting items.
func TestFirstVersion(t *testing.T) {
	b := open(t, Options{})
	content := []byte("PK waits")
	it := add(t, b, write(t, "a.zip", content))
	must.Get(b.db.Exec(`ALTER TABLE items DROP COLUMN found; ALTER TABLE receipts DROP COLUMN cut; DROP TABLE past; DROP INDEX items_late;
		PRAGMA user_version = 1`))(t)
	must.Do(t, b.Close())
	n := open(t, Options{Dir: b.o.Dir})
	if got := get(t, n, it.ID); got.State != it.State || got.SHA256 != sumOf(content) || !got.HasCopy || n.AsidePath() != "" {
		t.Errorf("%+v", got)
	}
}

// TestDamagedDatabase checks that a damaged database is put aside and the files
// in the spool are listed as recovered items, and that a newer one is refused.
func TestDamagedDatabase(t *testing.T) {
	for _, kind := range []string{"no database", "cut", "newer"} {
		t.Run(kind, func(t *testing.T) {
			b := open(t, Options{})
			content := []byte("PK kept")
			it := add(t, b, write(t, "a.zip", content))
			for i := range 60 {
				add(t, b, write(t, names(i), []byte(fmt.Sprint(i))))
			}
			dir := b.o.Dir
			must.Get(b.db.Exec("PRAGMA wal_checkpoint(TRUNCATE)"))(t)
			path := filepath.Join(dir, DatabaseName)
			raw, err := os.ReadFile(path)
			must.Do(t, err)
			switch kind {
			case "no database":
				raw = bytes.Repeat([]byte("nothing of ours\n"), 1000)
			case "cut":
				raw = raw[:len(raw)/2]
			case "newer":
				db, err := sqlitefile.Open(path, "")
				if err == nil {
					_, err = db.Exec("PRAGMA user_version = 99")
					err = errors.Join(err, db.Close())
				}
				must.Do(t, err)
				if _, err := Open(t.Context(), Options{Dir: dir}); !errors.Is(err, ErrNewer) {
					t.Errorf("%v", err)
				}
				return
			}
			must.Do(t, os.WriteFile(path, raw, 0o600))
			write(t, filepath.Join(b.spoolDir(), "cut.part"), []byte("no item"))
			n := open(t, Options{Dir: dir})
			if n.AsidePath() != path+".damaged" {
				t.Errorf("set aside: %q", n.AsidePath())
			}
			s, err := n.Snapshot(t.Context())
			if err != nil || len(s.Items) != 61 || s.Counts[Uncertain] != 61 {
				t.Fatalf("%v %v", s.Counts, err)
			}
			if got := get(t, n, it.ID); got.Reason != Recovered || got.SHA256 != sumOf(content) || got.Size != int64(len(content)) || !got.HasCopy {
				t.Errorf("%+v", got)
			}
			// Its file is not added as a new one, and is
			// recognised if it stayed in a watched folder.
			for _, same := range []Source{{}, {Resume: true, Duplicate: DuplicateSend}} {
				same.Path, same.Intermediary = it.Path, it.Intermediary
				a, err := n.Add(t.Context(), same)
				if err != nil || a.Item.ID != it.ID || same.Resume && (a.Item.Name != it.Name || a.Item.Intermediary != it.Intermediary) {
					t.Errorf("%+v: %+v %v", same, a, err)
				}
			}
			if got := get(t, n, it.ID); got.Name != it.Name || got.Path != it.Path || got.Intermediary != it.Intermediary {
				t.Errorf("kept: %+v", got)
			}
			if again := open(t, Options{Dir: dir}); again.AsidePath() != "" {
				t.Error("set aside twice")
			}
		})
	}
}

// TestDamagedWithoutSpool: a damaged database stops nobody where nothing was ever added.
func TestDamagedWithoutSpool(t *testing.T) {
	b := open(t, Options{})
	must.Do(t, b.Close())
	write(t, b.dbPath(), bytes.Repeat([]byte("nothing of ours\n"), 1000))
	if n := open(t, Options{Dir: b.o.Dir}); n.AsidePath() == "" {
		t.Error("not set aside")
	}
}

// TestSummary checks what is counted as what, with and without a worker.
func TestSummary(t *testing.T) {
	now := clocktest.New(monday)
	b := open(t, Options{Now: now.Now})
	for i, set := range []string{"state = 'delivered'", "state = 'sending', whole = 1", "state = 'waiting'", "state = 'sending'",
		"state = 'uncertain'", "state = 'refused'", "state = 'refused', kept = 0"} {
		it := add(t, b, write(t, names(i), []byte(names(i))))
		must.Get(b.db.Exec("UPDATE items SET "+set+" WHERE id = ?", it.ID))(t)
		now.Forward(time.Hour)
	}
	must.Do(t, b.tx(t.Context(), func(tx *sql.Tx) error { return writeQueue(t.Context(), tx, Queue{HoldReason: Forbidden}) }))
	want := Summary{Waiting: 2, Uncertain: 2, Kept: 1, HoldReason: Forbidden, Spool: true, fullyRead: 1}
	compare := func() {
		t.Helper()
		got, err := Summarize(t.Context(), b.o.Dir)
		if want.Oldest = got.Oldest; err != nil || got != want || !got.Oldest.Equal(monday.Add(time.Hour)) {
			t.Errorf("%+v %v, want %+v", got, err, want)
		}
	}
	compare()
	l := b.lock()
	must.Get(l.TryLock())(t)
	write(t, b.dbPath()+".damaged", nil)
	want.Waiting, want.Uncertain, want.Working, want.Aside = 3, 1, true, true
	compare()
	must.Do(t, l.Unlock())
	must.Get(b.db.Exec("UPDATE items SET state = 'delivered' WHERE state IN ('waiting', 'sending')"))(t)
	if got, err := Summarize(t.Context(), b.o.Dir); err != nil || got.Waiting != 0 || got.HoldReason != "" {
		t.Errorf("nothing waits: %+v %v", got, err)
	}
}

// TestDamagedDatabaseStays checks that the damaged database stays in place if no
// new one can be created, so that the next attempt recovers what is in the spool.
func TestDamagedDatabaseStays(t *testing.T) {
	for what, meanwhile := range map[string]func(t *testing.T, path string, cancel func(), disk0 *failing){
		"its log cannot be removed": func(t *testing.T, path string, _ func(), _ *failing) {
			must.Do(t, os.MkdirAll(filepath.Join(path+"-shm", "full"), 0o700))
		},
		"no new one can be made":    func(_ *testing.T, _ string, cancel func(), _ *failing) { cancel() },
		"a copy cannot be read now": func(_ *testing.T, _ string, _ func(), disk0 *failing) { disk0.set(syscall.EIO, "read") },
	} {
		t.Run(what, func(t *testing.T) {
			b := open(t, Options{})
			it := add(t, b, write(t, "a.zip", []byte("PK kept")))
			dir, path := b.o.Dir, b.dbPath()
			must.Do(t, b.Close())
			write(t, path, bytes.Repeat([]byte("nothing of ours\n"), 1000))
			ctx, cancel := context.WithCancel(t.Context())
			disk0 := &failing{files: disk{}}
			now := func() time.Time { meanwhile(t, path, cancel, disk0); return monday }
			if n, err := Open(ctx, Options{Dir: dir, fs: disk0, Now: now}); err == nil {
				t.Fatal("opened", n.Close())
			}
			must.Do(t, os.RemoveAll(path+"-shm"))
			if got := get(t, open(t, Options{Dir: dir}), it.ID); got.Reason != Recovered {
				t.Errorf("%+v", got)
			}
		})
	}
}
