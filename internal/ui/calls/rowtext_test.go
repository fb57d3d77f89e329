package calls

import (
	"testing"
	"time"

	"wiebelt/internal/store/history"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/uitest"
	"wiebelt/internal/ui/widgets"
)

func customer() history.Entry {
	return history.Entry{ID: 7, Rang: uitest.Noon.Add(-78 * time.Minute), Number: "+31612345678", NumberDisplay: "06 12 34 56 78",
		Line: "Schade", LineNumber: "020 123 45 67", Name: "J. de Vries", RelationNumber: "100200",
		ContactID: "c", Link: "https://hub.example/contacts/viewcontact/c", Matches: 1,
		Outcome: history.OutcomeFound, Result: history.ResultAnswered,
		Answered: uitest.Noon.Add(-77 * time.Minute), Ended: uitest.Noon.Add(-77*time.Minute + 134*time.Second)}
}

func TestRowTexts(t *testing.T) {
	tests := []struct {
		name   string
		change func(*history.Entry)
		lang   text.Language
		want   row // only its text
	}{
		{"known", nil, text.Dutch, row{time: "10:42", title: "J. de Vries", detail: "06 12 34 56 78 · op Schade", result: "Opgenomen", mark: widgets.MarkDot, more: "2:14", openable: true}},
		{"known, in English", nil, text.English, row{time: "10:42", title: "J. de Vries", detail: "06 12 34 56 78 · on Schade", result: "Answered", mark: widgets.MarkDot, more: "2:14", openable: true}},
		{"several", func(e *history.Entry) {
			e.Name, e.ContactID, e.RelationNumber, e.Link, e.Matches, e.Outcome, e.Result = "", "", "", "", 3, history.OutcomeSeveral, history.ResultAnsweredElsewhere
			e.AnsweredBy = "Anna de Boer"
			e.Answered, e.Ended = time.Time{}, time.Time{}
		}, text.Dutch, row{time: "10:42", title: "3 relaties met dit nummer", detail: "06 12 34 56 78 · op Schade", result: "Door een collega opgenomen", mark: widgets.MarkTarget, more: "Anna de Boer"}},
		{"nobody, missed, line without a name", func(e *history.Entry) {
			e.Name, e.ContactID, e.RelationNumber, e.Link, e.Matches, e.Outcome, e.Result, e.Line = "", "", "", "", 0, history.OutcomeNobody, history.ResultMissed, ""
			e.Answered = time.Time{}
		}, text.Dutch, row{time: "10:42", title: "06 12 34 56 78", detail: "Geen relatie · op 020 123 45 67", result: "Gemist", mark: widgets.MarkRing}},
		{"nobody at the hub, a name in the phone system", func(e *history.Entry) {
			e.Name, e.ContactID, e.RelationNumber, e.Link, e.Matches, e.Outcome = "P. Jansen", "", "", "", 0, history.OutcomeNobody
		}, text.Dutch, row{time: "10:42", title: "06 12 34 56 78", detail: "Geen relatie · in telefoon: P. Jansen · op Schade", result: "Opgenomen", mark: widgets.MarkDot, more: "2:14"}},
		{"a colleague, whose name the phone system has", func(e *history.Entry) {
			*e = history.Entry{Rang: e.Rang, Number: "101", NumberDisplay: "101", Name: "P. Jansen", Outcome: history.OutcomeInternal, Result: history.ResultUnknown}
		}, text.Dutch, row{time: "10:42", title: "P. Jansen", detail: "101", result: "Afloop onbekend", mark: widgets.MarkDash}},
		{"not the one it seemed to be", func(e *history.Entry) {
			e.ContactID, e.RelationNumber, e.Link, e.PersonRejected = "", "", "", true
		}, text.Dutch, row{time: "10:42", title: "06 12 34 56 78", detail: "Niet J. de Vries, zegt u · op Schade", result: "Opgenomen", mark: widgets.MarkDot, more: "2:14"}},
		{"while Wiebelt was not running", func(e *history.Entry) {
			*e = history.Entry{Kind: history.KindWhileOff, Rang: e.Rang, Ended: e.Ended, Number: e.Number, NumberDisplay: e.NumberDisplay, Line: "Schade", Result: history.ResultMissed}
		}, text.English, row{time: "10:42", title: "06 12 34 56 78", detail: "on Schade · while Wiebelt was not running", result: "Missed", mark: widgets.MarkRing}},
		{"withheld", func(e *history.Entry) {
			*e = history.Entry{Rang: e.Rang, Outcome: history.OutcomeWithheld, Result: history.ResultNotHere}
		}, text.Dutch, row{time: "10:42", title: "Anonieme beller", result: "Niet op dit toestel opgenomen", mark: widgets.MarkQuiet}},
		{"rings now, looked up", func(e *history.Entry) {
			e.Answered, e.Ended, e.Result = time.Time{}, time.Time{}, history.ResultLive
		}, text.Dutch, row{time: "10:42", title: "J. de Vries", detail: "06 12 34 56 78 · op Schade", result: "Inkomend", mark: widgets.MarkRing, openable: true}},
		{"talking now", func(e *history.Entry) {
			e.Ended, e.Result = time.Time{}, history.ResultLive
		}, text.Dutch, row{time: "10:42", title: "J. de Vries", detail: "06 12 34 56 78 · op Schade", result: "In gesprek", mark: widgets.MarkDot, openable: true}},
		{"outgoing, nobody there", func(e *history.Entry) {
			e.Outgoing, e.Answered, e.Result = true, time.Time{}, history.ResultNotHere
		}, text.Dutch, row{time: "10:42", title: "J. de Vries", detail: "06 12 34 56 78 · op Schade", result: "Uitgaand", mark: widgets.MarkQuiet, openable: true}},
		{"only the ring, numbers kept, yesterday", func(e *history.Entry) {
			*e = history.Entry{Rang: e.Rang.AddDate(0, 0, -1), Number: "101", NumberDisplay: "Toestel 101", Outcome: history.OutcomeInternal, Result: history.ResultUnknown}
		}, text.Dutch, row{time: "10:42", day: "zo 13 sep", title: "Toestel 101", detail: "Intern", result: "Afloop onbekend", mark: widgets.MarkDash}},
		{"missed, dealt with", func(e *history.Entry) {
			e.Answered, e.Result, e.HandledAt, e.Via = time.Time{}, history.ResultMissed, uitest.Noon, "Receptie"
		}, text.Dutch, row{time: "10:42", title: "J. de Vries", detail: "06 12 34 56 78 · op Schade · doorverbonden door Receptie", result: "Gemist", mark: widgets.MarkQuiet, more: "afgehandeld", openable: true}},
		{"last year", func(e *history.Entry) { e.Rang = e.Rang.AddDate(-1, 0, 0) }, text.English,
			row{time: "10:42", day: "14 Sep 2025", title: "J. de Vries", detail: "06 12 34 56 78 · on Schade", result: "Answered", mark: widgets.MarkDot, more: "2:14", openable: true}},
		{"a word of a newer resident", func(e *history.Entry) { e.Result, e.Outcome = "parked", "guessed" }, text.English,
			row{time: "10:42", title: "J. de Vries", detail: "06 12 34 56 78 · on Schade", result: "Outcome unknown", mark: widgets.MarkDash, more: "2:14", openable: true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := customer()
			if tt.change != nil {
				tt.change(&e)
			}
			got := rowOf(tt.lang, e, uitest.Noon)
			if got.hasNumber != (e.Number != "") || got.callable != got.hasNumber || got.hasRelation != (e.RelationNumber != "") ||
				got.hasContact != (e.ContactID != "") || got.canLookUp != (e.Number != "" && e.Outcome != history.OutcomeInternal) || got.open != e.Open() || got.handled != (e.Missed() && !e.Open()) ||
				got.several != (e.Matches > 1 && e.ContactID == "") || got.place != e.Place() {
				t.Errorf("offers %+v", got)
			}
			got.id, got.hasNumber, got.callable, got.hasRelation, got.hasContact, got.canLookUp, got.open, got.handled, got.several, got.place = 0, false, false, false, false, false, false, false, false, history.Place{}
			if got != tt.want {
				t.Errorf("got  %+v\nwant %+v", got, tt.want)
			}
		})
	}
}

// TestRowWithoutANumber: a call for which the phone
// reported neither number nor name still has a title.
func TestRowWithoutANumber(t *testing.T) {
	e := history.Entry{Rang: uitest.Noon, Number: "text:", Result: history.ResultMissed}
	if r := rowOf(text.Dutch, e, uitest.Noon); r.title != "Geen nummer ontvangen" || r.hasNumber || r.callable || r.canLookUp ||
		r.detail != "" {
		t.Errorf("%+v", r)
	}
}
