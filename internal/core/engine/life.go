package engine

import (
	"context"
	"slices"
	"time"

	"wiebelt/internal/core/call"
)

// Times of a card's life.
const (
	ringOnlyStripFor = 10 * time.Minute // how long the strip of a phone that only reports rings stays
	freezeAfterLeave = time.Second      // nothing moves for this long after pointer or keyboard left
)

// layoutFrozen reports whether the pointer or keyboard is or just was on the cards. Meanwhile
// nothing folds, moves or goes away.
func (e *Engine) layoutFrozen(now time.Time) bool {
	if e.s.moreAttention != (attention{}) || now.Before(e.s.attentionLeftAt.Add(freezeAfterLeave)) {
		return true
	}
	return slices.ContainsFunc(e.s.cards, func(c *card) bool { return c.attention != attention{} })
}

// advance applies time to the cards and returns when to run next.
func (e *Engine) advance(ctx context.Context, now time.Time) (next time.Time) {
	soon := func(t time.Time) {
		if t.After(now) && (next.IsZero() || t.Before(next)) {
			next = t
		}
	}
	held := e.layoutFrozen(now)
	if held != e.s.frozen { // what was held back may change now
		e.s.frozen, e.s.dirty = held, true
	}
	if held {
		soon(e.s.attentionLeftAt.Add(freezeAfterLeave))
	}
	e.s.cards = slices.DeleteFunc(e.s.cards, func(c *card) bool {
		due := e.removeAt(c)
		if due.IsZero() || held && !c.closed {
			return false
		}
		if due.After(now) {
			soon(due)
			return false
		}
		e.retire(c)
		return true
	})
	for _, c := range e.s.cards {
		soon(e.updateOngoing(c, now))
	}
	e.updateDimming()
	for _, c := range e.s.cards {
		if c.recordOnly {
			continue
		}
		if c.CanUndo && !now.Before(c.undo.until) {
			c.CanUndo, c.undo, e.s.dirty = false, undo{}, true
		}
		soon(c.undo.until)
		if !held {
			soon(e.fold(c, now))
		}
		soon(e.advanceLookup(c, now))
	}
	soon(e.startPending(ctx, now))
	return next
}

// removeAt returns when a card goes away by itself; zero if it does not.
func (e *Engine) removeAt(c *card) time.Time {
	var t time.Time
	switch {
	case c.superseded, c.closed && c.isOver:
		return c.Rang
	case c.isOver && c.Answered.IsZero() && (c.ReportLevel == call.AllStates || notAnsweredHere(c.reason)):
		t = c.ended // missed, or answered elsewhere
	case c.isOver:
		t = later(c.ended, c.unfolded).Add(e.p.AfterCall)
	case c.ReportLevel == call.RingOnly:
		t = later(c.callerSince, c.Answered).Add(e.p.FullFor + ringOnlyStripFor)
		t = later(t, c.sourceLost.Add(ringOnlyStripFor))
		t = later(t, c.unfolded.Add(e.p.AfterCall))
	default:
		return t
	}
	return later(later(t, c.broughtBack.Add(e.p.FullFor)), c.undo.until)
}

// updateOngoing sets whether a card's call is on and, for a closed card, returns until
// when: its end may have been lost, and nobody can close it any more. The card stays,
// since a long call may still be reported.
func (e *Engine) updateOngoing(c *card, now time.Time) (until time.Time) {
	if c.closed {
		until = later(c.Answered, c.callerSince).Add(call.AssumeEndedAfter)
	}
	if on := !c.isOver && (!c.closed || until.After(now)); on != c.ongoing {
		c.ongoing, e.s.dirty = on, true
	}
	return until
}

// notAnsweredHere reports whether a phone says that no one answered the call here.
func notAnsweredHere(r call.Reason) bool {
	return r == call.Missed || r == call.AnsweredElsewhere || r == call.Rejected
}

// fold folds a card that is due to a strip, or unfolds one that is news, and returns
// when the card is due.
func (e *Engine) fold(c *card, now time.Time) time.Time {
	if c.mustUnfold {
		c.mustUnfold, c.Strip, e.s.dirty = false, false, true
	}
	if c.mustFold {
		c.mustFold, c.Strip, e.s.dirty = false, true, true
	}
	t := e.foldsAt(c)
	if t.IsZero() || t.After(now) {
		return t
	}
	c.Strip, e.s.dirty = true, true
	if !c.isOver && (c.ReportLevel == call.RingOnly || c.Phase == PhaseRinging) {
		c.Phase = PhaseReported
	}
	return time.Time{}
}

