package engine

import (
	"cmp"
	"context"
	"hash/maphash"
	"slices"
	"sync"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/core/contact"
	"wiebelt/internal/core/phone"
)

// Limits on launches by URL scheme, which any web page can start.
const (
	schemeInterval  = 10 * time.Second // one card in …
	schemePerMinute = 3                // … and at most this many per minute
)

// maxCalls limits the calls kept, shown or only counted.
const maxCalls = 256

// card is a card with the engine's own state.
type card struct {
	Card
	call            call.ID
	source          call.Source
	isOver          bool      // the call has ended
	ongoing         bool      // it counts as in progress, see updateOngoing
	ended           time.Time // when the call ended
	reason          call.Reason
	answeredBy      string                       // who answered, for call.AnsweredElsewhere
	sourceLost      time.Time                    // when its source ended
	callerSince     time.Time                    // when this caller came onto the card
	confirmed       bool                         // the user wants the launch looked up, or a phone reported it too
	browserStarted  bool                         // the browser started with the file of OpenedIndex
	autoOpened      bool                         // a file was opened automatically during this call
	countedNumbers  []string                     // numbers whose ring was counted
	removedContacts map[string][]contact.Contact // removed from the card, by number
	undo            undo
	callerEdition   uint64 // Edition when this caller came onto it
	display
	search
}

// display is the state behind how a card is shown.
type display struct {
	closed      bool // closed by the user; the call continues and is recorded
	recordOnly  bool // never shown or looked up, only recorded
	shown       bool // in the last snapshot
	attention   attention
	unfolded    time.Time // when the user unfolded it
	broughtBack time.Time // when the user asked for it
	mustUnfold  bool      // it is news: unfold once cards may move
	mustFold    bool      // another call came to life: fold once cards may move
	superseded  bool      // replaced by a newer call: remove once cards may move
}

// search is the lookup of a card's number.
type search struct {
	pending       bool // start once its source may cause a lookup
	searchStarted time.Time
	attempt       int // the lookup whose answer counts
	failures      int // failures in this search
	nextTry       time.Time
	cancel        context.CancelFunc
	found         []contact.Contact // the whole answer
}

// attention tells whether the user's pointer or keyboard focus is on a card.
type attention struct{ pointer, keyboard bool }

type state struct {
	tracker         *call.Tracker
	cards           []*card // oldest first
	retired         []*card // gone, but history waits for their answers
	nextID          CardID
	rev             uint64
	dirty           bool
	lastCall        *LastCall
	recent          []*card    // of the MaxRecentCalls last calls, newest first, on screen or not
	recentCalls     []LastCall // recent, as snapshots have it
	moreAttention   attention  // on the number of further calls
	attentionLeftAt time.Time  // when pointer or keyboard left a card
	frozen          bool       // pointer or keyboard is on the cards, or was a moment ago
	lookup          LookupState
	buckets         map[string]*bucket   // by kind of source
	rings           map[uint64]ringCount // by caller hash
	seed            maphash.Seed
	scheme          []time.Time // cards by URL scheme within the last minute
	work            sync.WaitGroup
}

type ringCount struct {
	times        int
	last, before time.Time
}

type bucket struct {
	tokens int
	filled time.Time
}

func newState() state {
	return state{tracker: call.NewTracker(), buckets: map[string]*bucket{}, rings: map[uint64]ringCount{}, seed: maphash.MakeSeed()}
}

