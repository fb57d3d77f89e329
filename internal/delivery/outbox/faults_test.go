package outbox

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"wiebelt/internal/hub"
	"wiebelt/internal/testutil/clocktest"
	"wiebelt/internal/testutil/must"
)

// failing is a file system on which some operations fail.
type failing struct {
	files
	mu    sync.Mutex
	next  func(op string) error // nil: everything succeeds
	short bool                  // a failing write writes half its data
}

func (f *failing) fails(op string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.next == nil {
		return nil
	}
	if err := f.next(op); err != nil {
		return &fs.PathError{Op: op, Path: "/canary", Err: err}
	}
	return nil
}

// set makes these operations fail with err.
func (f *failing) set(err error, ops ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.next = func(op string) error {
		if slices.Contains(ops, op) {
			return err
		}
		return nil
	}
}

func (f *failing) do(op string, really func() error) error {
	if err := f.fails(op); err != nil {
		return err
	}
	return really()
}

func (f *failing) file(op string, really func(path string) (file, error), path string) (x file, err error) {
	err = f.do(op, func() (err error) { x, err = really(path); return err })
	if err != nil {
		return nil, err
	}
	return &failingFile{x, f}, nil
}

func (f *failing) Create(path string) (file, error) { return f.file("create", f.files.Create, path) }

func (f *failing) Open(path string) (file, error) { return f.file("open", f.files.Open, path) }

func (f *failing) Rename(from, to string) error {
	return f.do("rename", func() error { return f.files.Rename(from, to) })
}

func (f *failing) Remove(path string) error {
	return f.do("remove", func() error { return f.files.Remove(path) })
}

func (f *failing) MkdirAll(path string) error {
	return f.do("mkdir", func() error { return f.files.MkdirAll(path) })
}

func (f *failing) SyncDir(path string) error {
	return f.do("syncdir", func() error { return f.files.SyncDir(path) })
}

type failingFile struct {
	file
	f *failing
}

func (x *failingFile) Write(p []byte) (n int, err error) {
	if err := x.f.fails("write"); err != nil {
		if x.f.short {
			n, _ = x.file.Write(p[:len(p)/2])
		}
		return n, err
	}
	return x.file.Write(p)
}

func (x *failingFile) Read(p []byte) (n int, err error) {
	err = x.f.do("read", func() (err error) { n, err = x.file.Read(p); return err })
	return n, err
}

func (x *failingFile) Sync() error { return x.f.do("sync", x.file.Sync) }

// TestDiskFailsWhileAdding checks that nothing is added or left
// behind, and that the error is the right kind of trouble.
func TestDiskFailsWhileAdding(t *testing.T) {
	disk0 := &failing{files: disk{}, short: true}
	b := open(t, Options{fs: disk0})
	path := write(t, "canary.zip", []byte("PK some content"))
	for _, c := range []struct {
		err  error
		kind string
		ops  []string
	}{
		{syscall.ENOSPC, DiskFull, []string{"create", "write", "sync", "rename", "syncdir"}},
		{syscall.EROFS, ReadOnly, []string{"mkdir", "create", "rename"}},
		{syscall.EACCES, ReadOnly, []string{"mkdir", "create"}},
		{syscall.ENOENT, SpoolGone, []string{"create", "rename"}},
		{syscall.EIO, DiskFailed, []string{"create", "write", "sync", "rename", "syncdir"}},
	} {
		for _, op := range c.ops {
			disk0.set(c.err, op)
			_, err := b.Add(t.Context(), Source{Path: path, Intermediary: "x"})
			if troubleIn(err) != c.kind || strings.Contains(err.Error(), "canary") {
				t.Errorf("%s %v: %v, want %s", op, c.err, err, c.kind)
			}
			disk0.set(nil)
			spooled(t, b, 0)
		}
	}
	if s, err := b.Snapshot(t.Context()); err != nil || len(s.Items) != 0 {
		t.Errorf("%d items, %v", len(s.Items), err)
	}
	add(t, b, path) // and afterwards everything works
}

