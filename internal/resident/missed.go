package resident

import (
	"context"
	"errors"

	"wiebelt/internal/core/call"
	"wiebelt/internal/core/phone"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/relay/wire"
	"wiebelt/internal/store/history"
)

// saveMissed stores in the history the calls that rang while Wiebelt was not running. The
// relay forgets them after that, and keeps them as long as no history is stored.
func (r *Resident) saveMissed(ctx context.Context, all []wire.MissedCall) error {
	rules := r.rules(r.settings())
	var entries []history.Entry
	for _, m := range all {
		n := rules.Parse(m.Number, "")
		e := history.Entry{Rang: m.Rang, Ended: m.Ended, AnsweredBy: m.AnsweredBy, NumberDisplay: n.Display(), Result: history.ResultOf(call.AllStates, false, true, call.ParseReason(m.Reason))}
		if e.LineNumber, e.Line = rules.Line(m.Line); m.Queue != "" {
			e.Line = m.Queue // more informative
		}
		if o := outcomeOfNumber[n.Kind]; o != windowapi.LookupNoNumber {
			e.Outcome = o
		}
		if n.Kind != phone.Withheld {
			e.Number = n.Key()
		}
		entries = append(entries, e)
	}
	err := r.store.PutMissed(ctx, entries)
	switch {
	case errors.Is(err, history.ErrOff):
		return err
	case err != nil:
		r.o.Log.Warn("missed calls are not in the history yet", "count", len(entries), "why", err)
		return err
	}
	r.historyChanged()
	return nil
}
