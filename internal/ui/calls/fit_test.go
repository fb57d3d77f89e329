package calls

import (
	"errors"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"

	"wiebelt/internal/core/contact"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/store/callactions"
	"wiebelt/internal/store/history"
	"wiebelt/internal/testutil/shottest"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/theme"
	"wiebelt/internal/ui/uitest"
	"wiebelt/internal/ui/widgets"
)

// TestCallsWindowFits checks that no word of the calls window is cut, in either
// language and at every scale, in the window as it opens and at its minimum size.
func TestCallsWindowFits(t *testing.T) {
	long := customer()
	long.Name, long.Line, long.Via = "Mw. A.E. van der Meulen-Oosterhuis tot Nederhorst den Berg", "Schade en verzuim buitendienst", "Receptie Nieuwegein"
	long.AnsweredBy = "Anna-Sophia van den Bergh tot Oosterhuizen"
	longDetail := "06 12 34 56 78 · "
	own, small, least := fyne.NewSize(720, 640), fyne.NewSize(688, 400), fyne.NewSize(540, 320)
	all := everyResult(customer(), long)
	for i := range all {
		all[i].Rang = uitest.Noon.AddDate(0, -3*(i/2), -i/2)
		if all[i].Result == history.ResultMissed {
			all[i].HandledAt = uitest.Noon
		}
	}
	for _, l := range []text.Language{text.Dutch, text.English} {
		b := newHarness(t, uitest.Greeting(l))
		b.Show(windowapi.WindowCalls)
		examine := func(name string, sizes []fyne.Size, data ...string) {
			for _, scale := range uitest.Scales {
				uitest.UncutAt(t, string(l)+" "+name, b.calls.win, scale, sizes, append(data, long.Name)...)
			}
		}
		rows := func(name string, s callactions.State, fault, notice string) {
			b.state(s)
			b.say(t, fault, notice)
			b.read(all, nil)
			tall := fyne.NewSize(0, 1600) // shows all rows
			examine(name, []fyne.Size{own.Add(tall), small.Add(tall), least.Add(tall), own, small, least},
				long.AnsweredBy, longDetail, customer().Name)
			uitest.Fits(t, string(l)+" "+name, b.calls.win)
			if got := len(views(b)); got != len(all) {
				t.Errorf("%d of %d calls are shown", got, len(all))
			}
		}
		rows("rows", callactions.State{Manual: true, CallBack: true, Delivery: true}, "", "")
		rows("fault", callactions.State{Group: true, Manual: true, CallBack: true},
			l.T(text.CallsFault("read_only"), "Jan Willem van der Meulen (IT), toestel 140"), "")
		rows("notice", callactions.State{Manual: true}, "", l.T(text.CallsNotice("damaged")))
		for name, do := range map[string]func(){
			"work":   func() { b.read(workDay(), nil); b.calls.tick(views(b)[5].row, []int64{5}); b.remove(3) },
			"people": func() { b.read([]history.Entry{ofSeveral()}, nil); people(t, b) },
			"menu":   func() { uitest.Press(t, b.calls.win, l.T(text.CallsMenu)) },
			"wipe":   b.calls.askWipe,
			"empty":  func() { b.read(nil, nil) },
			"broken": func() { b.read(nil, errors.New("disk")) },
		} {
			b.read(aDay(), nil)
			do()
			examine(name, []fyne.Size{own, small, least})
			for o := b.calls.win.Canvas().Overlays(); o.Top() != nil; {
				o.Remove(o.Top())
			}
		}
		b.calls.win.Close()
	}
}

// TestNumberInNarrowRows checks that the number and the result of a known caller's call are
// readable in every row of the smallest window, whatever the result, whoever answered it, and
// that the description of a tool is too.
func TestNumberInNarrowRows(t *testing.T) {
	for _, l := range []text.Language{text.Dutch, text.English} {
		b := newHarness(t, uitest.Greeting(l))
		b.Show(windowapi.WindowCalls)
		b.state(callactions.State{CallBack: true})
		one := customer()
		one.Line, one.Via, one.AnsweredBy = "Schade en verzuim buitendienst", "Receptie Nieuwegein", "Anna-Sophia van den Bergh tot Oosterhuizen"
		b.read(everyResult(one), nil)
		uitest.Scaled(b.calls.win, fyne.NewSize(540, 1600), 1)
		drawn := func(line *widgets.TextLine) string { return uitest.All[*canvas.Text](line)[0].Text }
		for _, v := range views(b) {
			right := v.width() - widgets.RowInset
			for _, over := range []tool{toolNone, toolCall, toolCopy} {
				v.MouseOut()
				v.MouseIn(&desktop.MouseEvent{PointEvent: fyne.PointEvent{Position: fyne.NewPos(right-float32(toolCount-over)*toolWidth+10, 20)}})
				if said := drawn(v.More); over != toolNone && said != l.T(words[over]) {
					t.Errorf("%s, %s: tool %d is described as %q", l, v.Result.Text, over, said)
				}
				if !v.narrow || drawn(v.Result) != v.Result.Text || !strings.Contains(drawn(v.Detail), one.NumberDisplay) {
					t.Errorf("%s, tool %d: %q, %q without the number, or cut", l, over, drawn(v.Result), drawn(v.Detail))
				}
			}
			v.MouseOut()
		}
		b.read([]history.Entry{ofSeveral()}, nil)
		people(t, b)
		for _, v := range b.calls.list.views {
			if number := contact.GroupDigits(v.row.personContact.Relation); v.Visible() && v.row.person > 0 &&
				(v.Indent == 0 || !v.narrow || !strings.Contains(drawn(v.Detail), number)) {
				t.Errorf("%s, person %d, indented by %v: %q without the number", l, v.row.person, v.Indent, drawn(v.Detail))
			}
		}
		b.calls.win.Close()
	}
}

