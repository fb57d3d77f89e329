package journal

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"wiebelt/internal/relay/wire"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/natstest"
)

// open opens a server's journal, with its files in dir.
func open(t *testing.T) (j *Journal, dir string) {
	t.Helper()
	dir = t.TempDir()
	_, js := natstest.Start(t, dir)
	return must.Get(Open(t.Context(), js, 1, 2, slog.New(slog.DiscardHandler)))(t), dir
}

// TestDays: once a call's days are over, nobody receives it, and no file contains any trace
// of it; a newer one stays. A call recorded by two relays is kept once.
func TestDays(t *testing.T) {
	j, dir := open(t)
	begin := time.Now()
	for range 2 {
		j.store(t.Context(), note{"anna", wire.Call{ID: "a", Number: "0698760001", Began: begin}, begin})
	}
	pages := func() int {
		t.Helper()
		p := must.Get(j.Page(t.Context(), "anna", 0))(t)
		return len(p.Calls)
	}
	if n := pages(); n != 1 {
		t.Fatalf("%d calls", n)
	}
	for _, step := range []struct {
		after time.Duration
		left  int
	}{{47 * time.Hour, 1}, {49 * time.Hour, 0}} {
		j.now = func() time.Time { return begin.Add(step.after) }
		if n := pages(); n != step.left {
			t.Errorf("after %v: %d calls", step.after, n)
		}
		j.expire(t.Context())
		if found := bytes.Count(natstest.Files(t, dir), []byte("0698760001")); found != step.left {
			t.Errorf("after %v it stands there %d times", step.after, found)
		}
	}
}

// TestFull: a call for which there is no room waits, and the stored ones stay.
func TestFull(t *testing.T) {
	j, _ := open(t)
	c := j.stream.CachedInfo().Config
	c.MaxMsgs, c.Discard = -1, jetstream.DiscardOld // as earlier
	must.Get(j.js.UpdateStream(t.Context(), c))(t)
	j = must.Get(Open(t.Context(), j.js, 1, 2, j.log))(t)
	if c = j.stream.CachedInfo().Config; c.MaxMsgs != maxKept {
		t.Errorf("%d calls are kept", c.MaxMsgs)
	}
	c.MaxMsgs = 2
	must.Get(j.js.UpdateStream(t.Context(), c))(t)
	ended, stop := context.WithCancel(t.Context())
	stop()
	for i := range 3 {
		j.Enqueue("anna", wire.Call{ID: fmt.Sprint(i), Number: "0698760001", Began: time.Now()}, time.Now())
	}
	_ = j.Run(ended)
	p := must.Get(j.Page(t.Context(), "anna", 0))(t)
	if len(p.Calls) != 2 {
		t.Errorf("%d calls", len(p.Calls))
	}
	must.Get(j.Page(t.Context(), "anna", p.LastSeq))(t)
	_ = j.Run(ended)
	if p := must.Get(j.Page(t.Context(), "anna", 0))(t); len(p.Calls) != 1 {
		t.Errorf("%d calls once there is room", len(p.Calls))
	}
}

// TestCopyFrom: the calls of another journal are added, each once, even if an
// earlier import took some of them.
func TestCopyFrom(t *testing.T) {
	from, _ := open(t)
	to, _ := open(t)
	for _, id := range []string{"a", "b"} {
		from.store(t.Context(), note{"anna", wire.Call{ID: id, Number: "0698760001", Began: time.Now()}, time.Now()})
		must.Do(t, to.CopyFrom(t.Context(), from.js))
	}
	if p := must.Get(to.Page(t.Context(), "anna", 0))(t); len(p.Calls) != 2 {
		t.Errorf("%d calls", len(p.Calls))
	}
}

// broken is a stream whose servers disagree.
type broken struct{ jetstream.Stream }

func (broken) GetMsg(context.Context, uint64, ...jetstream.GetMsgOpt) (*jetstream.RawStreamMsg, error) {
	return nil, context.DeadlineExceeded
}

// TestGone: a removed user's calls are deleted, later if that fails at first, and no more
// are kept; the user may come back.
func TestGone(t *testing.T) {
	j, _ := open(t)
	begin := time.Now()
	missed := func(want map[wire.User]int) {
		t.Helper()
		for u, n := range want {
			j.store(t.Context(), note{u, wire.Call{ID: "a", Number: "0698760001", Began: begin}, begin})
			if p := must.Get(j.Page(t.Context(), u, 0))(t); len(p.Calls) != n {
				t.Errorf("%s: %d calls", u, len(p.Calls))
			}
		}
	}
	missed(map[wire.User]int{"anna": 1, "bob": 1})
	j.ForgetUsers([]wire.User{"anna"})
	whole := j.stream
	j.stream = broken{whole}
	if err := j.forgetGone(t.Context()); err == nil {
		t.Error("it is not tried again")
	}
	j.stream = whole
	must.Do(t, j.forgetGone(t.Context()))
	missed(map[wire.User]int{"anna": 0, "bob": 1})
	j.stream = broken{whole}
	if err := j.forgetGone(t.Context()); err != nil {
		t.Error("what is forgotten is looked for again")
	}
	j.stream = whole
	j.ForgetUsers(nil)
	missed(map[wire.User]int{"anna": 1, "bob": 1})
}
