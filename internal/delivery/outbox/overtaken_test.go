package outbox

import (
	"context"
	"errors"
	"testing"

	"wiebelt/internal/hub"
	"wiebelt/internal/testutil/clocktest"
	"wiebelt/internal/testutil/must"
)

// unwritten is an outbox whose worker knows what the hub said of each item and
// could not write it down, and was started again since.
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

// TestOvertaken: what could not be written down in time decides nothing that was
// decided since, and holds nobody up.
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
	for _, c := range []struct {
		it   Item
		want State
	}{{resolved, Delivered}, {again, Waiting}, {left, Uncertain}} {
		if got := get(t, b, c.it.ID); got.State != c.want {
			t.Errorf("%s, want %s", got.State, c.want)
		}
	}
}

// TestWrittenLate: what the hub said counts, also when the worker was started
// again before it could be written down.
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
