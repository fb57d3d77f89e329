package link

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"wiebelt/internal/core/call"
)

// The memory for calls whose end never comes is bounded.
const (
	maxCalls     = 256
	maxManyCalls = 16 * maxCalls // of a link to many extensions
)

// known is a call that the phone has told of.
type known struct {
	event    call.Event // as reported last, without its time
	answered bool
	before   bool // on an earlier connection
}

// Reporter is what a session reports to. It belongs to the session's goroutine;
// the calls it knows live as long as the link.
type Reporter struct {
	l          *link
	calls      map[string]*known // by the phone's id
	up         bool
	since      time.Time // of up
	unreadable int       // messages of this connection that could not be read
	untaken    bool      // the last event was not taken
}

// begin is that of a session.
func (r *Reporter) begin() {
	r.up, r.unreadable = false, 0
	for _, k := range r.calls {
		k.before = true
	}
}

// Up tells that the connection stands and events can come.
func (r *Reporter) Up() {
	if !r.up {
		r.up, r.since = true, time.Now()
		r.l.enter(State{Phase: Connected})
	}
}

// Behind tells of a connection that stands what does not work behind it, and since
// when; NoCause is nothing.
func (r *Reporter) Behind(c Cause, since time.Time) {
	if r.up && (r.l.state.Cause != c || !r.l.state.Behind.Equal(since)) {
		r.l.enter(State{Phase: Connected, Cause: c, Behind: since})
	}
}

// Report completes an event by what is known of its call, hands it over, and
// remembers it. ID should have gone through CallID. The source is filled in, and
// the time where there is none. The direction of a known call stays; no number is
// the number as it was (a withheld one is reported in a word, such as "anonymous");
// and an event that says nothing new of a known call is still handed over: the
// tracker knows repeats.
func (r *Reporter) Report(e call.Event) {
	e.Source = r.l.traits.Source
	if e.At.IsZero() {
		e.At = time.Now()
	}
	k := r.calls[e.ID]
	if k != nil {
		if e.Number == "" {
			e.Number, e.Name = k.event.Number, k.event.Name
		}
		e.Line = cmp.Or(e.Line, k.event.Line)
		e.Via = cmp.Or(e.Via, k.event.Via)
		e.Extension = cmp.Or(e.Extension, k.event.Extension)
		if k.event.Direction != call.DirectionUnknown {
			e.Direction = k.event.Direction
		}
		if e.State == call.Ended && e.Reason == call.ReasonUnknown && k.answered {
			e.Reason = call.Completed
		}
	}
	e = e.Clean()
	kept := e
	kept.At, kept.Since = time.Time{}, time.Time{} // the next report of it has others
	switch {
	case e.ID == "":
	case e.State == call.Ended:
		delete(r.calls, e.ID)
	case k != nil:
		k.event, k.before = kept, false
		k.answered = k.answered || e.State == call.Answered
	case len(r.calls) < maxCalls || r.l.traits.ManyExtensions && len(r.calls) < maxManyCalls:
		r.calls[e.ID] = &known{event: kept, answered: e.State == call.Answered}
	}
	r.emit(e)
}

// Pass hands an event over as it is, of a phone that tells all of a call each time. It is
// not remembered.
func (r *Reporter) Pass(e call.Event) {
	e.Source, e.At = r.l.traits.Source, time.Now()
	r.emit(e.Clean())
}

// emit hands an event over. Of several that are not taken one after another the first
// is logged.
func (r *Reporter) emit(e call.Event) {
	err := r.l.cfg.Take(e)
	if err != nil && !r.untaken {
		r.l.cfg.Log.Warn("softphone event was not taken", "name", r.l.cfg.Name, "state", e.State.String())
	}
	r.untaken = err != nil
}

// Known gives what was reported last of a call that is not over.
func (r *Reporter) Known(id string) (e call.Event, ok bool) {
	if k := r.calls[id]; k != nil {
		return k.event, true
	}
	return call.Event{}, false
}

// Calls gives the ids of the calls that are not over.
func (r *Reporter) Calls() []string { return slices.Collect(maps.Keys(r.calls)) }

// End reports a known call as over; an unknown one is left alone.
func (r *Reporter) End(id string, why call.Reason) { r.EndBy(id, why, "") }

// EndBy is End with who took the call elsewhere, "" if that is not told.
func (r *Reporter) EndBy(id string, why call.Reason, by string) {
	if k := r.calls[id]; k != nil {
		e := k.event
		e.State, e.Reason, e.By = call.Ended, why, by
		r.Report(e)
	}
}

// EndOthers ends every call that is not among the given ones: a snapshot that does
// not name a call says that it is over, and of all others that they go on.
func (r *Reporter) EndOthers(ids map[string]bool) {
	for _, id := range r.Calls() {
		if !ids[id] {
			r.End(id, call.ReasonUnknown)
		}
	}
	r.GoOn()
}

// GoOn tells that the known calls go on, of each once for a connection: while there was
// none, nobody could say that it does.
func (r *Reporter) GoOn() {
	for _, k := range r.calls {
		if k.before {
			r.Report(k.event)
		}
	}
}

// EndAll ends every call.
func (r *Reporter) EndAll() { r.EndOthers(nil) }

// Read decodes a message of JSON. One that cannot be read is noted, and not what the
// decoder says of it, which may quote it.
func (r *Reporter) Read(b []byte, into any) (ok bool) {
	ok = json.Unmarshal(b, into) == nil
	if !ok {
		r.Unreadable(len(b))
	}
	return ok
}

// Unreadable notes a message that could not be read: once for each connection, and
// without its content.
func (r *Reporter) Unreadable(bytes int) {
	if r.unreadable++; r.unreadable == 1 {
		r.l.cfg.Log.Warn("softphone message cannot be read", "name", r.l.cfg.Name, "bytes", bytes)
	}
}

// CallID makes an id that the other side chooses fit for an event. One that
// would have to be cut or cleaned, and so could become another call's, is
// replaced by its hash.
func CallID(id string) string {
	if call.CleanText(id, call.MaxID) == id {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return "sha256:" + hex.EncodeToString(sum[:])
}
