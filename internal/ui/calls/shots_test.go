package calls

import (
	"testing"
	"time"

	"fyne.io/fyne/v2"

	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/store/callactions"
	"wiebelt/internal/store/history"
	"wiebelt/internal/testutil/shottest"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/theme"
	"wiebelt/internal/ui/uitest"
)

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
		e.ID, e.Rang, e.Name, e.Shown, e.Result = int64(len(all)+1), uitest.Noon.Add(-time.Duration(minutes)*time.Minute), name, shown, result
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
	entry(52, "M. van der Berg", "06 98 76 54 32", history.ResultElsewhere, nil)
	entry(75, "", "", history.ResultNotHere, func(e *history.Entry) { nobody(e); e.Number, e.Outcome = "", history.OutcomeWithheld })
	entry(24*60+30, "C. Visser", "030 123 45 67", history.ResultUnknown, nil)
	return all
}
