package engine

import (
	"context"
	"slices"
	"time"

	"wiebelt/internal/core/contact"
)

// Times of a lookup.
const (
	noticeAfter = 300 * time.Millisecond // "looking up" is mentioned
	slowAfter   = 3 * time.Second        // "the hub does not answer"
)

// Limits on lookups per kind of source: bucketSize at once, then one per bucketRefill.
const (
	bucketSize   = 10
	bucketRefill = time.Second / 3
)

// result is the result of one attempt to look up a card's number. It is void once another
// attempt or caller follows.
type result struct {
	card    CardID
	attempt int
	found   []contact.Contact
	err     error
	at      time.Time
}

// requestLookup requests a lookup of the card's number, and starts it at once if the card's
// source may cause one now.
func (e *Engine) requestLookup(ctx context.Context, c *card, now time.Time) {
	if c.Outcome != OutcomeSearching || c.recordOnly {
		return
	}
	c.pending, c.searchStarted, c.nextTry = true, now, time.Time{}
	e.startPending(ctx, now)
}

// startPending starts the waiting lookups, newest first, as far as their sources' budgets
// allow, and returns when more are allowed.
func (e *Engine) startPending(ctx context.Context, now time.Time) (next time.Time) {
	for i := len(e.s.cards) - 1; i >= 0; i-- {
		c := e.s.cards[i]
		if !c.pending || c.nextTry.After(now) {
			continue
		}
		b := e.bucket(c.source.Kind, now)
		if b.tokens == 0 {
			if t := b.filled.Add(bucketRefill); next.IsZero() || t.Before(next) {
				next = t
			}
			continue
		}
		b.tokens--
		c.searchStarted = now
		e.startLookup(ctx, c)
	}
	return next
}

func (e *Engine) startLookup(ctx context.Context, c *card) {
	c.pending = false
	c.attempt++
	lookup, number := e.p.Lookup, c.Number.Query()
	r := result{card: c.ID, attempt: c.attempt}
	ctx, c.cancel = context.WithCancel(ctx)
	e.s.work.Go(func() { // must not read the card, which is the engine's
		if lookup == nil {
			r.err = &contact.LookupError{Failure: contact.NotSetUp}
		} else {
			r.found, r.err = lookup.Lookup(ctx, number)
			r.at = time.Now()
		}
		e.deliver(ctx, func(ctx context.Context) { e.applyResult(ctx, r) })
	})
}

// cancelLookup cancels the running lookup, if there is one.
func (c *card) cancelLookup() {
	if c.cancel != nil {
		c.cancel()
		c.cancel = nil
	}
}

func (e *Engine) applyResult(ctx context.Context, r result) {
	now := time.Now()
	of := func(c *card) bool { return c.ID == r.card && c.attempt == r.attempt }
	var c *card
	if i := slices.IndexFunc(e.s.cards, of); i >= 0 {
		c = e.s.cards[i]
	} else if i := slices.IndexFunc(e.s.retired, of); i >= 0 {
		c = e.s.retired[i]
		e.s.retired = slices.Delete(e.s.retired, i, i+1)
		defer c.clearContacts()
	}
	if c == nil {
		return // the call is gone, or has another caller
	}
	c.cancelLookup() // it has ended
	failure := contact.FailureOf(r.err)
	e.s.lookup = LookupState{At: now, Failure: failure}
	e.s.dirty = true
	c.AnswerReceived = r.at
	if failure != "" {
		e.p.Log.Warn("lookup failed", "why", string(failure))
		c.Outcome, c.Failure = OutcomeFailed, failure
		c.Retrying = !c.isOver && !failure.NeedsAdmin()
		if c.Retrying {
			c.pending, c.nextTry = true, now.Add(retryDelay(c.failures))
			c.failures++
		}
		e.record(c)
		return
	}
	c.Failure, c.Retrying = "", false
	e.applyContacts(c, r.found)
	e.record(c)
	e.autoOpen(ctx, c)
}

// advanceLookup applies time to a running search: it is mentioned after a moment, and
// shown as failed after three seconds while it continues.
func (e *Engine) advanceLookup(c *card, now time.Time) (next time.Time) {
	if c.Outcome != OutcomeSearching {
		if c.pending && c.nextTry.After(now) {
			return c.nextTry
		}
		return next
	}
	if !c.ShowSearching {
		if t := c.searchStarted.Add(noticeAfter); t.After(now) {
			return t
		}
		c.ShowSearching = true
		e.s.dirty = true
	}
	if c.cancel == nil {
		return next // it is waiting: the hub was not asked yet
	}
	if t := c.searchStarted.Add(slowAfter); t.After(now) {
		return t
	}
	c.Outcome, c.Failure, c.Retrying = OutcomeFailed, contact.HubSlow, !c.isOver
	e.s.dirty = true
	return next
}

// retryDelay returns the wait before the next attempt: 1, 2, then 4 seconds.
func retryDelay(tried int) time.Duration { return time.Second << min(tried, 2) }

// bucket returns the lookup budget of a kind of source, whatever its connection: some
// connect anew for every call, and reconnecting must not renew it.
func (e *Engine) bucket(kind string, now time.Time) *bucket {
	b := e.s.buckets[kind]
	if b == nil {
		b = &bucket{tokens: bucketSize, filled: now}
		e.s.buckets[kind] = b
	}
	if n := int(now.Sub(b.filled) / bucketRefill); n > 0 {
		b.tokens = min(bucketSize, b.tokens+n)
		b.filled = b.filled.Add(time.Duration(n) * bucketRefill)
	}
	return b
}
