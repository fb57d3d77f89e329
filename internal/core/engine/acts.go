package engine

import (
	"context"
	"slices"
	"time"

	"wiebelt/internal/core/call"
)

// autoOpenWithin is how long after an answer a file may still open automatically: later the
// user is doing something else.
const autoOpenWithin = 10 * time.Second

func (e *Engine) act(ctx context.Context, a Action) {
	now := e.p.Clock.Now()
	e.s.dirty = true
	if a.Do == DoShow {
		e.show(ctx, a.Card, now)
		return
	}
	if a.Card == 0 {
		e.setAttention(&e.s.onMore, a.Do, now)
		return
	}
	i := slices.IndexFunc(e.s.cards, func(c *card) bool { return c.ID == a.Card })
	if i < 0 || stale(a, e.s.cards[i]) {
		return
	}
	c := e.s.cards[i]
	switch a.Do {
	case DoNotThis:
		e.notThis(c, a.Index, now)
	case DoOpen:
		e.rememberChoice(c, a.Index)
		e.open(ctx, c, a.Index)
	case DoRetry:
		switch c.Outcome {
		case Offered:
			e.confirm(ctx, c, now)
		case Failed:
			e.reset(c)
			e.requestLookup(ctx, c, now)
		}
	case DoClose:
		c.closed = true
		if c.attention != (attention{}) {
			c.attention, e.s.touched = attention{}, now
		}
	case DoUnfold:
		e.raise(c, now)
		c.unfolded = now
	case DoUndo:
		e.undoNotThis(c, now)
	default:
		e.setAttention(&c.attention, a.Do, now)
	}
}

// stale reports whether a click was meant for somebody other than who is on the card now,
// or for a contact who is not there.
func stale(a Action, c *card) bool {
	aboutContact := a.Do == DoOpen || a.Do == DoNotThis
	switch {
	case aboutContact && (a.Index < 0 || a.Index >= len(c.Contacts)):
		return true
	case a.Edition == 0:
		return false
	case c.closed:
		return true
	case aboutContact:
		return a.Edition != c.Edition
	}
	return a.Edition < c.callerEdition
}

// setAttention records that the pointer or keyboard came or went.
func (e *Engine) setAttention(h *attention, do Do, now time.Time) {
	switch do {
	case DoHover:
		h.pointer = true
	case DoLeave:
		h.pointer, e.s.touched = false, now
	case DoKeyboard:
		h.keyboard = true
	case DoKeyboardGone:
		h.keyboard, e.s.touched = false, now
	}
}

// open opens a contact's file if its link passes the check.
func (e *Engine) open(ctx context.Context, c *card, i int) {
	if !c.LinkOK[i] || e.p.Browse == nil {
		return
	}
	address, err := e.p.CheckLink(c.Contacts[i].Link)
	if err != nil {
		return
	}
	c.Opened, c.OpenError, c.inBrowser = i, false, false
	id, browse := c.call, e.p.Browse
	e.record(c)
	e.s.work.Go(func() {
		err := browse(ctx, address)
		e.deliver(ctx, func(context.Context) { e.browsed(id, err == nil) })
	})
}

// autoOpen opens the file of a call's only contact when the call is answered here, if the
// user wants so: once per call, and never for a web page's launch, a merely possible match,
// or after "Niet deze relatie".
func (e *Engine) autoOpen(ctx context.Context, c *card) {
	late := e.p.Clock.Now().Sub(later(c.Answered, c.callerSince)) > autoOpenWithin
	switch {
	case e.p.AutoOpen != AutoOpenAnswered, c.Phase != PhaseAnswered, c.autoOpened, late, c.closed, c.Outgoing,
		c.Outcome != Found, c.Possible, c.Opened >= 0, len(c.denied) > 0,
		c.source.Kind == call.KindURL && !c.confirmed: // not even if launches are always looked up
		return
	}
	c.autoOpened = true
	e.open(ctx, c, 0)
}

// browsed records whether the browser started with a contact's file.
func (e *Engine) browsed(id call.ID, started bool) {
	if !started {
		e.p.Log.Warn("browser not started")
	}
	c := e.cardOf(id)
	switch {
	case c == nil || c.Opened < 0:
	case started:
		c.inBrowser = true
		e.record(c)
	default:
		c.OpenError = true
		e.s.dirty = true
	}
}
