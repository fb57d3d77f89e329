package outbox

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"testing"

	"wiebelt/internal/delivery/message"
	"wiebelt/internal/hub"
	"wiebelt/internal/testutil/must"
)

// TestFindingsAreKept: what the check found stays with the file that was taken,
// and comes with the refusal of one that was not.
func TestFindingsAreKept(t *testing.T) {
	b := open(t, Options{Check: Inspect(false)})
	dir := t.TempDir()
	id := add(t, b, write(t, filepath.Join(dir, "other.zip"), zipped(t, "<Anders/>"))).ID
	found := get(t, b, id).Findings()
	if len(found) != 1 || found[0].Code != message.OtherType {
		t.Errorf("%v", found)
	}
	add2, err := b.Add(t.Context(), Source{Path: write(t, filepath.Join(dir, "text.zip"), []byte("no ZIP at all")), Intermediary: "x"})
	var r *RefusedError
	if !errors.As(err, &r) || r.Code != string(message.NotZIP) || len(r.Findings) != 1 {
		t.Errorf("%+v, %v", add2, err)
	}
	strict := open(t, Options{Check: Inspect(true)})
	warned := write(t, filepath.Join(dir, "empty.zip"), zipped(t, "<Contractdocument><VP_GEBDAT>1</VP_GEBDAT></Contractdocument>"))
	if _, err := b.Add(t.Context(), Source{Path: warned, Intermediary: "x"}); err != nil {
		t.Error(err)
	}
	if _, err := strict.Add(t.Context(), Source{Path: warned, Intermediary: "x"}); !errors.Is(err, ErrRefused) {
		t.Errorf("a warning, strictly: %v", err)
	}
	if pack(nil) != "" || (Item{found: "nonsense"}).Findings() != nil {
		t.Error("nothing is something")
	}
}

// TestConfigure: another policy holds from the next item on.
func TestConfigure(t *testing.T) {
	d := answering(func([][]byte) (hub.Receipt, error) {
		return hub.Receipt{Status: 200, Answer: "ok", Cut: true}, nil
	})
	b := open(t, Options{Hub: to(d)})
	if err := b.Configure(Policy{Uncertain: "perhaps"}); err == nil {
		t.Error("nonsense was taken")
	}
	must.Do(t, b.Configure(Policy{Duplicate: DuplicateSend, KeepSent: 3, Uncertain: UncertainRetry}))
	path := write(t, "a.zip", zipped(t, "a"))
	ids := []string{add(t, b, path).ID, add(t, b, path).ID}
	if ids[0] == ids[1] || !b.rules().retry {
		t.Errorf("the policy of before: %v", ids)
	}
	work(t, b)
	until(t, b, func(all []Item) bool { return all[0].State == Delivered && all[1].State == Delivered })
	it := get(t, b, ids[0])
	if it.State != Delivered || !it.Kept {
		t.Errorf("%+v", it)
	}
	all, err := b.Receipts(t.Context(), ids[0])
	if err != nil || len(all) != 1 || !all[0].Cut || all[0].Body != "ok" {
		t.Errorf("%+v, %v", all, err)
	}
}

// TestAskingIsNotWorking: whoever asks whether somebody delivers keeps no worker
// from beginning.
func TestAskingIsNotWorking(t *testing.T) {
	b := open(t, Options{Hub: to(answering(func([][]byte) (hub.Receipt, error) { return hub.Receipt{}, nil }))})
	ctx, cancel := context.WithCancel(t.Context())
	var asking sync.WaitGroup
	asking.Go(func() {
		for ctx.Err() == nil {
			b.Busy()
		}
	})
	stop := make(chan struct{})
	close(stop)
	for i := range 200 {
		if err := b.Work(ctx, stop); err != nil {
			t.Errorf("%d: %v", i, err)
			break
		}
	}
	cancel()
	asking.Wait()
}
