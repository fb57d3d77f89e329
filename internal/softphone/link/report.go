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

// Limits on calls remembered, in case their end is never reported.
const (
	maxCalls     = 256
	maxManyCalls = 16 * maxCalls // of a link to many extensions
)

type knownCall struct {
	event              call.Event // last report, without its time
	answered           bool
	fromEarlierSession bool // from an earlier connection
}

// Reporter receives a session's reports. It belongs to the session's goroutine; the calls
// it knows live as long as the link.
type Reporter struct {
	l          *link
	calls      map[string]*knownCall // by the phone's id
	up         bool
	since      time.Time // of up
	unreadable int       // unreadable messages on this connection
	untaken    bool      // the last event was not accepted
}

// begin prepares for a new session.
func (r *Reporter) begin() {
	r.up, r.unreadable = false, 0
	for _, k := range r.calls {
		k.fromEarlierSession = true
	}
}

// Up reports that the connection is established and events can arrive.
func (r *Reporter) Up() {
	if !r.up {
		r.up, r.since = true, time.Now()
		r.l.setState(State{Phase: Connected})
	}
}

// SetBackendFault reports what does not work behind an established connection, and since when;
// NoCause means that all is well.
func (r *Reporter) SetBackendFault(c Cause, since time.Time) {
	if r.up && (r.l.state.Cause != c || !r.l.state.BackendFaultSince.Equal(since)) {
		r.l.setState(State{Phase: Connected, Cause: c, BackendFaultSince: since})
	}
}

// Report completes an event with what is known of its call, passes it on, and remembers it.
// ID should have gone through CallID. The source is filled in, and the time if missing. The
// direction of a known call stays; an empty number means it is unchanged (a withheld one
// is reported as a word, such as "anonymous"). Events without news about a known call are
// passed on too: the tracker recognises repeats.
func (r *Reporter) Report(e call.Event) {
	e.Source = r.l.traits.Source
	if e.At.IsZero() {
		e.At = time.Now()
	}
	e = e.Clean()
	k := r.calls[e.ID]
	if k != nil {
		if e.Number == "" {
			e.Number, e.Name = k.event.Number, k.event.Name
		}
		e.Line = cmp.Or(e.Line, k.event.Line)
		if e.Number == k.event.Number { // another party was passed on by somebody else, or nobody
			e.Via = cmp.Or(e.Via, k.event.Via)
		}
		e.Extension = cmp.Or(e.Extension, k.event.Extension)
		if k.event.Direction != call.DirectionUnknown {
			e.Direction = k.event.Direction
		}
		if e.State == call.Ended && e.Reason == call.ReasonUnknown && k.answered {
			e.Reason = call.Completed
		}
	}
	kept := e
	kept.At, kept.StateSince = time.Time{}, time.Time{} // they differ in the next report
	switch {
	case e.ID == "":
	case e.State == call.Ended:
		delete(r.calls, e.ID)
	case k != nil:
		k.event, k.fromEarlierSession = kept, false
		k.answered = k.answered || e.State == call.Answered
	case len(r.calls) < maxCalls || r.l.traits.ManyExtensions && len(r.calls) < maxManyCalls:
		r.calls[e.ID] = &knownCall{event: kept, answered: e.State == call.Answered}
	}
	r.emit(e)
}

// Forward passes on an event of a phone that always reports a call in full, with its source
// and time set and its texts cleaned. It is not remembered.
func (r *Reporter) Forward(e call.Event) {
	e.Source, e.At = r.l.traits.Source, time.Now()
	r.emit(e.Clean())
}

// emit passes an event on. Of several consecutive failures only the first is logged.
func (r *Reporter) emit(e call.Event) {
	err := r.l.cfg.Receive(e)
	if err != nil && !r.untaken {
		r.l.cfg.Log.Warn("softphone event was not taken", "name", r.l.cfg.Name, "state", e.State.String())
	}
	r.untaken = err != nil
}

// Known returns the last report of a call in progress.
func (r *Reporter) Known(id string) (e call.Event, ok bool) {
	if k := r.calls[id]; k != nil {
		return k.event, true
	}
	return call.Event{}, false
}

// Calls returns the IDs of the calls in progress.
func (r *Reporter) Calls() []string { return slices.Collect(maps.Keys(r.calls)) }

// End reports a known call as ended; an unknown one is ignored.
func (r *Reporter) End(id string, why call.Reason) { r.EndBy(id, why, "") }

// EndBy is like End, and names the party who took the call elsewhere, "" if unknown.
func (r *Reporter) EndBy(id string, why call.Reason, by string) {
	if k := r.calls[id]; k != nil {
		e := k.event
		e.State, e.Reason, e.AnsweredBy = call.Ended, why, by
		r.Report(e)
	}
}

// EndOthers ends every call that is not among the given ones: a snapshot without a call
// means that it has ended, and that all others continue.
func (r *Reporter) EndOthers(ids map[string]bool) {
	for _, id := range r.Calls() {
		if !ids[id] {
			r.End(id, call.ReasonUnknown)
		}
	}
	r.Continue()
}

// Continue reports that the known calls continue, each once per
// connection, since their state was unknown while there was none.
func (r *Reporter) Continue() {
	for _, k := range r.calls {
		if k.fromEarlierSession {
			r.Report(k.event)
		}
	}
}

// EndAll ends every call.
func (r *Reporter) EndAll() { r.EndOthers(nil) }

// Decode decodes a JSON message. An unreadable one is logged without the decoder's
// error, which may quote it.
func (r *Reporter) Decode(b []byte, into any) (ok bool) {
	ok = json.Unmarshal(b, into) == nil
	if !ok {
		r.Unreadable(len(b))
	}
	return ok
}

// Unreadable logs an unreadable message, once per connection and without its content.
func (r *Reporter) Unreadable(bytes int) {
	if r.unreadable++; r.unreadable == 1 {
		r.l.cfg.Log.Warn("softphone message cannot be read", "name", r.l.cfg.Name, "bytes", bytes)
	}
}

// CallID makes an ID chosen by the other side fit for an event. One that would have to be
// truncated or cleaned, and so could become another call's, is replaced by its hash.
func CallID(id string) string {
	if call.CleanText(id, call.MaxID) == id {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return "sha256:" + hex.EncodeToString(sum[:])
}