func (e *Engine) receive(ctx context.Context, ev call.Event) {
	now := time.Now()
	n := e.p.Rules.Parse(ev.Number, ev.Name)
	ch := e.s.tracker.Apply(ev, n.Key(), now)
	switch ch.Kind {
	case call.NoChange:
		return
	case call.Began:
		e.beginCall(ctx, ch.Call, n, ev, now)
		return
	case call.TooOld:
		e.recordTooOld(ch, e.p.Rules.Parse(ch.Call.Number, ch.Call.Name)) // this report may say less
		return
	}
	c := e.cardOf(ch.Call.ID)
	if c == nil {
		return
	}
	switch ch.Kind {
	case call.SameCall:
		e.applyTexts(c, ch.Call)
		c.ReportLevel, c.source = ch.Call.ReportLevel, ch.Call.Source
		e.sourceReturned(c)
		e.s.dirty = true
		if ev.Source.Kind != call.KindURL {
			e.confirm(ctx, c, now)
		}
		e.record(c)
	case call.AnotherCaller:
		e.replaceCaller(ctx, c, ch.Call, n, ev, now)
	case call.WasAnswered:
		e.applyTexts(c, ch.Call)
		c.ReportLevel = ch.Call.ReportLevel
		e.markAnswered(ctx, c, ch.Call.Answered)
	case call.WasEnded:
		c.ReportLevel = max(c.ReportLevel, ch.Call.ReportLevel)
		c.answeredBy = ch.Call.AnsweredBy
		e.endCall(c, ch.Call.Reason, ch.At)
	}
}

// recordTooOld records a report that came too late for a card. Unless it was the end, the rest
// of the call is unknown.
func (e *Engine) recordTooOld(ch call.Change, n phone.Number) {
	c := e.applyCall(&card{call: ch.Call.ID, source: ch.Call.Source}, ch.Call, n)
	c.Answered, c.ended, c.reason, c.answeredBy = ch.Call.Answered, ch.At, ch.Call.Reason, ch.Call.AnsweredBy
	if ch.Call.State != call.Ended {
		c.ReportLevel = call.RingOnly
	}
	e.record(c)
}

func (e *Engine) beginCall(ctx context.Context, l call.Live, n phone.Number, ev call.Event, now time.Time) {
	switch {
	case l.Direction == call.DirectionUnknown:
		return // first seen in mid-call: no card
	case ev.Source.Kind == call.KindURL && !e.allowScheme(now):
		e.s.tracker.Forget(l.ID)
		return
	}
	unseen := l.Direction == call.Outgoing && e.p.Outgoing == OutgoingOff
	c := e.assignCard(&card{call: l.ID, source: l.Source, callerSince: now, display: display{recordOnly: unseen, closed: unseen}}, l, n, now)
	c.RingReceived = ev.At
	if l.Direction == call.Incoming {
		e.countRing(c, n, now)
		e.s.recent = append([]*card{c}, e.s.recent[:min(len(e.s.recent), MaxRecentCalls-1)]...)
		e.listCalls()
		e.s.lastCall = c.asLastCall()
		e.markSuperseded(c)
	}
	e.s.dirty = true
	e.record(c)
	if l.State == call.Answered {
		e.markAnswered(ctx, c, l.Answered)
	}
	e.requestLookup(ctx, c, now)
}

// asLastCall is the card's call as the tray lists it.
func (c *card) asLastCall() *LastCall {
	return &LastCall{Card: c.ID, Number: c.Number, Kind: c.source.Kind, At: c.Rang}
}

// listCalls lists the last calls anew; snapshots share the list.
func (e *Engine) listCalls() {
	e.s.recentCalls = make([]LastCall, len(e.s.recent))
	for i, c := range e.s.recent {
		e.s.recentCalls[i] = *c.asLastCall()
	}
}