// TestDatabaseFull checks that once the database is full,
// no file is accepted, and none accepted before is lost.
func TestDatabaseFull(t *testing.T) {
	requests := 0
	b := open(t, Options{Hub: to(answering(func([][]byte) (hub.Receipt, error) {
		requests++
		return hub.Receipt{Status: 200, Answer: strings.Repeat("x", 4000)}, nil
	})), Policy: Policy{KeepSent: 9}})
	var taken []Item
	full := func(pages string) {
		t.Helper()
		must.Get(b.db.Exec("PRAGMA max_page_count = " + pages))(t)
	}
	for i := range 5 {
		taken = append(taken, add(t, b, write(t, names(i), []byte(names(i)))))
	}
	full("1") // its current size
	for i := 5; ; i++ {
		if i > 200 {
			t.Fatal("it is never full")
		}
		a, err := b.Add(t.Context(), Source{Path: write(t, names(i), []byte(names(i))), Intermediary: "x"})
		if err != nil {
			if troubleIn(err) != DiskFull {
				t.Fatal(err)
			}
			break
		}
		taken = append(taken, a.Item)
	}
	spooled(t, b, len(taken))
	// The answer cannot be stored: nothing else is sent until it is.
	for range 3 {
		_, _, err := b.step(t.Context())
		if troubleIn(err) != DiskFull {
			t.Fatalf("%v after %d requests", err, requests)
		}
	}
	if requests > 1 {
		t.Errorf("%d requests went out", requests)
	}
	// A summary immediately counts what was sent as uncertain.
	if s, err := Summarize(t.Context(), b.o.Dir); err != nil || s.Uncertain != requests || s.Waiting != len(taken)-requests {
		t.Errorf("%+v %v, with %d requests", s, err, requests)
	}
	full("100000")
	drive(t, b)
	for _, it := range taken {
		if got := get(t, b, it.ID); got.State != Delivered {
			t.Errorf("%+v", got)
		}
	}
	if requests != len(taken) {
		t.Errorf("%d requests for %d files", requests, len(taken))
	}
}

// TestSpoolGone checks that the queue rests while the whole folder is gone, and that
// a single copy that is gone or was changed is reported and blocks no other item.
func TestSpoolGone(t *testing.T) {
	b := open(t, Options{Hub: says(hub.Receipt{Status: 200, Answer: "ok"}), Policy: Policy{KeepRefused: 30}})
	gone, changed, shorter, fine := add(t, b, write(t, "a.zip", []byte("one"))), add(t, b, write(t, "b.zip", []byte("two"))),
		add(t, b, write(t, "c.zip", []byte("three"))), add(t, b, write(t, "d.zip", []byte("four")))
	away := filepath.Join(t.TempDir(), "away")
	must.Do(t, os.Rename(b.spoolDir(), away))
	for range 2 {
		_, _, err := b.step(t.Context())
		if troubleIn(err) != SpoolGone {
			t.Fatal(err)
		}
	}
	for _, it := range []Item{gone, changed, shorter, fine} {
		if got := get(t, b, it.ID); got.State != Waiting || got.Tries != 0 {
			t.Errorf("%+v", got)
		}
	}
	must.Do(t, os.Rename(away, b.spoolDir()))
	must.Do(t, os.Remove(b.spoolPath(gone.ID)))
	write(t, b.spoolPath(changed.ID), []byte("tw0"))
	write(t, b.spoolPath(shorter.ID), []byte("th"))
	drive(t, b)
	for _, c := range []struct {
		it    Item
		state State
		why   Reason
	}{{gone, Refused, CopyMissing}, {changed, Refused, CopyDamaged}, {shorter, Refused, CopyDamaged}, {fine, Delivered, ""}} {
		if got := get(t, b, c.it.ID); got.State != c.state || got.Reason != c.why {
			t.Errorf("%s %s, want %s %s", got.State, got.Reason, c.state, c.why)
		}
	}
	if _, err := b.Retry(t.Context(), gone.ID); !errors.Is(err, ErrState) {
		t.Errorf("retry without a copy: %v", err)
	}
	// Now the outbox's own folder is gone, and then replaced.
	must.Do(t, os.RemoveAll(b.o.Dir))
	path := write(t, "e.zip", []byte("five"))
	for _, replaced := range []bool{false, true} {
		if replaced {
			must.Do(t, os.Mkdir(b.o.Dir, 0o700))
			write(t, b.dbPath(), nil)
		}
		_, err := b.Add(t.Context(), Source{Path: path, Intermediary: "x"})
		if _, made := os.Stat(b.spoolDir()); troubleIn(err) != SpoolGone || made == nil {
			t.Errorf("taken into nothing, replaced %v: %v, a spool: %v", replaced, err, made == nil)
		}
		if err := b.Release(t.Context()); troubleIn(err) != SpoolGone || !b.Gone() {
			t.Errorf("changed nothing, replaced %v: %v", replaced, err)
		}
	}
}

