package outbox

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"wiebelt/internal/hub"
	"wiebelt/internal/testutil/clocktest"
	"wiebelt/internal/testutil/must"
)

// TestResolve: a user decides about what may have been delivered, with a note.
func TestResolve(t *testing.T) {
	answer := hub.Receipt{}
	now := clocktest.New(monday)
	b := open(t, Options{Hub: to(answering(func([][]byte) (hub.Receipt, error) { return answer, nil })), Now: now.Now})
	one := add(t, b, write(t, "a.zip", []byte("a")))
	drive(t, b)
	now.Forward(time.Hour)
	two := add(t, b, write(t, "b.zip", []byte("b")))
	drive(t, b)
	for _, it := range []Item{one, two} {
		if got := get(t, b, it.ID); got.State != Uncertain || got.Reason != NoAnswer || !got.HasCopy {
			t.Fatalf("%+v", got)
		}
		if _, err := b.Retry(t.Context(), it.ID); !errors.Is(err, ErrState) {
			t.Errorf("retry of a maybe: %v", err)
		}
		if err := b.Forget(t.Context(), it.ID, false); !errors.Is(err, ErrUndecided) || troubleIn(err) != "" {
			t.Errorf("a maybe was forgotten: %v", err)
		}
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := b.Resolve(ended, one.ID, true, "x"); !errors.Is(err, context.Canceled) || troubleIn(err) != "" {
		t.Errorf("given up: %v", err)
	}
	spooled(t, b, 2) // what was not decided keeps its copy
	if got, err := b.Resolve(t.Context(), one.ID, true, "gebeld\nmet de beheerder"); err != nil || got.State != Delivered || got.Reason != ResolvedByPerson || got.Note != "gebeld met de beheerder" || got.HasCopy {
		t.Errorf("%+v %v", got, err)
	}
	spooled(t, b, 1)
	if _, err := b.Resolve(t.Context(), one.ID, true, "x"); !errors.Is(err, ErrState) || troubleIn(err) != "" {
		t.Errorf("twice: %v", err)
	}
	answer = hub.Receipt{Status: 200, Answer: "ok"}
	if got, err := b.Resolve(t.Context(), two.ID, false, "niet ontvangen"); err != nil || got.State != Waiting {
		t.Errorf("%+v %v", got, err)
	}
	now.Forward(time.Hour)
	drive(t, b)
	if got := get(t, b, two.ID); got.State != Delivered || got.Note != "niet ontvangen" {
		t.Errorf("%+v", got)
	}
	if _, err := b.Resolve(t.Context(), "nobody", true, "x"); !errors.Is(err, ErrNoItem) {
		t.Errorf("nobody: %v", err)
	}
}

// TestReset: an item that is sent again has only its attempts left of what was tried.
func TestReset(t *testing.T) {
	it := Item{ID: "id", HasCopy: true, State: Refused, Reason: GaveUp, NextTry: monday, Decided: monday, Deadline: monday, FirstTry: monday,
		LastTry: monday, Tries: 4, Attempts: 3, unknownAttempts: 1, oddAttempts: 2}
	it.reset()
	if want := (Item{ID: "id", HasCopy: true, State: Waiting, Attempts: 3}); it != want {
		t.Errorf("%+v", it)
	}
}

// TestItems: items come in the order asked for, without those that there are not.
func TestItems(t *testing.T) {
	b := open(t, Options{})
	first, second := add(t, b, write(t, "a.zip", []byte("a"))), add(t, b, write(t, "b.zip", []byte("b")))
	all := must.Get(b.Items(t.Context(), []string{second.ID, "nobody", first.ID}))(t)
	if len(all) != 2 || all[0].ID != second.ID || all[1].ID != first.ID {
		t.Errorf("%+v", all)
	}
}

// TestBeginningsOfIDs: a beginning that fits several items, or is very short, means none.
func TestBeginningsOfIDs(t *testing.T) {
	b := open(t, Options{})
	insert := func(id string) {
		must.Do(t, b.tx(t.Context(), func(tx *sql.Tx) error { return insertItem(t.Context(), tx, Item{ID: id}) }))
	}
	insert("01234567-f1")
	for beginning, found := range map[string]bool{"01234567": true, "01234567-": true, "0123456": false, "01234568": false} {
		if it, err := b.Get(t.Context(), beginning); found != (it.ID == "01234567-f1") || found == errors.Is(err, ErrNoItem) {
			t.Errorf("%s: %q, %v", beginning, it.ID, err)
		}
	}
	insert("01234567-f2")
	if it, err := b.Get(t.Context(), "01234567-f"); !errors.Is(err, ErrNoItem) {
		t.Errorf("one of two: %q, %v", it.ID, err)
	}
}

// nowhere checks that no file of an outbox contains the words.
func nowhere(t *testing.T, b *Outbox, words ...string) {
	t.Helper()
	must.Do(t, filepath.WalkDir(b.o.Dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		for _, word := range words {
			if bytes.Contains(content, []byte(word)) {
				t.Errorf("%s stands in %s", word, filepath.Base(path))
			}
		}
		return err
	}))
}