// assignCard gives a new call the card of the same caller's last call if that is still
// there, or else a new one.
func (e *Engine) assignCard(c *card, l call.Live, n phone.Number, now time.Time) *card {
	if i := e.findSameCaller(c, l, n); i >= 0 {
		old := e.s.cards[i]
		c.Card.ID, c.Edition, c.callerEdition, c.attempt = old.ID, old.Edition, old.callerEdition, old.attempt
		c.shown, c.attention, c.SingleLine = old.shown, old.attention, old.SingleLine
		e.applyCall(c, l, n)
		if old.Strip {
			c.Strip, c.mustUnfold = true, true
		}
		e.s.cards[i] = c
		e.retire(old)
		return c
	}
	e.s.nextID++
	c.ID = e.s.nextID
	e.applyCall(c, l, n)
	if len(e.s.cards) >= maxCalls { // limits memory in a flood
		at := evictionCandidate(e.s.cards, e.layoutFrozen(now))
		e.s.cards[at].cancelLookup()
		e.retire(e.s.cards[at])
		e.s.cards = slices.Delete(e.s.cards, at, at+1)
	}
	e.s.cards = append(e.s.cards, c)
	return c
}

// findSameCaller finds the card of a returning caller's last call, if that is over, or must be
// because the phone reports rings only. A web page never takes over a card.
func (e *Engine) findSameCaller(c *card, l call.Live, n phone.Number) int {
	if l.Direction != call.Incoming || !identifiesCaller(n) {
		return -1
	}
	return slices.IndexFunc(e.s.cards, func(old *card) bool {
		sameSource := old.source.Kind == c.source.Kind && old.source.Conn == c.source.Conn
		return !old.closed && !old.Outgoing && old.Number.Key() == n.Key() &&
			(sameSource && old.ReportLevel == call.RingOnly || old.isOver && (sameSource || !e.unconfirmed(c)))
	})
}

// unconfirmed reports whether a call is known only from a launch by URL scheme that
// the user has not clicked.
func (e *Engine) unconfirmed(c *card) bool {
	return c.source.Kind == call.KindURL && !c.confirmed && e.p.SchemeLookup != SchemeAlways
}

// identifiesCaller reports whether equal numbers are the same caller.
func identifiesCaller(n phone.Number) bool {
	return n.Kind != phone.Withheld && n.Kind != phone.Placeholder
}

func (e *Engine) applyCall(c *card, l call.Live, n phone.Number) *card {
	c.Number = n
	c.Outgoing = l.Direction == call.Outgoing
	c.Strip = c.Outgoing && e.p.Outgoing != OutgoingCard
	c.ReportLevel = l.ReportLevel
	c.Rang = l.Rang
	c.RingsToday = 1
	e.applyTexts(c, l)
	e.reset(c)
	return c
}

// reset clears a card's contacts and sets the outcome that its number alone allows.
func (e *Engine) reset(c *card) {
	c.cancelLookup()
	c.clearContacts()
	c.pending, c.ShowSearching, c.Retrying, c.OpenError = false, false, false, false
	c.Failure, c.GeneralNumber, c.RemovedCount = "", false, 0
	c.LastRemoved, c.CanUndo, c.undo = contact.Contact{}, false, undo{}
	c.Possible = c.Number.Foreign
	c.AnswerReceived = time.Time{}
	c.Edition++
	c.attempt++
	c.failures = 0
	c.Outcome = outcomes[c.Number.Kind]
	if c.Number.Kind == phone.External {
		switch {
		case !c.Number.CanLookUp():
			c.Outcome = OutcomeShort
		case e.unconfirmed(c):
			c.Outcome = OutcomeOffered
		}
	}
}

// outcomes holds what the kind of a number says of its caller.
var outcomes = map[phone.Kind]Outcome{
	phone.External: OutcomeSearching, phone.Withheld: OutcomeWithheld, phone.Internal: OutcomeInternal, phone.Short: OutcomeShort,
	phone.OwnLine: OutcomeOwnLine, phone.Placeholder: OutcomePlaceholder, phone.NoNumber: OutcomeNoNumber,
}

// confirm looks up a launch by URL scheme after all.
func (e *Engine) confirm(ctx context.Context, c *card, now time.Time) {
	if c.confirmed = true; c.Outcome == OutcomeOffered {
		e.reset(c)
		e.record(c)
		e.requestLookup(ctx, c, now)
	}
}

