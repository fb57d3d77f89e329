package resident

import (
	"context"
	"slices"
	"sync"
	"time"

	"wiebelt/internal/history"
)

const (
	// undoFor is how long a removed call, or a person taken off one, can come back.
	// They are in no file from the first moment on; until then they are in memory.
	undoFor = 20 * time.Second
	// undoMost is how many calls removed in a row can come back.
	undoMost = 500
)

// undoable is a call as it was.
type undoable struct {
	history.Entry
	person bool // it is still there, without its person
	chosen bool // who had been chosen among several
}

// removed is what was just taken away by hand. Safe for concurrent use.
type removed struct {
	mu    sync.Mutex
	all   []undoable
	round int // of the newest
}

// keep remembers a call for undoFor, and those before it as long.
func (r *removed) keep(e undoable, after func(time.Duration, func())) {
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

// take gives a call back, once, or its person.
func (r *removed) take(id int64, person bool) (undoable, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.IndexFunc(r.all, func(e undoable) bool { return e.ID == id && e.person == person })
	if i < 0 {
		return undoable{}, false
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

func (r *Resident) keepForUndo(e undoable) {
	r.removed.keep(e, func(d time.Duration, f func()) { time.AfterFunc(d, f) })
}

// removeCall takes a call out of the history; for a while it can come back.
func (r *Resident) removeCall(ctx context.Context, e history.Entry) error {
	_, err := r.store.Remove(ctx, e.ID)
	if err == nil {
		r.forgetRecent(sameCall(e))
		r.keepForUndo(undoable{Entry: e})
	}
	return err
}

// undoRemove puts a removed call back.
func (r *Resident) undoRemove(ctx context.Context, id int64) error {
	e, ok := r.removed.take(id, false)
	if !ok {
		return history.ErrGone
	}
	return r.store.Restore(ctx, e.Entry)
}

// notThis takes the person off a call; for a while he can come back.
func (r *Resident) notThis(ctx context.Context, e history.Entry) error {
	was, err := r.store.TakeOff(ctx, e.ID)
	if err != nil {
		return err
	}
	u := undoable{Entry: was, person: true}
	if was.Number != "" && was.ContactID != "" {
		id, ok := r.chosenBefore.Earlier(was.Number)
		u.chosen = ok && id == was.ContactID
		r.chosenBefore.NotThis(was.Number, was.ContactID)
	}
	r.keepForUndo(u)
	return nil
}

// undoNotThis gives a call its person back.
func (r *Resident) undoNotThis(ctx context.Context, id int64) error {
	u, ok := r.removed.take(id, true)
	if !ok {
		return history.ErrGone
	}
	if u.chosen {
		r.chosenBefore.Chose(u.Number, u.ContactID)
	}
	return r.store.SetPerson(ctx, u.Entry)
}