// TestForget checks that the row, the receipts, the
// copy and the name in the database files are gone.
func TestForget(t *testing.T) {
	b := open(t, Options{Hub: says(hub.Receipt{Status: 200, Answer: "canary-answer"}), Policy: Policy{KeepSent: 10}})
	it := add(t, b, write(t, "canary-name.zip", []byte("PK canary-content")))
	other := add(t, b, write(t, "other.zip", []byte("PK other")))
	drive(t, b)
	must.Do(t, b.Forget(t.Context(), it.ID, false))
	if err := b.Forget(t.Context(), it.ID, true); !errors.Is(err, ErrNoItem) || troubleIn(err) != "" {
		t.Errorf("twice: %v", err)
	}
	nowhere(t, b, "canary-name", "canary-content", it.ID)
	if get(t, b, other.ID).State != Delivered {
		t.Error("another item went")
	}
	if n, err := b.ForgetDelivered(t.Context()); n != 1 || err != nil {
		t.Errorf("%d %v", n, err)
	}
	spooled(t, b, 0)
	// The same file for the same message box is recognised as long as receipts are kept.
	again := write(t, "again.zip", []byte("PK other"))
	a, err := b.Add(t.Context(), Source{Path: again, Intermediary: "intermediary"})
	if err != nil || !a.Duplicate || a.Item.State != Delivered || a.Item.Decided.IsZero() || a.Item.ID != "" {
		t.Errorf("%+v %v", a, err)
	}
	if a, err := b.Add(t.Context(), Source{Path: again, Intermediary: "another"}); err != nil || a.Duplicate {
		t.Errorf("%+v %v", a, err)
	} else if err := b.Forget(t.Context(), a.Item.ID, false); !errors.Is(err, ErrUndecided) {
		t.Errorf("what waits was forgotten: %v", err)
	} else if err := b.Forget(t.Context(), a.Item.ID, true); err != nil {
		t.Error(err)
	} else if a, err := b.Add(t.Context(), Source{Path: again, Intermediary: "another"}); err != nil || a.Duplicate {
		t.Errorf("forgotten, and taken for delivered: %+v %v", a, err)
	} else {
		must.Do(t, b.Forget(t.Context(), a.Item.ID, true))
	}
	// A copy that cannot be deleted now is deleted later, but its item is gone at once.
	disk := &failing{files: b.o.fs}
	b.o.fs = disk
	left := add(t, b, write(t, "left.zip", []byte("PK left")))
	disk.set(fs.ErrPermission, "remove")
	if err := b.Forget(t.Context(), left.ID, true); err == nil {
		t.Error("nobody is told of a copy that stays")
	}
	if _, err := b.Get(t.Context(), left.ID); !errors.Is(err, ErrNoItem) {
		t.Errorf("without its copy: %v", err)
	}
	disk.set(nil)
	b.o.Now = func() time.Time { return time.Now().Add(keepReceipts + time.Hour) }
	must.Do(t, b.purge(t.Context()))
	spooled(t, b, 0)
	if a, err := b.Add(t.Context(), Source{Path: again, Intermediary: "intermediary"}); err != nil || a.Duplicate {
		t.Errorf("%+v %v", a, err)
	}
}

// TestWatch checks that every change yields a snapshot,
// whoever made it, and that snapshots never change afterwards.
func TestWatch(t *testing.T) {
	b := open(t, Options{})
	b.o.Tick = time.Hour // this process's changes are reported at once
	ctx, cancel := context.WithCancel(t.Context())
	seen := make(chan *Snapshot, 100)
	done := make(chan error, 1)
	go func() { done <- b.Watch(ctx, func(s *Snapshot) { seen <- s }) }()
	if s := <-seen; len(s.Items) != 0 || s.Working {
		t.Errorf("%+v", s)
	}
	it := add(t, b, write(t, "a.zip", []byte("a")))
	first := <-seen
	if len(first.Items) != 1 || first.Counts[Waiting] != 1 {
		t.Errorf("%+v", first)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	b.o.Tick = time.Millisecond
	ctx, cancel = context.WithCancel(t.Context())
	later := make(chan *Snapshot, 100)
	go func() { done <- b.Watch(ctx, func(s *Snapshot) { later <- s }) }()
	<-later
	other := open(t, Options{Dir: b.o.Dir}) // as another process would
	must.Do(t, other.Forget(t.Context(), it.ID, true))
	if s := <-later; len(s.Items) != 0 || len(first.Items) != 1 {
		t.Errorf("%+v", s)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
