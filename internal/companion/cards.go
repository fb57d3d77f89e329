package companion

import (
	"context"
	"slices"
	"sync"
	"time"

	"wiebelt/internal/call"
	"wiebelt/internal/contact"
	"wiebelt/internal/phone"
)

// Times of a card's life (product.md "The card", corrections.md 21).
const (
	noticeAfter   = 300 * time.Millisecond // "looking up" is mentioned
	slowAfter     = 3 * time.Second        // "the hub does not answer"
	reportedFor   = 10 * time.Minute       // a phone that reports only the ring
	handsOffAfter = time.Second            // after the pointer left a card
	schemeEvery   = 10 * time.Second       // one card by URL scheme in …
	schemeMinute  = 3                      // … and at most so many in a minute
	againWithin   = 30 * time.Minute       // a ring counts as "again"
)

// maxCalls is how many calls are kept, shown or only counted.
const maxCalls = 256

// Lookups a way in may cause (corrections.md 13).
const (
	bucketSize   = 10
	bucketRefill = time.Second / 3
)

// card is a card with what the engine must remember about it.
type card struct {
	Card
	call     call.ID
	way      call.Way
	closed   bool      // taken away by the user; the call goes on and is recorded
	over     bool      // the call has ended
	ended    time.Time // when
	hovered  bool
	handsOff time.Time // nothing moves before this
	unfolded time.Time // the user unfolded it at

	want     bool // wants a lookup as soon as its way may cause one
	since    time.Time
	attempt  int // which lookup its answer must belong to
	tried    int // failures since the search began
	nextTry  time.Time
	cancel   context.CancelFunc
	searched string // the number that was asked for
}

type state struct {
	tracker *call.Tracker
	cards   []*card // oldest first
	nextID  CardID
	rev     uint64
	dirty   bool
	last    *LastCall
	lookup  LookupState
	buckets map[call.Way]*bucket
	rings   map[string]again // number key → how often
	scheme  []time.Time      // cards by URL scheme in the last minute
	work    sync.WaitGroup
}

type again struct {
	times int
	last  time.Time
}

type bucket struct {
	tokens int
	filled time.Time
}

func newState() state {
	return state{tracker: call.NewTracker(), buckets: map[call.Way]*bucket{}, rings: map[string]again{}}
}

func (e *Engine) take(ctx context.Context, ev call.Event) {
	now := e.p.Clock.Now()
	n := e.p.Rules.Parse(ev.Number, ev.Name)
	ch := e.s.tracker.Apply(ev, n.Key(), now)
	switch ch.Kind {
	case call.Began:
		e.began(ctx, ch.Call, n, ev, now)
	case call.TooOld:
		c := e.dress(&card{way: ev.Way}, ch.Call, n)
		e.record(c, Entry{Way: ev.Way, Ended: ev.At})
	case call.SameCall:
		if c := e.cardOf(ch.Call.ID); c != nil {
			e.words(c, ch.Call)
			c.Tells, c.way = ch.Call.Tells, ch.Call.Way
			e.s.dirty = true
		}
	case call.AnotherCaller:
		if c := e.cardOf(ch.Call.ID); c != nil {
			e.anotherCaller(ctx, c, ch.Call, n, ev, now)
		}
	case call.WasAnswered:
		if c := e.cardOf(ch.Call.ID); c != nil {
			e.words(c, ch.Call)
			c.Tells = ch.Call.Tells
			e.answered(c, now)
		}
	case call.WasEnded:
		if c := e.cardOf(ch.Call.ID); c != nil {
			c.Tells = max(c.Tells, ch.Call.Tells)
			e.over(c, ch.Call.Reason, now)
		}
	}
}

