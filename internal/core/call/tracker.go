package call

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Times for telling calls apart.
const (
	// MergeWithin is how far apart two sources may report the same ringing call.
	MergeWithin = 5 * time.Second
	// NewCallAfter is the time after which another ring from the same number is a new call, if
	// the source reports rings only, or another answer, if it reports answers only.
	NewCallAfter = 15 * time.Second
	// AssumeEndedAfter is the time after which a call counts as over.
	AssumeEndedAfter = 4 * time.Hour
	// StaleAfter is the age at which a report is history rather than a call.
	StaleAfter = 60 * time.Second
	// maxLive limits the tracker's memory in a flood.
	maxLive = 256
	// maxLate limits the calls first reported after they were over.
	maxLate = 64
)

// ID identifies a call while the program runs; it is never reused.
type ID uint64

// ChangeKind is what a report meant.
type ChangeKind uint8

// What a report can mean.
const (
	NoChange      ChangeKind = iota // a repeat, or no call of this source
	Began                           // a new call
	SameCall                        // the same call, perhaps with a new name or line
	AnotherCaller                   // the same call, transferred: now another number
	WasAnswered
	WasEnded
	TooOld // older than StaleAfter, of no live call: history only
)

// Change is what one report did to the calls.
type Change struct {
	Kind ChangeKind
	Call Live
	At   time.Time // when it happened: on arrival, or the time of a late report
}

// Live is a copy of a call known to the tracker.
type Live struct {
	ID          ID
	Source      Source // to which the call belongs
	CallerKey   string
	State       State
	Direction   Direction
	Reason      Reason
	Number      string // as received
	Name        string
	Line        string
	Queue       string // or ring group
	Via         string
	AnsweredBy  string // who answered, for AnsweredElsewhere
	ReportLevel ReportLevel
	Rang        time.Time // when it began to ring, as far as known
	Answered    time.Time // zero if it was not, or not reported
}

// reportedStates is what a source has ever reported.
type reportedStates struct{ answers, ends bool }

// connection is the source without what it can report, for comparing.
func (s Source) connection() Source { return Source{Kind: s.Kind, Conn: s.Conn} }

type alias struct {
	source Source // a connection
	id     string
}

type trackedCall struct {
	Live
	aliases  map[alias]bool // sources (and ids) that reported it
	lastRing time.Time
}

// Tracker decides which reports belong to one call. It is owned by one goroutine. A call
// belongs to the source that reported it, and only that source may change it, until its
// connection is gone and another reports it; across sources, only ringing is merged.
type Tracker struct {
	next    ID
	calls   []*trackedCall            // oldest first
	late    []*trackedCall            // first reported too late, oldest first
	learned map[Source]reportedStates // by connection
}

// NewTracker returns an empty tracker.
func NewTracker() *Tracker { return &Tracker{learned: map[Source]reportedStates{}} }

// Apply processes one report. key identifies the caller's number (phone.Number.Key:
// E.164, else digits; all withheld numbers are the same). now is the time of arrival.
// A late report still changes a matching live call. Any other call it only adds to
// the history, once (TooOld, with an ID that later reports of that call share).
func (t *Tracker) Apply(e Event, key string, now time.Time) Change {
	from := e.Source.connection()
	t.learn(from, e.State)
	c := t.find(t.calls, e, from, key, now)
	stale := !e.At.IsZero() && now.Sub(e.At) > StaleAfter
	if stale {
		now = e.At
	}
	var ch Change
	if stale && (c == nil || now.Before(c.Rang)) {
		ch = t.applyLate(e, from, key)
	} else {
		ch = t.apply(c, e, from, key, now)
	}
	ch.At = now
	return ch
}

// apply processes a report about call c, nil for an unknown call.
func (t *Tracker) apply(c *trackedCall, e Event, from Source, key string, now time.Time) Change {
	switch {
	case c == nil && e.State == Ended:
		return Change{}
	case c == nil && e.State == Answered && e.Number == "" && e.ID == "":
		return Change{} // it may be any call
	case c == nil:
		if e.State == Ringing && e.Direction == Incoming {
			if c = t.findMergeable(from, key, e.stateTime(now)); c != nil {
				return t.join(c, e, from)
			}
		}
		return t.begin(e, from, key, now)
	case c.Source.connection() != from:
		if t.reports(e.Source) <= c.ReportLevel {
			return Change{} // a second source may report the ring, nothing else
		}
		c.Source = e.Source // the connection of the one that reported more is gone
	}
	return t.update(c, e, key, now)
}

