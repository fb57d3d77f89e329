package desk

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"wiebelt/internal/history"
	"wiebelt/internal/text"
)

// mark is the shape in front of a result; with its word beside it nothing
// depends on a colour.
type mark uint8

const (
	markNone    mark = iota
	markRing         // open ring in accent: rings now, or nobody took it
	markDot          // full dot: was or is taken here
	markTarget       // ring with a dot in it: somebody else took it
	markQuiet        // grey ring: not taken here
	markDash         // grey dash: not known
	markTrouble      // ring in the colour of trouble
)

// row is one line of the calls window: a heading (only title and count) or a
// call.
type row struct {
	heading bool
	count   int

	id       int64
	time     string // "10:42"
	day      string // "ma 14 sep", "" for today
	title    string // name, or number while there is no name
	detail   string // number, line
	result   string
	mark     mark
	length   string // how long was talked, "2:14", "" if not
	number   string // to copy, digits with their +; "" for a withheld one
	openable bool
	find     string // what the filter looks at, lower case
	digits   string
}

// rowsOf turns the history, newest first, into lines under "today" and
// "earlier", those that match filter.
func rowsOf(l text.Language, all []history.Entry, filter string, now time.Time) []row {
	var rows []row
	var group text.Key
	heading := 0 // where the heading of group stands
	for _, e := range all {
		today := sameDay(e.Rang, now)
		r := rowOf(l, e, today)
		if !r.matches(filter) {
			continue
		}
		in := text.DeskCallsEarlier
		if today {
			in = text.DeskCallsToday
		}
		if in != group {
			group, heading = in, len(rows)
			rows = append(rows, row{heading: true, title: l.T(in)})
		}
		rows[heading].count++
		rows = append(rows, r)
	}
	return rows
}

func rowOf(l text.Language, e history.Entry, today bool) row {
	r := row{id: e.ID, time: e.Rang.Local().Format("15:04"), number: e.Number, openable: e.Link != ""}
	if !today {
		r.day = dayOf(l, e.Rang.Local())
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
		line = l.T(text.DeskCallsLine, line)
	}
	r.detail = join(append(details, line)...)
	r.result, r.mark = resultOf(l, e)
	if !e.Answered.IsZero() && e.Ended.After(e.Answered) {
		r.length = lengthOf(e.Ended.Sub(e.Answered))
	}
	r.find = strings.ToLower(join(r.title, r.detail, e.Name, e.LineNumber, e.RelationNumber))
	r.digits = onlyDigits(e.Number) + " " + onlyDigits(e.Shown) + " " + onlyDigits(e.LineNumber) + " " + onlyDigits(e.RelationNumber)
	return r
}

func titleOf(l text.Language, e history.Entry) string {
	switch {
	case e.Name != "":
		return e.Name
	case e.Number == "":
		return l.T(text.DeskWhoWithheld)
	case e.Matches > 1:
		return l.N(text.DeskWhoSeveral, e.Matches)
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

func resultOf(l text.Language, e history.Entry) (string, mark) {
	if e.Outgoing && e.Result != history.ResultLive {
		if e.Answered.IsZero() {
			return l.T(text.DeskResultOutgoing), markQuiet
		}
		return l.T(text.DeskResultOutgoing), markDot
	}
	switch e.Result {
	case history.ResultLive:
		switch {
		case !e.Answered.IsZero():
			return l.T(text.DeskResultTalking), markDot
		case e.Outgoing:
			return l.T(text.DeskResultOutgoing), markRing
		}
		return l.T(text.DeskResultRinging), markRing
	case history.ResultAnswered:
		return l.T(text.DeskResultAnswered), markDot
	case history.ResultMissed:
		return l.T(text.DeskResultMissed), markRing
	case history.ResultElsewhere:
		return l.T(text.DeskResultElsewhere), markTarget
	case history.ResultRejected:
		return l.T(text.DeskResultRejected), markQuiet
	case history.ResultNotHere:
		return l.T(text.DeskResultNotHere), markQuiet
	}
	return l.T(text.DeskResultUnknown), markDash
}

// matches tells whether the filter stands in the row. A filter without letters
// also finds numbers that are written differently.
func (r row) matches(filter string) bool {
	filter = strings.ToLower(strings.TrimSpace(filter))
	if filter == "" || strings.Contains(r.find, filter) {
		return true
	}
	if strings.IndexFunc(filter, unicode.IsLetter) >= 0 {
		return false
	}
	d := onlyDigits(filter)
	return len(d) >= 2 && strings.Contains(r.digits, d)
}

func onlyDigits(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, s)
}

func sameDay(a, b time.Time) bool {
	ay, am, ad := a.Local().Date()
	by, bm, bd := b.Local().Date()
	return ay == by && am == bm && ad == bd
}

// dayOf writes a day as "ma 14 sep"; a history is short, so no year.
func dayOf(l text.Language, t time.Time) string {
	days, months := strings.Fields(l.T(text.DeskDays)), strings.Fields(l.T(text.DeskMonths))
	if len(days) != 7 || len(months) != 12 {
		return t.Format("2006-01-02")
	}
	return fmt.Sprintf("%s %d %s", days[t.Weekday()], t.Day(), months[t.Month()-1])
}

func lengthOf(d time.Duration) string {
	s := int(d.Round(time.Second) / time.Second)
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

func join(parts ...string) string {
	var kept []string
	for _, p := range parts {
		if p != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, " · ")
}
