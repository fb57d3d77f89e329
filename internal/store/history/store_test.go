package history

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/store/sqlitefile"
	"wiebelt/internal/testutil/clocktest"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/processtest"
)

// beside is how many calls the other process changes; it removes every fifth of them.
const beside = 500

// ahead is by how many of them it may be ahead of the test,
// which would otherwise wait for the file until it is done.
const ahead = 4

// changeAll is the windows' process: it changes existing calls and
// acknowledges each on its standard output.
func changeAll(t must.Test, args []string) {
	s := must.Get(OpenBeside(context.Background(), args[0], KeepFull, time.Now))(t)
	next := bufio.NewScanner(os.Stdin)
	for id := int64(1); id <= beside && (id <= ahead || next.Scan()); id++ {
		if id%5 == 0 {
			must.Get(s.Remove(context.Background(), id))(t)
		} else {
			e := known(time.Now())
			e.ID, e.Name = id, fmt.Sprint("A. ", id)
			must.Do(t, s.SetPerson(context.Background(), e))
		}
		fmt.Println(id)
	}
}

// TestTwoWriters lets two processes write while a third
// reads, and checks that nothing fails and nothing is lost.
func TestTwoWriters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h.db")
	s := open(t, path, KeepFull, clocktest.New(monday))
	for range beside {
		put(t, s, known(monday))
	}
	p := processtest.Start(t, "beside", path)
	r := must.Get(OpenReadOnly(t.Context(), path))(t)
	defer r.Close()
	var mine []int64
	n := 0
	for range p.Lines { // one of our writes for each of theirs, so neither falls behind
		_, _ = p.Input.Write([]byte("\n")) // it may have exited
		e := known(monday)
		e.Name = "B. Hier"
		mine = append(mine, put(t, s, e))
		if n++; n%5 == 0 {
			must.Do(t, s.Purge(t.Context()))
			must.Get(s.Remove(t.Context(), mine[len(mine)-1]))(t)
			mine = mine[:len(mine)-1]
		}
		must.Get(r.Page(t.Context(), Query{}, 0, 100))(t)
	}
	if err := p.Wait(); err != nil || n != beside {
		t.Errorf("it changed %d: %v", n, err)
	}
	kept := map[int64]string{}
	for _, e := range read(t, path) {
		kept[e.ID] = e.Name
	}
	for id := int64(1); id <= beside; id++ {
		want := fmt.Sprint("A. ", id)
		if id%5 == 0 {
			want = ""
		}
		if kept[id] != want {
			t.Errorf("call %d reads %q", id, kept[id])
		}
	}
	for _, id := range mine {
		if kept[id] != "B. Hier" {
			t.Errorf("call %d of ours reads %q", id, kept[id])
		}
	}
	whole(t, path)
}

