package calls

import (
	"strings"
	"time"
	"unicode"

	"wiebelt/internal/history"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/kit"
)

// row is one call of the calls window as it is written.
type row struct {
	id     int64
	time   string // "10:42"
	day    string // "ma 14 sep", "" for today
	title  string // name, or number while there is no name
	detail string // number, line, who passed it on
	result string
	mark   kit.Mark
	more   string // how long was talked, "2:14", or what was done about it

	number   bool // there is one to copy
	dial     bool // and to call back
	relation bool // there is a relation number
	openable bool
	person   bool // there is a contact that can be taken off
	again    bool // it can be looked up again
	open     bool // missed and not ticked off
}

func rowOf(l text.Language, e history.Entry, now time.Time) row {
	r := row{id: e.ID, time: l.Clock(e.Rang), number: strings.ContainsFunc(e.Number, unicode.IsDigit), relation: e.RelationNumber != "",
		openable: e.Link != "", person: e.ContactID != "", open: e.Open()}
	r.dial = r.number && strings.Trim(e.Number, "+0123456789") == ""
	if !kit.SameDay(e.Rang, now) {
		r.day = l.Day(e.Rang, now)
	}
	switch e.Outcome {
	case history.OutcomeWithheld, history.OutcomeInternal, history.OutcomeShort, history.OutcomeOwn:
	default:
		r.again = r.dial
	}
	line := e.Line
	if line == "" {
		line = e.LineNumber
	}
	var details []string
	if r.title = titleOf(l, e); r.title == e.Shown {
		details = append(details, outcomeOf(l, e))
	} else {
		details = append(details, e.Shown)
	}
	if line != "" {
		details = append(details, l.T(text.DeskCallsLine, line))
	}
	if e.Via != "" {
		details = append(details, l.T(text.CardVia, e.Via))
	}
	r.detail = kit.Join(details...)
	r.result, r.mark = resultOf(l, e)
	switch {
	case !e.Answered.IsZero() && e.Ended.After(e.Answered):
		r.more = l.Length(e.Ended.Sub(e.Answered))
	case e.Missed() && !e.Open():
		r.more, r.mark = l.T(text.CallsHandled), kit.MarkQuiet
	}
	return r
}

func titleOf(l text.Language, e history.Entry) string {
	switch {
	case e.Name != "":
		return e.Name
	case e.Number == "":
		return l.T(text.DeskWhoWithheld)
	case e.Matches > 1 && !e.TakenOff:
		return l.N(text.DeskWhoSeveral, e.Matches)
	case e.Shown == "":
		return l.T(text.CardUnfilled)
	}
	return e.Shown
}

// outcomeOf says why there is a number where a name could be.
func outcomeOf(l text.Language, e history.Entry) string {
	switch e.Outcome {
	case history.OutcomeNobody:
		return l.T(text.DeskWhoNobody)
	case history.OutcomeFailed:
		return l.T(text.DeskWhoFailed)
	case history.OutcomeInternal:
		return l.T(text.DeskWhoInternal)
	case history.OutcomeShort:
		return l.T(text.DeskWhoShort)
	case history.OutcomeOwn:
		return l.T(text.DeskWhoOwn)
	}
	return ""
}

func resultOf(l text.Language, e history.Entry) (string, kit.Mark) {
	if e.Outgoing && e.Result != history.ResultLive {
		if e.Answered.IsZero() {
			return l.T(text.DeskResultOutgoing), kit.MarkQuiet
		}
		return l.T(text.DeskResultOutgoing), kit.MarkDot
	}
	switch e.Result {
	case history.ResultLive:
		switch {
		case !e.Answered.IsZero():
			return l.T(text.DeskResultTalking), kit.MarkDot
		case e.Outgoing:
			return l.T(text.DeskResultOutgoing), kit.MarkRing
		}
		return l.T(text.DeskResultRinging), kit.MarkRing
	case history.ResultAnswered:
		return l.T(text.DeskResultAnswered), kit.MarkDot
	case history.ResultMissed:
		return l.T(text.DeskResultMissed), kit.MarkRing
	case history.ResultElsewhere:
		return l.T(text.DeskResultElsewhere), kit.MarkTarget
	case history.ResultRejected:
		return l.T(text.DeskResultRejected), kit.MarkQuiet
	case history.ResultNotHere:
		return l.T(text.DeskResultNotHere), kit.MarkQuiet
	}
	return l.T(text.DeskResultUnknown), kit.MarkDash
}
