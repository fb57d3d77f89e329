package resident

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"wiebelt/internal/deskapi"
	"wiebelt/internal/history"
	"wiebelt/internal/resident/ask"
	"wiebelt/internal/text"
)

const (
	// undoFor is how long a removed call can come back. It is in no file from the
	// first moment on; until then it is in memory.
	undoFor = 20 * time.Second
	// undoMost is how many calls removed in a row can come back.
	undoMost = 100
)

// removed are the calls that were just removed by hand. Safe for concurrent use.
type removed struct {
	mu    sync.Mutex
	all   []history.Entry
	round int // of the newest
}

// keep remembers a call for undoFor, and those before it as long.
func (r *removed) keep(e history.Entry, after func(time.Duration, func())) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.all) == undoMost {
		r.all = slices.Delete(r.all, 0, 1)
	}
	r.all = append(r.all, e)
	r.round++
	round := r.round
	after(undoFor, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.round == round {
			r.all = nil
		}
	})
}

// take gives a call back, once.
func (r *removed) take(id int64) (history.Entry, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.IndexFunc(r.all, func(e history.Entry) bool { return e.ID == id })
	if i < 0 {
		return history.Entry{}, false
	}
	e := r.all[i]
	r.all = slices.Delete(r.all, i, i+1)
	return e, true
}

// drop forgets them all: what is deleted on purpose is final.
func (r *removed) drop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = nil
}

// removeCall takes a call out of the history; for a while it can come back.
func (r *Resident) removeCall(ctx context.Context, e history.Entry, q ask.Request) error {
	err := r.store.Delete(ctx, e.ID)
	if err == nil {
		r.forgetRecent(sameCall(e))
		r.removed.keep(e, func(d time.Duration, f func()) { time.AfterFunc(d, f) })
		q.Reply(deskapi.KindCallsRemoved, deskapi.CallsEntry{Entry: e.ID})
	}
	r.historyChanged()
	return err
}

// undoRemove puts a removed call back.
func (r *Resident) undoRemove(q ask.Request) {
	var m deskapi.CallsEntry
	if !q.Decode(&m) {
		return
	}
	e, ok := r.removed.take(m.Entry)
	said := text.CallsTroubleGone
	if ok {
		err := r.store.Restore(q.Ctx, e)
		if err == nil || errors.Is(err, context.Canceled) {
			r.historyChanged()
			return
		}
		r.o.Log.Warn("a removed call was not put back", "why", err)
		said = text.CallsTroubleWrite
	}
	q.Reply(deskapi.KindCallsFailed, deskapi.CallsFailed{Entry: m.Entry, Sentence: r.lang().T(said)})
}