// TestBesideLooksAfterNothing checks that a store beside the resident's
// creates no file, leaves an active call alone and does not touch a
// damaged or newer file, and that the resident's store sees what it wrote.
func TestBesideLooksAfterNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h.db")
	if _, err := OpenBeside(t.Context(), path, KeepFull, time.Now); !errors.Is(err, ErrGone) {
		t.Errorf("no file: %v", err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("it made a file")
	}
	c := clocktest.New(monday)
	s := open(t, path, KeepFull, c)
	live, old := known(monday), known(monday)
	live.Result, live.Answered, live.Ended = ResultLive, time.Time{}, time.Time{}
	live.ID = put(t, s, live)
	old.Result, old.Number = ResultMissed, "+31201112233"
	old.ID = put(t, s, old)
	c.Forward(30 * 24 * time.Hour)
	if s.Missed() != 1 {
		t.Fatalf("%d missed", s.Missed())
	}
	b := must.Get(OpenBeside(t.Context(), path, KeepFull, c.Now))(t)
	must.Do(t, b.Handle(t.Context(), old.ID))
	must.Do(t, b.Close())
	if e, err := s.Get(t.Context(), live.ID); err != nil || e.Result != ResultLive || e.Name != live.Name {
		t.Errorf("the call that is on: %+v, %v", e, err)
	}
	if e, err := s.Get(t.Context(), old.ID); err != nil || e.Open() {
		t.Errorf("the old one: %+v, %v", e, err)
	}
	if err := s.Recount(t.Context()); err != nil || s.Missed() != 0 {
		t.Errorf("%d missed, %v", s.Missed(), err)
	}
	must.Do(t, s.Close())
	for _, p := range append([]string{path}, path+"-wal", path+"-shm") {
		_ = os.Remove(p)
	}
	must.Do(t, os.WriteFile(path, []byte(strings.Repeat("no database ", 1000)), 0o600))
	if _, err := OpenBeside(t.Context(), path, KeepFull, time.Now); err == nil {
		t.Error("a damaged file was opened")
	}
	if all, _ := filepath.Glob(path + "*"); len(all) != 1 {
		t.Errorf("it was put aside: %v", all)
	}
	off := must.Get(OpenBeside(t.Context(), path, KeepOff, time.Now))(t)
	must.Do(t, off.Handle(t.Context(), 1))
	must.Do(t, off.Close())
	if _, err := os.Stat(path); err != nil {
		t.Errorf("nothing is to be kept, and it removed the file: %v", err)
	}
}

// TestPrepareShutdown checks that an urgent write is in the file itself once it is
// closed, even if someone else has it open.
func TestPrepareShutdown(t *testing.T) {
	c := clocktest.New(monday)
	path := filepath.Join(t.TempDir(), "history.db")
	s := open(t, path, KeepFull, c)
	r := must.Get(OpenReadOnly(t.Context(), path))(t)
	defer r.Close()
	must.Do(t, s.PrepareShutdown(t.Context()))
	put(t, s, Entry{Rang: c.Now(), Number: "+31612345678", Result: ResultMissed})
	must.Do(t, s.Close())
	alone := must.Get(sqlitefile.Open(path, "mode=ro&immutable=1"))(t) // without the log beside it
	defer alone.Close()
	var n int
	must.Do(t, alone.QueryRow("SELECT count(*) FROM calls").Scan(&n))
	if n != 1 {
		t.Errorf("%d calls", n)
	}
	s = open(t, path, KeepFull, c)
	must.Do(t, s.PrepareShutdown(t.Context()))
	put(t, s, Entry{Rang: c.Now(), Number: "+31612345678", Result: ResultMissed})
	must.Do(t, s.db.Close()) // nothing can reach the file any more
	if s.Close() == nil {
		t.Error("closed as if all were safe")
	}
	if _, err := s.Put(t.Context(), known(monday)); err == nil {
		t.Error("it is open again")
	}
}

// TestRemovedWhileRead checks that a call is gone even while a permanent reader keeps the log
// from being emptied, and that deleting everything later empties it.
func TestRemovedWhileRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	s := open(t, path, KeepFull, clocktest.New(monday))
	id := put(t, s, known(monday))
	r := must.Get(OpenReadOnly(t.Context(), path))(t)
	defer r.Close()
	tx := must.Get(r.db.Begin())(t)
	defer func() { _ = tx.Rollback() }()
	var n int
	must.Do(t, tx.QueryRow("SELECT count(*) FROM calls").Scan(&n))
	if was, err := s.Remove(t.Context(), id); err != nil || was.ID != id {
		t.Errorf("%+v, %v", was, err)
	}
	must.Do(t, tx.Rollback())
	must.Do(t, s.DeleteAll(t.Context()))
	if b := must.Get(os.ReadFile(path + "-wal"))(t); bytes.Contains(b, []byte(known(monday).Number)) {
		t.Error("it is still in the log")
	}
	if again := put(t, open(t, path, KeepFull, clocktest.New(monday)), known(monday)); again <= id {
		t.Errorf("ID %d was given again", again)
	}
}