func (e *Engine) began(ctx context.Context, l call.Live, n phone.Number, ev call.Event, now time.Time) {
	switch {
	case l.Direction == call.DirectionUnknown:
		return // seen first in the middle of a call: no card (softphones.md 18)
	case l.Direction == call.Outgoing && e.p.Outgoing == OutgoingOff:
		return
	case ev.Way.Kind == call.KindURL && !e.schemeMay(now):
		e.s.tracker.Forget(l.ID)
		return
	}
	e.s.nextID++
	c := e.dress(&card{call: l.ID, way: l.Way}, l, n)
	c.ID = e.s.nextID
	c.Ring = ev.At
	if l.Direction == call.Incoming {
		c.Times = e.countRing(n, now)
		e.s.last = &LastCall{Number: n, Kind: l.Way.Kind, At: now}
		e.makeRoom(n, now)
	}
	if len(e.s.cards) >= maxCalls { // a flood must not grow the memory
		at := least(e.s.cards)
		e.drop(e.s.cards[at])
		e.s.cards = slices.Delete(e.s.cards, at, at+1)
	}
	e.s.cards = append(e.s.cards, c)
	if l.State == call.Answered {
		e.answered(c, now)
	}
	if c.Outcome == Searching && ev.Way.Kind == call.KindURL && e.p.SchemeLookup != SchemeAlways {
		c.Outcome = Offered
	}
	e.want(ctx, c, now)
	e.s.dirty = true
	if c.Outcome != Offered {
		e.record(c, Entry{})
	}
}

// dress gives a card the words of a call.
func (e *Engine) dress(c *card, l call.Live, n phone.Number) *card {
	c.Number = n
	c.Outgoing = l.Direction == call.Outgoing
	c.Strip = c.Outgoing && e.p.Outgoing != OutgoingCard
	c.Tells = l.Tells
	c.Rang = l.Rang
	c.Opened, c.Earlier = -1, -1
	c.Times = 1
	e.words(c, l)
	e.reset(c)
	return c
}

// reset makes a card forget its contacts and say what its number alone allows.
func (e *Engine) reset(c *card) {
	if c.cancel != nil {
		c.cancel()
		c.cancel = nil
	}
	c.want, c.Noticed, c.Retrying, c.OpenError = false, false, false, false
	c.Contacts, c.LinkOK, c.Failure, c.Opened = nil, nil, "", -1
	c.Possible = c.Number.Foreign
	c.Answer = time.Time{}
	c.attempt++
	c.tried = 0
	switch c.Number.Kind {
	case phone.Withheld:
		c.Outcome = Withheld
	case phone.Internal:
		c.Outcome = Internal
	case phone.Short:
		c.Outcome = Short
	case phone.Own:
		c.Outcome = Own
	case phone.Unfilled:
		c.Outcome = Unfilled
	case phone.NoNumber:
		c.Outcome = NoNumber
	default:
		c.Outcome = Searching
		if !c.Number.Lookup() {
			c.Outcome = Short
		}
	}
}

func (e *Engine) words(c *card, l call.Live) {
	c.PhoneName = l.Name
	c.LineText, c.LineName = e.p.Rules.Line(l.Line)
	c.Via = l.Via
}

// anotherCaller replaces the person on a card at once: never a name and another
// person's number together.
func (e *Engine) anotherCaller(ctx context.Context, c *card, l call.Live, n phone.Number, ev call.Event, now time.Time) {
	e.s.dirty = true
	c.Number = n
	c.Ring = ev.At
	c.closed = false // another person: that is news again
	if !c.Outgoing {
		c.Times = e.countRing(n, now)
	}
	e.words(c, l)
	e.reset(c)
	if l.State == call.Answered {
		e.answered(c, now)
	}
	e.want(ctx, c, now)
	e.record(c, Entry{})
}

func (e *Engine) answered(c *card, now time.Time) {
	if c.Phase == PhaseRinging {
		c.Phase, c.Answered = PhaseAnswered, now
		e.s.dirty = true
		e.record(c, Entry{})
	}
}