// foldsAt returns when a card folds to a strip; zero if it does not.
func (e *Engine) foldsAt(c *card) time.Time {
	var t time.Time
	switch {
	case c.Strip:
		return t
	case !c.Answered.IsZero():
		t = later(c.Answered, c.callerSince)
	case !c.isOver && c.ReportLevel != call.AllStates:
		t = c.callerSince
	default:
		return t
	}
	return later(later(t, c.unfolded), c.broughtBack).Add(e.p.FullFor)
}

// retire ends a card that goes away. A running lookup continues for the history.
func (e *Engine) retire(c *card) {
	if c.cancel != nil {
		e.s.retired = append(e.s.retired, c)
	}
	e.s.tracker.Forget(c.call)
	c.clearContacts() // what is off the screen is not kept
	e.s.dirty = true
}

func (c *card) clearContacts() {
	c.Contacts, c.LinkOK, c.found, c.OpenedIndex, c.EarlierChoice = nil, nil, nil, -1, -1
}

// markSuperseded marks what a newer call supersedes: strips of phones that only report
// rings, ended calls that were asked for again, and the same caller's last call.
func (e *Engine) markSuperseded(newer *card) {
	if e.unconfirmed(newer) {
		return // a web page removes no card
	}
	for _, c := range e.s.cards {
		switch {
		case c == newer:
		case !c.broughtBack.IsZero() && c.isOver,
			c.Phase == PhaseReported && c.ReportLevel == call.RingOnly,
			c.isOver && identifiesCaller(newer.Number) && c.Number.Key() == newer.Number.Key():
			c.superseded = true
		}
	}
}

// forgetCalls forgets the calls for which gone returns true; of the last call, only
// the fact that there was one remains. For ring counts, gone gets only the time.
func (e *Engine) forgetCalls(gone func(LastCall) bool) {
	for key, a := range e.s.rings {
		if gone(LastCall{At: a.last}) {
			delete(e.s.rings, key)
		}
	}
	e.s.recent = slices.DeleteFunc(e.s.recent, func(c *card) bool { return gone(*c.asLastCall()) })
	e.listCalls()
	e.s.dirty = true
	if e.s.lastCall == nil || !gone(*e.s.lastCall) {
		return
	}
	delete(e.s.rings, e.callerHash(e.s.lastCall.Number))
	e.s.lastCall = &LastCall{Kind: e.s.lastCall.Kind, At: e.s.lastCall.At}
}

// show brings back a closed card, or that of one of the last calls.
func (e *Engine) show(ctx context.Context, id CardID, now time.Time) {
	is := func(c *card) bool { return c.ID == id }
	for _, all := range [][]*card{e.s.cards, e.s.recent} {
		if i := slices.IndexFunc(all, is); i >= 0 {
			e.bringBack(ctx, all[i], now)
			return
		}
	}
}

func (e *Engine) bringBack(ctx context.Context, c *card, now time.Time) {
	caller := func(o *card) bool {
		return o == c || !o.recordOnly && identifiesCaller(c.Number) && o.Number.Key() == c.Number.Key()
	}
	i := slices.IndexFunc(e.s.cards, func(o *card) bool { return caller(o) && o.ongoing }) // on another call by now
	if i < 0 {
		i = slices.IndexFunc(e.s.cards, caller)
	}
	if i >= 0 {
		e.raise(e.s.cards[i], now)
		e.s.cards[i].broughtBack = now
		return
	}
	e.s.retired = slices.DeleteFunc(e.s.retired, func(l *card) bool { return l == c })
	c.isOver = true // as far as will ever be known
	if c.Answered.IsZero() {
		c.Phase = PhaseReported
	} else {
		c.Phase = PhaseOver
	}
	c.shown, c.attention, c.broughtBack = false, attention{}, now
	e.raise(c, now)
	e.s.cards = append(e.s.cards, c)
	e.reset(c) // ask the hub again
	e.requestLookup(ctx, c, now)
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