// everyResult returns these calls with every result.
func everyResult(of ...history.Entry) (all []history.Entry) {
	for _, result := range []string{history.ResultLive, history.ResultAnswered, history.ResultMissed, history.ResultAnsweredElsewhere,
		history.ResultRejected, history.ResultNotHere, history.ResultUnknown} {
		for _, e := range of {
			e.ID, e.Result = int64(len(all)+1), result
			if result != history.ResultAnswered {
				e.Answered, e.Ended = time.Time{}, time.Time{}
			}
			all = append(all, e)
		}
	}
	return all
}

// ofSeveral returns a call whose number belongs to several contacts.
func ofSeveral() history.Entry {
	e := customer()
	e.Name, e.ContactID, e.RelationNumber, e.Link, e.Matches, e.Outcome = "", "", "", "", 3, history.OutcomeSeveral
	return e
}

// people shows its people below the call.
func people(t *testing.T, b *harness) {
	t.Helper()
	r, _ := b.calls.row(0)
	b.calls.lookAgain(r)
	b.on.got = callactions.LookupOutcome{MoreContacts: 1, Contacts: []windowapi.Contact{
		{ID: "b", ChosenEarlier: true, Name: "B. Bakker", Relation: "200201", Address: "Dorpsstraat 1, 1234 AB Ons Dorp", Link: "x"},
		{ID: "a", Name: "A. Aarts", Relation: "200202", Address: "Kerkstraat 9, 1234 AB Ons Dorp", Link: "x"}}}
	b.SendFromResident(t, windowapi.KindLookup, windowapi.LookupResult{Seq: b.calls.lookupSeq, Entry: r.id})
}

// TestGuideShots checks that the guide's pictures show the window as it is.
func TestGuideShots(t *testing.T) {
	for _, s := range shottest.All {
		l := s.Language
		b := newHarness(t, uitest.Greeting(l))
		b.App.Settings().SetTheme(theme.New(s.Look))
		b.read(aDay(), nil)
		b.Show(windowapi.WindowCalls)
		b.Welcome.Status = windowapi.Status{OK: true, Sentence: l.T(text.StatusReadyLast, "11:52", "Bria")}
		b.calls.showStatus()
		b.state(callactions.State{Manual: true, CallBack: true})
		uitest.Scaled(b.calls.win, fyne.NewSize(720, 592), 2)
		shottest.UpToDate(t, "calls"+s.Suffix, string(l), b.calls.win.Canvas().Capture())
		b.calls.win.Close()
	}
}

// aDay is what an office's calls look like.
func aDay() (all []history.Entry) {
	entry := func(minutes int, name, shown, result string, change func(*history.Entry)) {
		e := customer()
		e.ID, e.Rang, e.Name, e.NumberDisplay, e.Result = int64(len(all)+1), uitest.Noon.Add(-time.Duration(minutes)*time.Minute),
			name, shown, result
		e.Answered, e.Ended = time.Time{}, e.Rang.Add(20*time.Second)
		if result == history.ResultAnswered {
			e.Answered, e.Ended = e.Rang.Add(6*time.Second), e.Rang.Add(140*time.Second)
		}
		if change != nil {
			change(&e)
		}
		all = append(all, e)
	}
	nobody := func(e *history.Entry) {
		e.Name, e.ContactID, e.RelationNumber, e.Link, e.Outcome, e.Matches = "", "", "", "", history.OutcomeNobody, 0
	}
	entry(8, "J. de Vries", "06 12 34 56 78", history.ResultMissed, nil)
	entry(21, "A. Bakker", "020 987 65 43", history.ResultAnswered, nil)
	entry(34, "", "0475 12 34 56", history.ResultAnswered, nobody)
	entry(52, "M. van der Berg", "06 98 76 54 32", history.ResultAnsweredElsewhere, nil)
	entry(75, "", "", history.ResultNotHere, func(e *history.Entry) { nobody(e); e.Number, e.Outcome = "", history.OutcomeWithheld })
	entry(24*60+30, "C. Visser", "030 123 45 67", history.ResultUnknown, nil)
	return all
}
