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
	now := time.Now()
	e.s.dirty = true
	if a.Kind == ActionShow {
		e.show(ctx, a.Card, now)
		return
	}
	if a.Card == 0 {
		e.setAttention(&e.s.moreAttention, a.Kind, now)
		return
	}
	i := slices.IndexFunc(e.s.cards, func(c *card) bool { return c.ID == a.Card })
	if i < 0 || stale(a, e.s.cards[i]) {
		return
	}
	c := e.s.cards[i]
	switch a.Kind {
	case ActionRemoveContact:
		e.removeContact(c, a.Index, now)
	case ActionOpen:
		e.rememberChoice(c, a.Index)
		e.open(ctx, c, a.Index)
	case ActionRetry:
		switch c.Outcome {
		case OutcomeOffered:
			e.confirm(ctx, c, now)
		case OutcomeFailed:
			e.reset(c)
			e.requestLookup(ctx, c, now)
		}
	case ActionClose:
		c.closed = true
		if c.attention != (attention{}) {
			c.attention, e.s.attentionLeftAt = attention{}, now
		}
	case ActionUnfold:
		e.raise(c, now)
		c.unfolded = now
	case ActionUndo:
		e.undoRemoval(c, now)
	default:
		e.setAttention(&c.attention, a.Kind, now)
	}
}

// stale reports whether a click was meant for somebody other than who is on the card now,
// or for a contact who is not there.
func stale(a Action, c *card) bool {
	aboutContact := a.Kind == ActionOpen || a.Kind == ActionRemoveContact
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
func (e *Engine) setAttention(h *attention, do ActionKind, now time.Time) {
	switch do {
	case ActionHover:
		h.pointer = true
	case ActionLeave:
		h.pointer, e.s.attentionLeftAt = false, now
	case ActionKeyboard:
		h.keyboard = true
	case ActionKeyboardGone:
		h.keyboard, e.s.attentionLeftAt = false, now
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
	c.OpenedIndex, c.OpenError, c.browserStarted = i, false, false
	id, browse := c.call, e.p.Browse
	e.record(c)
	e.s.work.Go(func() {
		err := browse(ctx, address)
		e.deliver(ctx, func(context.Context) { e.recordBrowserStart(id, err == nil) })
	})
}

// autoOpen opens the file of a call's only contact when the call is answered here, if the
// user wants so: once per call, and never for a web page's launch that nobody has
// confirmed, a merely possible match, or after "Niet deze relatie".
func (e *Engine) autoOpen(ctx context.Context, c *card) {
	late := time.Since(later(c.Answered, c.callerSince)) > autoOpenWithin
	switch {
	case e.p.AutoOpen != AutoOpenAnswered, c.Phase != PhaseAnswered, c.autoOpened, late, c.closed, c.Outgoing,
		c.Outcome != OutcomeFound, c.Possible, c.OpenedIndex >= 0, len(c.removedContacts) > 0,
		c.source.Kind == call.KindURL && !c.confirmed: // not even if launches are always looked up
		return
	}
	c.autoOpened = true
	e.open(ctx, c, 0)
}

func (e *Engine) recordBrowserStart(id call.ID, started bool) {
	if !started {
		e.p.Log.Warn("browser not started")
	}
	c := e.cardOf(id)
	switch {
	case c == nil || c.OpenedIndex < 0:
	case started:
		c.browserStarted = true
		e.record(c)
	default:
		c.OpenError = true
		e.s.dirty = true
	}
}
