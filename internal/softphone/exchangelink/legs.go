package exchangelink

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"wiebelt/internal/core/address"
	"wiebelt/internal/core/call"
	"wiebelt/internal/softphone/link"
)

// maxLegCalls limits the calls of one extension. It is below a Reporter's limit, so that
// the end of every reported call can be reported.
const (
	maxLegCalls = 128
	mostCalls   = 16 * maxLegCalls // of many extensions
	maxLegs     = 64               // of one call
)

// Legs tracks the calls of one or many extensions. A call that rings on several
// devices of an extension at once is several legs to the exchange but one call to
// a person: it is reported once, under the first leg's ID. It is answered when
// one leg is, and ends with that leg or with the last one. The zero value has no
// calls. It belongs to the session's goroutine and lives as long as the link.
type Legs struct {
	calls []*mergedCall // oldest first
	many  bool          // many extensions
}

type mergedCall struct {
	id       string          // as reported
	legs     map[string]bool // by the exchange's id
	answered string          // the leg that was answered; "" for none
}

func (l *Legs) find(leg string) *mergedCall {
	for _, c := range l.calls {
		if c.legs[leg] {
			return c
		}
	}
	return nil
}

// Known returns the last report of the call with this leg.
func (l *Legs) Known(r *link.Reporter, leg string) (call.Event, bool) {
	if c := l.find(leg); c != nil {
		return r.Known(c.id)
	}
	return call.Event{}, false
}

// All returns the legs of all calls.
func (l *Legs) All() (legs []string) {
	for _, c := range l.calls {
		legs = slices.AppendSeq(legs, maps.Keys(c.legs))
	}
	return legs
}

// Report reports the state of a leg. id is the ID to report its call under: it differs from
// leg if the exchange reuses IDs of legs. same, if not nil, reports whether leg and another
// one, with the same caller and extension, are one call.
func (l *Legs) Report(r *link.Reporter, leg, id string, e call.Event, same func(other string) bool) {
	c := l.find(leg)
	if c == nil {
		c = l.add(r, leg, id, e, same)
	}
	e.ID = c.id
	if repeatsNumber(e.Name, e.Number) {
		e.Name = ""
	}
	switch {
	case c.answered != "" && c.answered != leg:
		return // another device of an answered call
	case c.answered == leg:
		e.State = call.Answered // an answered call does not ring again
	case e.State == call.Answered:
		c.answered = leg
	}
	if known, _ := r.Known(c.id); e.Via == "" && e.Number != "" && e.Number != known.Number && LooksInternal(known.Number) {
		e.Via = cmp.Or(known.Name, known.Number) // the colleague on the line has passed the call on
	}
	r.Report(e)
}

// add finds or creates the call for a new leg.
func (l *Legs) add(r *link.Reporter, leg, id string, e call.Event, same func(string) bool) *mergedCall {
	if e.Direction == call.Incoming && same != nil {
		clean := e.Clean()
		for _, c := range l.calls {
			known, ok := r.Known(c.id)
			rings := ok && known.State == call.Ringing && known.Direction == call.Incoming
			if !rings || known.Number != clean.Number || known.Extension != clean.Extension || len(c.legs) >= maxLegs {
				continue
			}
			for other := range c.legs {
				if same(other) {
					c.legs[leg] = true
					return c
				}
				break // one represents all
			}
		}
	}
	if most := len(l.calls); most >= maxLegCalls && !l.many || most >= mostCalls {
		l.drop(r, 0, call.ReasonUnknown, "")
	}
	c := &mergedCall{id: link.CallID(id), legs: map[string]bool{leg: true}}
	l.calls = append(l.calls, c)
	return c
}

// End reports that a leg has ended.
func (l *Legs) End(r *link.Reporter, leg string, why call.Reason) { l.EndBy(r, leg, why, "") }

// EndBy is like End, and names the party who took the call elsewhere, "" if unknown.
func (l *Legs) EndBy(r *link.Reporter, leg string, why call.Reason, by string) {
	for i, c := range l.calls {
		if c.legs[leg] {
			delete(c.legs, leg)
			if c.answered == leg {
				why, by = call.ReasonUnknown, "" // answered; how it was hung up does not matter
			}
			if len(c.legs) == 0 || c.answered == leg {
				l.drop(r, i, why, by)
			}
			return
		}
	}
}

// EndOthers ends every call that has none of the given legs.
func (l *Legs) EndOthers(r *link.Reporter, legs map[string]bool) {
	for i := len(l.calls) - 1; i >= 0; i-- {
		c := l.calls[i]
		maps.DeleteFunc(c.legs, func(leg string, _ bool) bool { return !legs[leg] })
		if len(c.legs) == 0 || c.answered != "" && !c.legs[c.answered] {
			l.drop(r, i, call.ReasonUnknown, "")
		}
	}
	ids := make(map[string]bool, len(l.calls))
	for _, c := range l.calls {
		ids[c.id] = true
	}
	r.EndOthers(ids)
}

func (l *Legs) drop(r *link.Reporter, i int, why call.Reason, by string) {
	id := l.calls[i].id
	l.calls = slices.Delete(l.calls, i, i+1)
	r.EndBy(id, why, by)
}

// repeatsNumber reports whether a name is only the number once more, as exchanges send for
// somebody they do not know. A long one may be in another form, such as 06… for +316….
func repeatsNumber(name, number string) bool {
	a, ok := address.Digits(name)
	b, ok2 := address.Digits(number)
	if a, b = strings.TrimLeft(a, "+0"), strings.TrimLeft(b, "+0"); len(a) > len(b) {
		a, b = b, a
	}
	return ok && ok2 && (a == b || len(a) >= 7 && strings.HasSuffix(b, a))
}

// LooksInternal reports whether a number looks internal: a few digits.
func LooksInternal(number string) bool {
	return number != "" && len(number) <= 5 && strings.Trim(number, "0123456789") == ""
}

// IsPublicNumber reports whether a dialled extension is a public number, and therefore the
// one that the caller dialled.
func IsPublicNumber(extension string) bool {
	return len(extension) >= 7 && strings.Trim(strings.TrimPrefix(extension, "+"), "0123456789") == ""
}

var signs = strings.NewReplacer("_", "", "-", "", " ", "")

// NormaliseWord normalises a word of an exchange: it removes differences in spelling.
func NormaliseWord(s string) string { return signs.Replace(strings.ToLower(s)) }

// Anonymous is how a withheld number is reported.
const Anonymous = "anonymous"

// ColleagueName formats a colleague's name for a card.
func ColleagueName(name, extension string) string {
	switch {
	case name == "":
		return extension
	case extension == "":
		return name
	}
	return name + " (" + extension + ")"
}

// DecodeEach decodes each item of a list. An unreadable one is skipped; the connection stays.
func DecodeEach[T any](r *link.Reporter, list []json.RawMessage, f func(T)) {
	for _, b := range list {
		var item T
		if r.Decode(b, &item) {
			f(item)
		}
	}
}

// HangupReason maps a Q.850 cause as used by Asterisk. Normal clearing of an unanswered call says
// nothing: the caller may have hung up, or somebody else answered.
func HangupReason(cause int) call.Reason {
	switch cause {
	case 17, 21: // user busy, call rejected: a phone rang and somebody declined
		return call.Rejected
	case 19: // no answer
		return call.Missed
	case 26: // answered elsewhere
		return call.AnsweredElsewhere
	}
	return call.ReasonUnknown
}