func (e *Engine) over(c *card, r call.Reason, now time.Time) {
	c.over, c.ended = true, now
	e.s.dirty = true
	c.want, c.Retrying = false, false // attempts go on only while the call lives
	if c.Phase == PhaseAnswered {
		c.Phase = PhaseOver
	}
	e.record(c, Entry{Ended: now, Reason: r})
}

// allOver ends every call, without a reason that nobody knows, and takes every
// card away.
func (e *Engine) allOver() {
	now := e.p.Clock.Now()
	for _, c := range e.s.cards {
		if !c.over {
			e.s.tracker.Forget(c.call)
			e.over(c, call.ReasonUnknown, now)
		}
		e.drop(c)
	}
	e.s.cards = nil
	e.s.dirty = true
}

func (e *Engine) wayGone(w call.Way) {
	for _, l := range e.s.tracker.Gone(w) {
		if c := e.cardOf(l.ID); c != nil {
			c.Tells = call.TellsRing
			e.s.dirty = true
		}
	}
}

// pass lets time act on the cards and returns when it must act next.
func (e *Engine) pass(ctx context.Context, now time.Time) (next time.Time) {
	soon := func(t time.Time) {
		if t.After(now) && (next.IsZero() || t.Before(next)) {
			next = t
		}
	}
	e.s.cards = slices.DeleteFunc(e.s.cards, func(c *card) bool {
		due := e.goesAt(c)
		if due.IsZero() {
			return false
		}
		if due.After(now) {
			soon(due)
			return false
		}
		e.drop(c)
		return true
	})
	for _, c := range e.s.cards {
		if t := e.foldsAt(c); !t.IsZero() {
			if t.After(now) {
				soon(t)
			} else {
				c.Strip = true
				if c.Tells == call.TellsRing {
					c.Phase = PhaseReported
				}
				e.s.dirty = true
			}
		}
		soon(e.passLookup(c, now))
	}
	soon(e.startWanted(ctx, now))
	return next
}

// goesAt is when a card goes away by itself; zero if it does not.
func (e *Engine) goesAt(c *card) time.Time {
	var t time.Time
	switch {
	case c.closed && (c.over || c.Tells == call.TellsRing):
		return c.Rang // nothing more will be heard of it
	case c.hovered:
		return t
	case c.over && c.Phase == PhaseRinging && c.Tells == call.TellsAll:
		t = c.ended // missed, or taken elsewhere
	case c.over:
		t = c.ended.Add(e.p.AfterCall)
	case c.Tells == call.TellsRing && c.Phase != PhaseAnswered:
		t = c.Rang.Add(e.p.FullFor + reportedFor)
	case c.Tells == call.TellsRing:
		t = c.Answered.Add(e.p.FullFor + reportedFor)
	default:
		return t
	}
	return later(t, c.handsOff)
}

// foldsAt is when a card folds to a strip; zero if it does not.
func (e *Engine) foldsAt(c *card) time.Time {
	var t time.Time
	switch {
	case c.Strip || c.hovered:
		return t
	case c.Phase == PhaseAnswered || c.Phase == PhaseOver:
		t = c.Answered.Add(e.p.FullFor)
	case c.Tells == call.TellsRing && !c.over:
		t = c.Rang.Add(e.p.FullFor)
	default:
		return t
	}
	if !c.unfolded.IsZero() {
		t = later(t, c.unfolded.Add(e.p.FullFor))
	}
	return later(t, c.handsOff)
}

func (e *Engine) drop(c *card) {
	if c.cancel != nil {
		c.cancel()
		c.cancel = nil
	}
	e.s.tracker.Forget(c.call)
	e.s.dirty = true
}

// makeRoom takes away what the next call makes pointless: strips of phones that
// report only the ring, and the finished card of the same caller.
func (e *Engine) makeRoom(n phone.Number, now time.Time) {
	e.s.cards = slices.DeleteFunc(e.s.cards, func(c *card) bool {
		if c.hovered || c.handsOff.After(now) {
			return false
		}
		same := c.over && c.Number.Kind != phone.Withheld && c.Number.Key() == n.Key()
		if same || c.Phase == PhaseReported {
			e.drop(c)
			return true
		}
		return false
	})
}

