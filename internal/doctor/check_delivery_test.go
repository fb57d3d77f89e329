package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"wiebelt/internal/config/fromsettings"
	"wiebelt/internal/delivery/outbox"
	"wiebelt/internal/hub"
	"wiebelt/internal/testutil/must"
)

// answers is a hub that accepts a delivery and returns one answer.
type answers hub.Receipt

func (a answers) Deliver(_ context.Context, items []hub.Item) (hub.Receipt, error) {
	for _, it := range items {
		f, err := it.Open()
		if err == nil {
			_, err = io.Copy(io.Discard, f)
			err = errors.Join(err, f.Close())
		}
		if err != nil {
			return hub.Receipt{}, err
		}
	}
	return hub.Receipt(a), nil
}

// added returns when the files in an outbox were taken; since is how the checks write that.
func added() time.Time { return time.Date(2026, 9, 14, 11, 14, 57, 0, time.Local) }

const since = "14-09-2026 11:14"

// box creates an outbox in the profile.
func box(change func(t *testing.T, dir string, b *outbox.Outbox)) func(*testing.T, *exam) {
	return func(t *testing.T, e *exam) {
		dir := fromsettings.OutboxFolder(e.Dirs)
		b := must.Get(outbox.Open(t.Context(), outbox.Options{Dir: dir, Now: added, Hub: func(string) (outbox.Deliverer, error) { return nil, errors.New("none") }}))(t)
		if change != nil {
			change(t, dir, b)
		}
		must.Do(t, b.Close())
	}
}

func put(t *testing.T, b *outbox.Outbox, n int) {
	for i := range n {
		path := filepath.Join(t.TempDir(), "a.zip")
		write(t, path, fmt.Sprint("file ", i))
		must.Get(b.Add(t.Context(), outbox.Source{Path: path, Intermediary: "x"}))(t)
	}
}

// worker holds the lock as a worker does, until the test ends.
func worker(t *testing.T, dir string) {
	l := flock.New(filepath.Join(dir, "outbox.lock"))
	if got, err := l.TryLock(); !got || err != nil {
		t.Fatalf("no lock: %v", err)
	}
	t.Cleanup(func() { _ = l.Unlock() })
}

// sent adds one file and has a hub answer with r.
func sent(r hub.Receipt) func(*testing.T, string, *outbox.Outbox) {
	return func(t *testing.T, dir string, first *outbox.Outbox) {
		b := must.Get(outbox.Open(t.Context(), outbox.Options{Dir: dir, Now: added, Hub: func(string) (outbox.Deliverer, error) { return answers(r), nil }, Policy: outbox.Policy{KeepRefused: 30}}))(t)
		put(t, b, 1)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		done := make(chan error, 1)
		go func() { done <- b.Work(ctx, nil) }()
		must.Do(t, b.Watch(ctx, func(s *outbox.Snapshot) {
			if s.Queue.HoldReason != "" || s.Counts[outbox.Waiting]+s.Counts[outbox.Sending] == 0 {
				cancel()
			}
		}))
		must.Do(t, errors.Join(<-done, b.Close()))
	}
}

// spoolIs sets the state of the folder with copies.
func spoolIs(fault error) func(*testing.T, *exam) {
	return func(t *testing.T, e *exam) {
		spool := filepath.Join(fromsettings.OutboxFolder(e.Dirs), "spool")
		must.Do(t, os.MkdirAll(spool, 0o700))
		e.sys.folder = func(path string) error {
			if path == spool {
				return fault
			}
			return nil
		}
	}
}
