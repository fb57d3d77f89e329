package calls

import (
	"cmp"
	"strings"
	"time"
	"unicode"

	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/store/history"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/widgets"
)

type row struct {
	id     int64
	time   string // "10:42"
	day    string // "ma 14 sep", "" for today
	title  string // name, or number while there is no name
	detail string // number, line, who forwarded it
	result string
	mark   widgets.Mark
	more   string // how long was talked, "2:14", or what was done about it

	hasNumber   bool // there is a number to copy
	callable    bool // and to call back
	hasRelation bool // there is a relation number
	openable    bool
	several     bool // several people to choose from
	hasContact  bool // there is a contact that can be removed
	canLookUp   bool // the number can be looked up again
	open        bool // missed and not ticked off
	handled     bool // missed and ticked off

	place         history.Place
	person        int               // which of the call's people, from 1; -1 for the line below them
	personContact windowapi.Contact // of that person
	personNumber  string            // that person's number, which was looked up
	undo          bool              // something was just removed and can be restored
	removedText   string            // what was done to the whole call, "" if it is still there
}

func rowOf(l text.Language, e history.Entry, now time.Time) row {
	r := row{id: e.ID, time: l.Clock(e.Rang), hasNumber: strings.ContainsFunc(e.Number, unicode.IsDigit), hasRelation: e.RelationNumber != "",
		openable: e.Link != "", hasContact: e.ContactID != "", open: e.Open(), handled: e.Missed() && !e.Open(), place: e.Place()}
	r.callable = r.hasNumber && strings.Trim(e.Number, "+0123456789") == ""
	if !text.SameDay(e.Rang, now) {
		r.day = l.Day(e.Rang, now)
	}
	switch e.Outcome {
	case history.OutcomeWithheld, history.OutcomeInternal, history.OutcomeShort, history.OutcomeOwn:
	default:
		r.canLookUp = r.callable
	}
	r.several = r.canLookUp && e.Matches > 1 && !hasKnownName(e) && !e.PersonRejected
	line := cmp.Or(e.Line, e.LineNumber)
	var details []string
	if r.title = titleOf(l, e); r.title == e.NumberDisplay {
		details = append(details, outcomeOf(l, e))
	} else {
		details = append(details, e.NumberDisplay)
	}
	if e.Name != "" && r.title != e.Name && !e.PersonRejected { // not a name from the hub
		details = append(details, l.T(text.CallsPhoneName, e.Name))
	}
	if line != "" {
		details = append(details, l.T(text.WindowCallsLine, line))
	}
	if e.Via != "" {
		details = append(details, l.T(text.CardVia, e.Via))
	}
	if e.WhileOff() {
		details = append(details, l.T(text.CallsAway))
	}
	r.detail = widgets.Join(details...)
	r.result, r.mark = resultOf(l, e)
	switch {
	case !e.Answered.IsZero() && e.Ended.After(e.Answered):
		r.more = l.Duration(e.Ended.Sub(e.Answered))
	case e.Result == history.ResultAnsweredElsewhere:
		r.more = e.AnsweredBy
	case r.handled:
		r.more, r.mark = l.T(text.CallsHandled), widgets.MarkQuiet
	}
	return r
}

// hasKnownName reports whether the name is that of a contact at the hub or of a colleague: any
// other name comes from the phone system.
func hasKnownName(e history.Entry) bool {
	return e.ContactID != "" || e.RelationNumber != "" || e.Link != "" || e.Outcome == history.OutcomeInternal || e.Outcome == history.OutcomeOwn
}

func titleOf(l text.Language, e history.Entry) string {
	switch {
	case e.Name != "" && hasKnownName(e):
		return e.Name
	case e.Number == "":
		return l.T(text.WindowWhoWithheld)
	case e.Matches > 1 && !e.PersonRejected:
		return l.N(text.WindowWhoSeveral, e.Matches)
	case e.NumberDisplay == "":
		return l.T(text.CardUnfilled)
	}
	return e.NumberDisplay
}

// outcomeOf explains why there is a number instead of a name.
func outcomeOf(l text.Language, e history.Entry) string {
	switch {
	case e.PersonRejected && e.Name != "":
		return l.T(text.CallsNotThis, e.Name)
	case e.PersonRejected:
		return l.T(text.CallsNotThisContact)
	}
	if key, known := outcomes[e.Outcome]; known {
		return l.T(key)
	}
	return ""
}

var outcomes = map[string]text.Key{history.OutcomeNobody: text.WindowWhoNobody, history.OutcomeFailed: text.WindowWhoFailed,
	history.OutcomeInternal: text.WindowWhoInternal, history.OutcomeShort: text.WindowWhoShort, history.OutcomeOwn: text.WindowWhoOwn}

func resultOf(l text.Language, e history.Entry) (string, widgets.Mark) {
	if e.Outgoing && e.Result != history.ResultLive {
		if e.Answered.IsZero() {
			return l.T(text.WindowResultOutgoing), widgets.MarkQuiet
		}
		return l.T(text.WindowResultOutgoing), widgets.MarkDot
	}
	if e.Result == history.ResultLive {
		switch {
		case !e.Answered.IsZero():
			return l.T(text.WindowResultTalking), widgets.MarkDot
		case e.Outgoing:
			return l.T(text.WindowResultOutgoing), widgets.MarkRing
		}
		return l.T(text.WindowResultRinging), widgets.MarkRing
	}
	if r, known := results[e.Result]; known {
		return l.T(r.words), r.mark
	}
	return l.T(text.WindowResultUnknown), widgets.MarkDash
}

// results are the results of incoming calls that have ended.
var results = map[string]struct {
	words text.Key
	mark  widgets.Mark
}{
	history.ResultAnswered:          {text.WindowResultAnswered, widgets.MarkDot},
	history.ResultMissed:            {text.WindowResultMissed, widgets.MarkRing},
	history.ResultAnsweredElsewhere: {text.WindowResultElsewhere, widgets.MarkTarget},
	history.ResultRejected:          {text.WindowResultRejected, widgets.MarkQuiet},
	history.ResultNotHere:           {text.WindowResultNotHere, widgets.MarkQuiet},
}