// applyTexts copies the phone's texts about a call, except the name of somebody whom the
// user removed from the card.
func (e *Engine) applyTexts(c *card, l call.Live) {
	c.PhoneName = l.Name
	if slices.ContainsFunc(c.removedContacts[c.Number.Key()], func(k contact.Contact) bool { return isNameOf(l.Name, k) }) {
		c.PhoneName = ""
	}
	c.LineText, c.LineName = e.p.Rules.Line(l.Line)
	c.LineName = cmp.Or(l.Queue, c.LineName) // more telling than the line it came in on
	c.Via = l.Via
}

// replaceCaller replaces the person on a card at once: a name is never shown with
// another person's number.
func (e *Engine) replaceCaller(ctx context.Context, c *card, l call.Live, n phone.Number, ev call.Event, now time.Time) {
	e.s.dirty = true
	c.Number = n
	c.RingReceived, c.callerSince = ev.At, now
	c.closed = c.recordOnly // another person is news again
	c.ReportLevel = l.ReportLevel
	if c.Phase = PhaseAnswered; c.Answered.IsZero() {
		c.Phase = PhaseRinging
	}
	c.mustUnfold = c.Strip && !(c.Outgoing && e.p.Outgoing != OutgoingCard)
	if !c.Outgoing {
		e.countRing(c, n, now)
		e.markSuperseded(c)
	}
	if e.listCalls(); e.s.lastCall != nil && e.s.lastCall.Card == c.ID {
		e.s.lastCall = c.asLastCall()
	}
	e.applyTexts(c, l)
	e.reset(c)
	c.callerEdition = c.Edition
	e.record(c)
	if l.State == call.Answered {
		e.markAnswered(ctx, c, l.Answered)
	}
	e.requestLookup(ctx, c, now)
}

func (e *Engine) markAnswered(ctx context.Context, c *card, at time.Time) {
	if !c.Answered.IsZero() {
		return
	}
	c.Phase, c.Answered = PhaseAnswered, at
	c.mustUnfold = c.mustUnfold || c.Strip && !c.Outgoing
	e.s.dirty = true
	e.record(c)
	e.autoOpen(ctx, c)
}

func (e *Engine) endCall(c *card, r call.Reason, at time.Time) {
	c.isOver, c.ended, c.reason = true, at, r
	e.s.dirty = true
	c.pending, c.Retrying = false, false // no retries after the call
	if c.Answered.IsZero() {
		c.Phase = PhaseReported
	} else {
		c.Phase = PhaseOver
	}
	e.record(c)
}

// wakeNoticeDelay is how long the computer may take to notice that it
// woke up: calls that rang within this time rang after the sleep.
const wakeNoticeDelay = 3 * time.Second

// endAllCalls ends every call from before a sleep, as of its start and for an unknown
// reason, and removes its card.
func (e *Engine) endAllCalls(now time.Time, slept time.Duration) {
	now = now.Round(0) // wall clock: the monotonic clock may stop during sleep
	e.s.cards = slices.DeleteFunc(e.s.cards, func(c *card) bool {
		if !c.Rang.Before(now.Add(-wakeNoticeDelay)) {
			return false
		}
		if !c.isOver {
			e.endCall(c, call.ReasonUnknown, later(later(c.Rang, c.Answered), now.Add(-slept)))
		}
		c.cancelLookup()
		e.retire(c)
		return true
	})
	e.s.moreAttention, e.s.attentionLeftAt = attention{}, time.Time{}
}

func (e *Engine) sourceGone(s call.Source) {
	now := time.Now()
	for _, l := range e.s.tracker.SourceGone(s) {
		if c := e.cardOf(l.ID); c != nil {
			c.ReportLevel, c.sourceLost = call.RingOnly, now
			if c.Strip && c.Phase == PhaseAnswered {
				c.Phase = PhaseReported
			}
			e.s.dirty = true
			e.record(c)
		}
	}
}

