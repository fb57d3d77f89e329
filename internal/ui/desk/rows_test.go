package desk

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"wiebelt/internal/history"
	"wiebelt/internal/text"
)

var noon = time.Date(2026, 9, 14, 12, 0, 0, 0, time.Local) // a Monday

func customer() history.Entry {
	return history.Entry{ID: 7, Rang: noon.Add(-78 * time.Minute), Number: "+31612345678", Shown: "06 12 34 56 78",
		Line: "Schade", LineNumber: "020 123 45 67", Name: "J. de Vries", RelationNumber: "100200",
		ContactID: "c", Link: "https://hub.example/contacts/viewcontact/c", Matches: 1,
		Outcome: history.OutcomeFound, Result: history.ResultAnswered,
		Answered: noon.Add(-77 * time.Minute), Ended: noon.Add(-77*time.Minute + 134*time.Second)}
}

func TestRowTexts(t *testing.T) {
	tests := []struct {
		name   string
		change func(*history.Entry)
		lang   text.Language
		want   row // only what is written on it
	}{
		{"known", nil, text.Dutch, row{time: "10:42", title: "J. de Vries", detail: "06 12 34 56 78 · op Schade", result: "Opgenomen", mark: markDot, length: "2:14", openable: true}},
		{"known, in English", nil, text.English, row{time: "10:42", title: "J. de Vries", detail: "06 12 34 56 78 · on Schade", result: "Answered", mark: markDot, length: "2:14", openable: true}},
		{"several", func(e *history.Entry) {
			e.Name, e.Link, e.Matches, e.Outcome, e.Result = "", "", 3, history.OutcomeSeveral, history.ResultElsewhere
			e.Answered, e.Ended = time.Time{}, time.Time{}
		}, text.Dutch, row{time: "10:42", title: "3 relaties met dit nummer", detail: "06 12 34 56 78 · op Schade", result: "Door een collega opgenomen", mark: markTarget}},
		{"nobody, missed, line without a name", func(e *history.Entry) {
			e.Name, e.Link, e.Matches, e.Outcome, e.Result, e.Line = "", "", 0, history.OutcomeNobody, history.ResultMissed, ""
			e.Answered = time.Time{}
		}, text.Dutch, row{time: "10:42", title: "06 12 34 56 78", detail: "Geen relatie · op 020 123 45 67", result: "Gemist", mark: markRing}},
		{"withheld", func(e *history.Entry) {
			*e = history.Entry{Rang: e.Rang, Outcome: history.OutcomeWithheld, Result: history.ResultNotHere}
		}, text.Dutch, row{time: "10:42", title: "Anonieme beller", result: "Niet op dit toestel opgenomen", mark: markQuiet}},
		{"rings now, looked up", func(e *history.Entry) {
			e.Answered, e.Ended, e.Result = time.Time{}, time.Time{}, history.ResultLive
		}, text.Dutch, row{time: "10:42", title: "J. de Vries", detail: "06 12 34 56 78 · op Schade", result: "Inkomend", mark: markRing, openable: true}},
		{"talking now", func(e *history.Entry) {
			e.Ended, e.Result = time.Time{}, history.ResultLive
		}, text.Dutch, row{time: "10:42", title: "J. de Vries", detail: "06 12 34 56 78 · op Schade", result: "In gesprek", mark: markDot, openable: true}},
		{"outgoing, nobody there", func(e *history.Entry) {
			e.Outgoing, e.Answered, e.Result = true, time.Time{}, history.ResultNotHere
		}, text.Dutch, row{time: "10:42", title: "J. de Vries", detail: "06 12 34 56 78 · op Schade", result: "Uitgaand", mark: markQuiet, openable: true}},
		{"only the ring, numbers kept, yesterday", func(e *history.Entry) {
			*e = history.Entry{Rang: e.Rang.AddDate(0, 0, -1), Number: "101", Shown: "Toestel 101", Outcome: history.OutcomeInternal, Result: history.ResultUnknown}
		}, text.Dutch, row{time: "10:42", day: "zo 13 sep", title: "Toestel 101", detail: "Intern", result: "Afloop onbekend", mark: markDash}},
		{"a word of a newer resident", func(e *history.Entry) { e.Result, e.Outcome = "parked", "guessed" }, text.English,
			row{time: "10:42", title: "J. de Vries", detail: "06 12 34 56 78 · on Schade", result: "Outcome unknown", mark: markDash, length: "2:14", openable: true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := customer()
			if tt.change != nil {
				tt.change(&e)
			}
			got := rowOf(tt.lang, e, sameDay(e.Rang, noon))
			if got.number != e.Number {
				t.Errorf("copies %q, want %q", got.number, e.Number)
			}
			got.id, got.number, got.find, got.digits = 0, "", "", ""
			if got != tt.want {
				t.Errorf("got  %+v\nwant %+v", got, tt.want)
			}
		})
	}
}

