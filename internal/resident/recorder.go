package resident

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"wiebelt/internal/call"
	"wiebelt/internal/companion"
	"wiebelt/internal/history"
	"wiebelt/internal/phone"
)

// recorder writes the engine's entries to the history on a goroutine of its
// own, in order, so that no card ever waits for a disk. changed is told after
// every write.
type recorder struct {
	store   *history.Store
	queue   chan companion.Entry
	changed func()
	log     *slog.Logger
	ids     map[call.ID]int64
	last    map[call.ID]history.Entry
}

// queued entries beyond this many are dropped and counted in the log: a flood
// must not grow the memory.
const queued = 1024

func newRecorder(store *history.Store, changed func(), log *slog.Logger) *recorder {
	return &recorder{store: store, queue: make(chan companion.Entry, queued), changed: changed, log: log,
		ids: map[call.ID]int64{}, last: map[call.ID]history.Entry{}}
}

// take never blocks.
func (r *recorder) take(e companion.Entry) {
	select {
	case r.queue <- e:
	default:
		r.log.Warn("history is behind; a call was left out")
	}
}

// run writes until ctx ends and everything queued by then is written.
func (r *recorder) run(ctx context.Context) {
	purge := time.NewTicker(time.Hour)
	defer purge.Stop()
	_ = r.store.Purge(ctx)
	for {
		select {
		case e := <-r.queue:
			r.put(ctx, e)
		case <-purge.C:
			if err := r.store.Purge(ctx); err != nil {
				r.log.Warn("old calls not removed", "why", err)
			}
		case <-ctx.Done():
			end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
			defer cancel()
			for {
				select {
				case e := <-r.queue:
					r.put(end, e)
				default:
					return
				}
			}
		}
	}
}

func (r *recorder) put(ctx context.Context, e companion.Entry) {
	h := entry(e)
	h.ID = r.ids[e.Call]
	if before, known := r.last[e.Call]; known && h.Ended.IsZero() {
		h.Ended, h.Result = before.Ended, cmp.Or(h.Result, before.Result)
	}
	id, err := r.store.Put(ctx, h)
	if err != nil {
		if !errors.Is(err, history.ErrGone) {
			r.log.Warn("call not written to the history", "why", err)
		}
		return
	}
	if e.Call != 0 {
		if len(r.ids) > 4*queued { // calls of long ago are never reported again
			clear(r.ids)
			clear(r.last)
		}
		h.ID = id
		r.ids[e.Call], r.last[e.Call] = id, h
	}
	r.changed()
}

func entry(e companion.Entry) history.Entry {
	c := e.Card
	h := history.Entry{
		Rang: c.Rang, Answered: c.Answered, Ended: e.Ended, Outgoing: c.Outgoing, Kind: e.Way.Kind,
		Shown: c.Number.Display(), Line: c.LineName, LineNumber: c.LineText, Name: c.PhoneName,
		Matches: e.Contacts, Outcome: outcomes[c.Outcome],
		Result: history.ResultOf(c.Tells, !c.Answered.IsZero(), !e.Ended.IsZero(), e.Reason),
	}
	if c.Number.Kind != phone.Withheld {
		h.Number = c.Number.Key()
	}
	// One match is the caller; of several only the one whose file was opened. A
	// foreign number's match is only possible and is nobody's name on disk.
	i := c.Opened
	if len(c.Contacts) == 1 {
		i = 0
	}
	if i >= 0 && i < len(c.Contacts) && !c.Possible {
		k := c.Contacts[i]
		h.Name, h.ContactID, h.RelationNumber = cmp.Or(k.Name(), h.Name), k.ID, k.RelationNumber
		if c.LinkOK[i] {
			h.Link = k.Link
		}
	}
	if c.Number.Kind == phone.Withheld {
		h.Name = ""
	}
	return h
}

var outcomes = map[companion.Outcome]string{
	companion.Found: history.OutcomeFound, companion.Several: history.OutcomeSeveral,
	companion.Nobody: history.OutcomeNobody, companion.Failed: history.OutcomeFailed,
	companion.Withheld: history.OutcomeWithheld, companion.Internal: history.OutcomeInternal,
	companion.Short: history.OutcomeShort, companion.Own: history.OutcomeOwn,
}