// sourceReturned reverts sourceGone for a call: its source is back, reports the same call,
// and will report its end.
func (e *Engine) sourceReturned(c *card) {
	if c.sourceLost.IsZero() || c.ReportLevel == call.RingOnly {
		return
	}
	c.sourceLost = time.Time{}
	switch {
	case c.Phase != PhaseReported:
	case !c.Answered.IsZero():
		c.Phase = PhaseAnswered
	default:
		c.Phase, c.mustUnfold = PhaseRinging, c.Strip && !c.Outgoing
	}
}

// callerHash is the key of a number in rings. The number itself would not do: thousands
// of short strings, allocated among others that are freed, keep many times
// their own size in memory.
func (e *Engine) callerHash(n phone.Number) uint64 { return maphash.String(e.s.seed, n.Key()) }

// countRing sets how often a card's caller has rung today, including this time, and
// when the previous time was.
func (e *Engine) countRing(c *card, n phone.Number, now time.Time) {
	var oldest uint64
	for k, a := range e.s.rings {
		if !sameDay(a.last, now) {
			delete(e.s.rings, k)
		} else if o, some := e.s.rings[oldest]; !some || a.last.Before(o.last) {
			oldest = k
		}
	}
	c.RingsToday, c.PreviousRing = 1, time.Time{}
	if !identifiesCaller(n) || n.Kind == phone.Internal {
		return
	}
	caller := e.callerHash(n)
	a, known := e.s.rings[caller]
	if !slices.Contains(c.countedNumbers, n.Key()) { // otherwise transferred back: the same ring
		if c.countedNumbers = append(c.countedNumbers, n.Key()); len(c.countedNumbers) > maxCalls {
			c.countedNumbers = c.countedNumbers[1:]
		}
		a.times++
		a.before, a.last = a.last, now
		if !known && len(e.s.rings) >= 4*maxCalls { // limits memory in a flood
			delete(e.s.rings, oldest)
		}
		e.s.rings[caller] = a
	}
	c.RingsToday, c.PreviousRing = max(a.times, 1), a.before
}

func sameDay(a, b time.Time) bool {
	ay, am, ad := a.In(b.Location()).Date()
	by, bm, bd := b.Date()
	return ay == by && am == bm && ad == bd
}

func (e *Engine) allowScheme(now time.Time) bool {
	if e.p.SchemeLookup == SchemeOff {
		return false
	}
	e.s.scheme = slices.DeleteFunc(e.s.scheme, func(t time.Time) bool { return now.Sub(t) >= time.Minute })
	if k := len(e.s.scheme); e.p.SchemeLookup != SchemeAlways && (k >= schemePerMinute || k > 0 && now.Sub(e.s.scheme[k-1]) < schemeInterval) {
		return false
	}
	e.s.scheme = append(e.s.scheme, now)
	return true
}

func (e *Engine) cardOf(id call.ID) *card {
	for _, c := range e.s.cards {
		if c.call == id {
			return c
		}
	}
	return nil
}

// record passes what is known about a card's call to the history.
// A launch by URL scheme that no one clicked is not a call.
func (e *Engine) record(c *card) {
	if e.p.Record == nil || e.unconfirmed(c) {
		return
	}
	e.p.Record(Entry{Call: c.call, Card: c.Card, Source: c.source, Ended: c.ended, Reason: c.reason, AnsweredBy: c.answeredBy,
		ContactIndex: c.recordedContact(), BrowserStarted: c.OpenedIndex >= 0 && c.browserStarted})
}

// recordedContact returns the index of the contact recorded as the caller, or -1.
func (c *card) recordedContact() int {
	switch {
	case c.Possible:
		return -1
	case c.OpenedIndex >= 0:
		return c.OpenedIndex
	case len(c.Contacts) == 1 && c.RemovedCount == 0:
		return 0
	}
	return -1
}