func (e *Engine) countRing(n phone.Number, now time.Time) int {
	for k, a := range e.s.rings {
		if now.Sub(a.last) > againWithin {
			delete(e.s.rings, k)
		}
	}
	if n.Kind == phone.Withheld {
		return 1 // not known to be the same person
	}
	a := e.s.rings[n.Key()]
	a.times++
	a.last = now
	if len(e.s.rings) < 4096 {
		e.s.rings[n.Key()] = a
	}
	return a.times
}

func (e *Engine) schemeMay(now time.Time) bool {
	if e.p.SchemeLookup == SchemeOff {
		return false
	}
	e.s.scheme = slices.DeleteFunc(e.s.scheme, func(t time.Time) bool { return now.Sub(t) >= time.Minute })
	if k := len(e.s.scheme); e.p.SchemeLookup != SchemeAlways && (k >= schemeMinute || k > 0 && now.Sub(e.s.scheme[k-1]) < schemeEvery) {
		return false
	}
	e.s.scheme = append(e.s.scheme, now)
	return true
}

func (e *Engine) act(ctx context.Context, a Action) {
	i := slices.IndexFunc(e.s.cards, func(c *card) bool { return c.ID == a.Card })
	if i < 0 {
		return
	}
	c, now := e.s.cards[i], e.p.Clock.Now()
	e.s.dirty = true
	switch a.Do {
	case DoOpen:
		e.open(ctx, c, a.Index)
	case DoRetry:
		wasOffered := c.Outcome == Offered
		if wasOffered || c.Outcome == Failed {
			e.reset(c)
			e.want(ctx, c, now)
			if wasOffered {
				e.record(c, Entry{})
			}
		}
	case DoClose:
		c.closed, c.hovered = true, false
	case DoUnfold:
		c.Strip, c.unfolded = false, now
	case DoHover:
		c.hovered = true
	case DoLeave:
		c.hovered, c.handsOff = false, now.Add(handsOffAfter)
	}
}

type browsed struct {
	card CardID
	err  error
}

func (e *Engine) open(ctx context.Context, c *card, i int) {
	if i < 0 || i >= len(c.Contacts) || !c.LinkOK[i] || e.p.Browse == nil {
		return
	}
	address, err := e.p.CheckLink(c.Contacts[i].Link)
	if err != nil {
		return
	}
	c.Opened, c.OpenError = i, false
	id := c.ID
	e.record(c, Entry{})
	e.s.work.Go(func() {
		err := e.p.Browse(ctx, address)
		select {
		case e.browsed <- browsed{id, err}:
		case <-ctx.Done():
		}
	})
}

func (e *Engine) wasBrowsed(b browsed) {
	if b.err == nil {
		return
	}
	e.p.Log.Warn("browser not started")
	for _, c := range e.s.cards {
		if c.ID == b.card {
			c.OpenError = true
			e.s.dirty = true
		}
	}
}

func (e *Engine) cardOf(id call.ID) *card {
	for _, c := range e.s.cards {
		if c.call == id {
			return c
		}
	}
	return nil
}

func (e *Engine) record(c *card, en Entry) {
	if e.p.Record == nil {
		return
	}
	en.Call, en.Card, en.WasCard = c.call, c.Card, c.call != 0
	en.Contacts = len(c.Contacts)
	if en.Way.Kind == "" {
		en.Way = c.way
	}
	e.p.Record(en)
}

// sorted orders contacts by family name without prefix. The order says nothing
// about who calls.
func sorted(found []contact.Contact) []contact.Contact {
	out := slices.Clone(found)
	slices.SortStableFunc(out, func(a, b contact.Contact) int {
		ka, kb := a.SortKey(), b.SortKey()
		switch {
		case ka < kb:
			return -1
		case ka > kb:
			return 1
		}
		return 0
	})
	return out
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