// SourceGone records that a connection has ended, and returns its calls. Their end can no
// longer be reported, so from now on they count as calls of which only the ring is known.
func (t *Tracker) SourceGone(gone Source) []Live {
	var left []Live
	from := gone.connection()
	for _, c := range t.calls {
		if c.Source.connection() == from {
			c.ReportLevel = RingOnly
			left = append(left, c.Live)
		}
	}
	delete(t.learned, from)
	return left
}

// Forget drops a call about which no more reports are expected.
func (t *Tracker) Forget(id ID) {
	t.calls = slices.DeleteFunc(t.calls, func(c *trackedCall) bool { return c.ID == id })
}

// Len returns the number of live calls.
func (t *Tracker) Len() int { return len(t.calls) }

// learn records what a source reports. The URL scheme teaches nothing, since anybody can
// launch it: it could take over a real phone's call.
func (t *Tracker) learn(from Source, s State) {
	if s == Ringing || from.Kind == KindURL {
		return
	}
	had, known := t.learned[from]
	if !known && len(t.learned) >= 4*maxLive {
		return
	}
	t.learned[from] = reportedStates{had.answers || s == Answered, had.ends || s == Ended}
}

// reports returns what a source can report: what it declares, and more once it has done so.
// A phone that reports answers but never an end counts as reporting rings only: otherwise
// its calls would last forever.
func (t *Tracker) reports(s Source) ReportLevel {
	reports := s.ReportLevel
	if had := t.learned[s.connection()]; had.ends {
		reports = max(reports, RingAndEnd)
		if had.answers {
			reports = AllStates
		}
	}
	return reports
}

// applyLate keeps calls that are too old for a card when first reported, so that all reports
// of one call make one history entry.
func (t *Tracker) applyLate(e Event, from Source, key string) Change {
	c := t.find(t.late, e, from, key, e.At)
	if c != nil && e.State == Ringing && e.At.Sub(c.lastRing).Abs() > StaleAfter {
		c = nil // an end was lost, and the id or number came again
	}
	switch {
	case c != nil:
		t.update(c, e, key, e.At)
	case e.State == Ended || e.Number == "" && e.ID == "" && e.State != Ringing:
		return Change{}
	default:
		if len(t.late) >= maxLate {
			t.late = slices.Delete(t.late, 0, 1)
		}
		c = t.newCall(e, from, key, e.At)
		t.late = append(t.late, c)
	}
	return Change{Kind: TooOld, Call: c.Live}
}

// find returns the call that a report of a source is about, or nil.
func (t *Tracker) find(calls []*trackedCall, e Event, from Source, key string, now time.Time) *trackedCall {
	if e.ID != "" {
		for _, c := range slices.Backward(calls) {
			if c.aliases[alias{from, e.ID}] {
				return c
			}
		}
		return nil
	}
	var only *trackedCall
	count := 0
	for _, c := range slices.Backward(calls) {
		if !c.aliases[alias{from, ""}] {
			continue
		}
		is, rang := c.isFrom(e, key), now.Sub(c.lastRing)
		begins := e.State == Ringing || e.State == Answered && c.Answered.Equal(c.Rang) // some phones report answers only
		if is && begins && (t.reports(c.Source) == RingOnly && rang > NewCallAfter || rang >= AssumeEndedAfter) {
			continue // it is over, its end was not reported
		}
		if is {
			return c
		}
		count++
		only = c
	}
	if e.State != Ringing && count == 1 && !strings.ContainsAny(e.Number, "0123456789") {
		return only // "ended" without a usable number: the source's only call
	}
	return nil
}

// findMergeable returns the one call that another source reports as ringing for the same
// number since the same time. That number may have an answered call besides.
func (t *Tracker) findMergeable(from Source, key string, rang time.Time) *trackedCall {
	var found *trackedCall
	for _, c := range t.calls {
		if c.CallerKey != key || c.Direction != Incoming || c.State != Ringing {
			continue
		}
		for n := range c.aliases {
			if n.source == from {
				return nil // this source already has such a call: two callers
			}
		}
		if found != nil {
			return nil // the other source has two such calls
		}
		found = c
	}
	if found == nil || rang.Sub(found.Rang).Abs() > MergeWithin {
		return nil
	}
	return found
}