func TestGroups(t *testing.T) {
	at := func(id int64, t time.Time) history.Entry {
		e := customer()
		e.ID, e.Rang = id, t
		return e
	}
	midnight := time.Date(2026, 9, 14, 0, 0, 0, 0, time.Local)
	all := []history.Entry{at(4, noon), at(3, midnight), at(2, midnight.Add(-time.Second)), at(1, noon.AddDate(0, 0, -5))}
	tests := []struct {
		name string
		all  []history.Entry
		now  time.Time
		want []row
	}{
		{"today and earlier", all, noon, []row{{heading: true, title: "Vandaag", count: 2}, {id: 4}, {id: 3},
			{heading: true, title: "Eerder", count: 2}, {id: 2}, {id: 1}}},
		{"the day after", all, noon.AddDate(0, 0, 1), []row{{heading: true, title: "Eerder", count: 4}, {id: 4}, {id: 3}, {id: 2}, {id: 1}}},
		{"only today", all[:1], noon, []row{{heading: true, title: "Vandaag", count: 1}, {id: 4}}},
		{"none", nil, noon, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := rowsOf(text.Dutch, tt.all, "", tt.now)
			if len(got) != len(tt.want) {
				t.Fatalf("%d rows, want %d: %+v", len(got), len(tt.want), got)
			}
			for i, w := range tt.want {
				if g := got[i]; g.id != w.id || g.heading != w.heading || g.count != w.count || w.heading && g.title != w.title {
					t.Errorf("row %d: %+v, want %+v", i, g, w)
				}
			}
		})
	}
}

func TestFilter(t *testing.T) {
	r := rowOf(text.Dutch, customer(), true)
	for filter, want := range map[string]bool{
		"": true, "  ": true, "vries": true, "DE V": true, "schade": true, "leven": false,
		"0612": true, "06-12 34": true, "+31612": true, "31 6 12345678": true, "612345679": false,
		"100200": true, "100 200": true, "020 123": true, "jansen": false,
		"straat 12": false, // the digits of a word search are no number
		"12 vries":  false, "9": false,
	} {
		if got := r.matches(filter); got != want {
			t.Errorf("%q matches: %v, want %v", filter, got, want)
		}
	}
}

// Whatever stands in the history, every call is a row with a result and is found
// by its own name.
func TestStrangeEntries(t *testing.T) {
	for _, name := range []string{"", "\xff\xfe", "İ ß ǅ", "12", "% · %d", strings.Repeat("x", 5000), "a\x00b", "日本"} {
		e := customer()
		e.Name, e.Shown, e.Result, e.Matches = name, name, name, -1
		rows := rowsOf(text.English, []history.Entry{e}, "", noon)
		if len(rows) != 2 || rows[1].result == "" {
			t.Errorf("%q: rows %+v", name, rows)
			continue
		}
		if !rows[1].matches(name) {
			t.Errorf("%q does not find itself", name)
		}
	}
}

func TestFit(t *testing.T) {
	width := func(s string) float32 { return float32(utf8.RuneCountInString(s)) }
	for _, tt := range []struct {
		s     string
		width float32
		want  string
	}{
		{"short", 5, "short"}, {"longer", 5, "long…"}, {"a b c", 3, "a…"}, {"één · twee", 7, "één…"}, {"x", 0, ""}, {"abc", 1, ""},
		{"", 0, ""},
	} {
		if got := fit(tt.s, tt.width, width); got != tt.want {
			t.Errorf("fit(%q, %v) = %q, want %q", tt.s, tt.width, got, tt.want)
		}
	}
}

func TestLengthAndMidnight(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "0:00", 9 * time.Second: "0:09", 134 * time.Second: "2:14",
		3599500 * time.Millisecond: "1:00:00", 3*time.Hour + 2*time.Minute + time.Second: "3:02:01"} {
		if got := lengthOf(d); got != want {
			t.Errorf("lengthOf(%v) = %q, want %q", d, got, want)
		}
	}
	if got := untilMidnight(noon); got != 12*time.Hour+time.Second {
		t.Errorf("untilMidnight(noon) = %v", got)
	}
}
