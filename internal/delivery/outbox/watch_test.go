package outbox

import (
	"context"
	"testing"
	"time"

	"wiebelt/internal/testutil/must"
)

// TestWatch: a snapshot for every change, whoever made it; none is changed later.
func TestWatch(t *testing.T) {
	b := open(t, Options{})
	b.o.Tick = time.Hour // what this process changes is seen at once
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