// join adds a second source's ring to call c. The call then belongs to the source that
// can report more about it.
func (t *Tracker) join(c *trackedCall, e Event, from Source) Change {
	c.aliases[alias{from, e.ID}] = true
	if more := t.reports(e.Source); more > c.ReportLevel {
		c.Source, c.ReportLevel = e.Source, more
	}
	c.Name, c.Line, c.Via, c.Queue = cmp.Or(c.Name, e.Name), cmp.Or(c.Line, e.Line), cmp.Or(c.Via, e.Via), cmp.Or(c.Queue, e.Queue)
	return Change{Kind: SameCall, Call: c.Live}
}

func (t *Tracker) newCall(e Event, from Source, key string, now time.Time) *trackedCall {
	t.next++
	c := &trackedCall{
		Live: Live{ID: t.next, Source: e.Source, CallerKey: key, State: e.State, Direction: e.Direction,
			Number: e.Number, Name: e.Name, Line: e.Line, Via: e.Via, Queue: e.Queue, ReportLevel: t.reports(e.Source), Rang: e.stateTime(now)},
		aliases:  map[alias]bool{{from, e.ID}: true},
		lastRing: now,
	}
	if e.State == Answered {
		c.Answered = c.Rang
	}
	return c
}

func (t *Tracker) begin(e Event, from Source, key string, now time.Time) Change {
	c := t.newCall(e, from, key, now)
	if len(t.calls) >= maxLive {
		at := t.evictionCandidate()
		t.calls = slices.Delete(t.calls, at, at+1)
	}
	t.calls = append(t.calls, c)
	return Change{Kind: Began, Call: c.Live}
}

// evictionCandidate returns the call to drop for a new one: the oldest call of the kind of
// source that has the most, so that a flood on one source ends no call of another.
func (t *Tracker) evictionCandidate() int {
	count := map[string]int{}
	for _, c := range t.calls {
		count[c.Source.Kind]++
	}
	at := 0
	for i, c := range t.calls {
		if count[c.Source.Kind] > count[t.calls[at].Source.Kind] {
			at = i
		}
	}
	return at
}

// isFrom reports whether an event, with the key of its number, is about this call's caller.
// A phone may leave the name out of later reports, and with it the only sign that the caller
// is withheld: the same number, written the same way, is then still the same caller.
func (c *trackedCall) isFrom(e Event, key string) bool {
	return c.CallerKey == key || e.Number != "" && e.Number == c.Number && e.Name == ""
}

func isNew(known, said string) bool { return said != "" && said != known }

func (t *Tracker) update(c *trackedCall, e Event, key string, now time.Time) Change {
	knew := c.ReportLevel
	c.ReportLevel = max(c.ReportLevel, t.reports(c.Source))
	if e.State == Ended {
		c.State, c.Reason, c.AnsweredBy = Ended, e.Reason, e.AnsweredBy
		t.Forget(c.ID)
		t.late = slices.DeleteFunc(t.late, func(l *trackedCall) bool { return l == c })
		return Change{Kind: WasEnded, Call: c.Live}
	}
	kind := NoChange
	if c.ReportLevel > knew || isNew(c.Name, e.Name) || isNew(c.Line, e.Line) || isNew(c.Via, e.Via) || isNew(c.Queue, e.Queue) {
		kind = SameCall
	}
	// Reports of an answer often lack the number; only a ring, or an actual number,
	// can mean another caller.
	if !c.isFrom(e, key) && (e.Number != "" || e.State == Ringing) {
		kind = AnotherCaller
		c.CallerKey, c.Number, c.Name, c.Via = key, e.Number, e.Name, e.Via // Via too: a call taken back was passed on by nobody
	}
	c.Name, c.Line, c.Via, c.Queue = cmp.Or(e.Name, c.Name), cmp.Or(e.Line, c.Line), cmp.Or(e.Via, c.Via), cmp.Or(e.Queue, c.Queue)
	if c.Via == c.Number || c.Via == c.Name || c.Via == c.Name+" ("+c.Number+")" {
		c.Via = "" // exchanges name the previous holder, who now has the call back
	}
	if e.State == Ringing && now.After(c.lastRing) {
		c.lastRing = now
	}
	if e.State == Answered && c.State == Ringing {
		c.State, c.Answered = Answered, e.stateTime(now)
		if kind != AnotherCaller {
			kind = WasAnswered
		}
	}
	return Change{Kind: kind, Call: c.Live}
}