// TestWorkerGoesOnAfterTrouble: trouble is shown, and cleared once it is fixed.
func TestWorkerGoesOnAfterTrouble(t *testing.T) {
	disk0 := &failing{files: disk{}}
	b := open(t, Options{fs: disk0, Hub: says(hub.Receipt{Status: 200, Answer: "ok"})})
	it := add(t, b, write(t, "a.zip", []byte("one")))
	away := filepath.Join(t.TempDir(), "away")
	must.Do(t, os.Rename(b.spoolDir(), away))
	work(t, b)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	shown := ""
	if err := b.Watch(ctx, func(s *Snapshot) {
		if shown = s.Trouble; shown != "" {
			cancel()
		}
	}); err != nil || shown != SpoolGone {
		t.Fatalf("%v, trouble %q", err, shown)
	}
	must.Do(t, os.Rename(away, b.spoolDir()))
	ctx, cancel = context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := b.Watch(ctx, func(s *Snapshot) {
		if shown = s.Trouble; shown == "" && s.Counts[Delivered] == 1 {
			cancel()
		}
	}); err != nil || shown != "" {
		t.Errorf("%v, still %q", err, shown)
	}
	if got := get(t, b, it.ID); got.State != Delivered {
		t.Errorf("%+v", got)
	}
}

// TestDiskFailsWhileSending checks that a copy that cannot be read now is
// sent later, and that the hub never takes half a copy for a whole one.
func TestDiskFailsWhileSending(t *testing.T) {
	now := clocktest.New(monday)
	disk0 := &failing{files: disk{}}
	requests := 0
	b := open(t, Options{fs: disk0, Now: now.Now, Hub: to(answering(func([][]byte) (hub.Receipt, error) {
		requests++
		return hub.Receipt{Status: 200, Answer: "ok"}, nil
	}))})
	it := add(t, b, write(t, "a.zip", []byte("one")))
	for _, op := range []string{"open", "read"} {
		disk0.set(syscall.EIO, op)
		if _, _, err := b.step(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := get(t, b, it.ID); got.State != Waiting || got.Reason != CopyUnreadable || got.Attempts != 0 {
			t.Errorf("%s: %+v", op, got)
		}
		now.Forward(time.Hour)
	}
	disk0.set(nil)
	drive(t, b)
	if got := get(t, b, it.ID); got.State != Delivered || requests != 1 {
		t.Errorf("%+v, %d requests", got, requests)
	}
}

// TestReadAgain checks that the database knows whether a copy was read to its end, also
// when it is read again after an expired token, and that without that it has no end.
func TestReadAgain(t *testing.T) {
	b := open(t, Options{})
	it := add(t, b, write(t, "a.zip", []byte("one")))
	_, _, err := b.next(t.Context(), b.o.Now())
	must.Do(t, err)
	u := &upload{b: b, ctx: t.Context(), id: it.ID, crc: it.crc, size: it.Size}
	for range 2 {
		r := must.Get(u.Open())(t)
		if get(t, b, it.ID).FullyRead {
			t.Error("opened, and taken for read")
		}
		_, err := io.ReadAll(r)
		must.Do(t, errors.Join(err, r.Close()))
		if !get(t, b, it.ID).FullyRead {
			t.Error("read, and not recorded")
		}
	}
	ended, end := context.WithCancel(t.Context())
	end()
	u.ctx = ended
	if _, err := u.Open(); !errors.Is(err, context.Canceled) {
		t.Errorf("opened again, and not recorded: %v", err)
	}
	r := must.Get(u.Open())(t)
	_, err = io.ReadAll(r)
	must.Do(t, r.Close())
	if !errors.Is(err, context.Canceled) || u.fullyRead.Load() {
		t.Errorf("its end came, and was not recorded: %v", err)
	}
}

// TestManyReceipts: of an item with many tries, the first receipt and the newest are kept.
func TestManyReceipts(t *testing.T) {
	b := open(t, Options{})
	it := add(t, b, write(t, "a.zip", []byte("one")))
	must.Do(t, b.tx(t.Context(), func(tx *sql.Tx) (err error) {
		for range maxReceipts + 10 {
			err = errors.Join(err, addReceipt(t.Context(), tx, it.ID, Receipt{}))
		}
		return err
	}))
	all := must.Get(b.Receipts(t.Context(), it.ID))(t)
	if n := len(all); n != maxReceipts || all[0].TryNumber != 1 || all[1].TryNumber != 12 || all[n-1].TryNumber != maxReceipts+10 {
		t.Errorf("%d: %+v", n, all)
	}
}

// TestInterrupted checks that an item whose sender was terminated is sent
// again if the hub cannot have received all of it, and is uncertain if it can.
func TestInterrupted(t *testing.T) {
	for _, how := range []string{UncertainHold, UncertainRetry} {
		b := open(t, Options{Hub: says(hub.Receipt{Status: 200, Answer: "ok"}), Policy: Policy{Uncertain: how}})
		half, whole := add(t, b, write(t, "a.zip", []byte("half"))), add(t, b, write(t, "b.zip", []byte("whole")))
		for range 2 {
			if _, _, err := b.next(t.Context(), time.Now()); err != nil {
				t.Fatal(err)
			}
		}
		must.Do(t, b.setFullyRead(t.Context(), whole.ID, true))
		l := b.lock() // held by the sender, as far as anybody can tell
		if got, err := l.TryLock(); !got || err != nil {
			t.Fatalf("%v %v", got, err)
		}
		if err := b.Recover(t.Context()); err != nil || get(t, b, whole.ID).State != Sending {
			t.Fatalf("%s: taken from a worker that runs: %v", how, err)
		}
		must.Do(t, errors.Join(l.Unlock(), b.Recover(t.Context())))
		if got := get(t, b, half.ID); got.State != Waiting || got.Reason != Interrupted {
			t.Errorf("%s: half: %+v", how, got)
		}
		want := Uncertain
		if how == UncertainRetry {
			want = Waiting
		}
		if got := get(t, b, whole.ID); got.State != want || got.Reason != Interrupted || got.Attempts != 1 {
			t.Errorf("%s: whole: %+v", how, got)
		}
		// A worker that starts continues a queue on hold: whoever started it may have fixed the cause.
		must.Do(t, b.tx(t.Context(), func(tx *sql.Tx) error { return writeQueue(t.Context(), tx, Queue{HoldReason: Forbidden}) }))
		for _, c := range []struct {
			recover func(context.Context) error
			hold    Reason
		}{{b.Recover, Forbidden}, {b.recover, NoReason}} {
			must.Do(t, c.recover(t.Context()))
			if q := must.Get(b.Queue(t.Context()))(t); q.HoldReason != c.hold {
				t.Errorf("%s: on hold: %q, want %q", how, q.HoldReason, c.hold)
			}
		}
	}
}

// unwritten returns an outbox whose worker could not store the
// hub's answer about each item and has been restarted since.
func unwritten(t *testing.T, r hub.Receipt, n int) (*Outbox, []Item) {
	t.Helper()
	c := clocktest.New(monday)
	b := open(t, Options{Now: c.Now, Hub: to(answering(func([][]byte) (hub.Receipt, error) { return r, nil })), Policy: Policy{KeepSent: 9, ItemsPerRequest: n}})
	var all []Item
	for i := range n {
		all = append(all, add(t, b, write(t, names(i), []byte(names(i)))))
	}
	items, _, err := b.next(t.Context(), b.o.Now())
	if err != nil || len(items) != n {
		t.Fatalf("%d items, %v", len(items), err)
	}
	b.send(t.Context(), items)
	must.Do(t, b.recover(t.Context()))
	return b, all
}

// TestOvertaken checks that a result that could not be stored in time
// changes nothing that was decided since, and blocks no other item.
func TestOvertaken(t *testing.T) {
	b, all := unwritten(t, hub.Receipt{}, 4)
	forgotten, resolved, again, left := all[0], all[1], all[2], all[3]
	must.Do(t, b.Forget(t.Context(), forgotten.ID, true))
	must.Get(b.Resolve(t.Context(), resolved.ID, true, "asked"))(t)
	must.Get(b.Resolve(t.Context(), again.ID, false, "asked"))(t)
	if err := b.record(t.Context()); err != nil {
		t.Fatalf("the worker would stand still: %v", err)
	}
	if len(b.pending) != 0 {
		t.Errorf("%d are still to be written", len(b.pending))
	}
	if _, err := b.Get(t.Context(), forgotten.ID); !errors.Is(err, ErrNoItem) {
		t.Error(err)
	}
	spooled(t, b, 3)
	for _, c := range []struct {
		it   Item
		want State
	}{{resolved, Delivered}, {again, Waiting}, {left, Uncertain}} {
		if got := get(t, b, c.it.ID); got.State != c.want {
			t.Errorf("%s, want %s", got.State, c.want)
		}
	}
}

// TestWrittenLate: the hub's answer counts even if the worker was restarted
// before it could be stored.
func TestWrittenLate(t *testing.T) {
	b, all := unwritten(t, hub.Receipt{Status: 201, Answer: "ok"}, 2)
	if got := get(t, b, all[0].ID); got.State != Uncertain {
		t.Fatalf("%s after the start", got.State)
	}
	must.Do(t, b.record(context.Background()))
	for _, it := range all {
		if got := get(t, b, it.ID); got.State != Delivered || got.Status != 201 {
			t.Errorf("%s, status %d", got.State, got.Status)
		}
	}
}
