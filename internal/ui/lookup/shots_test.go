package lookup

import (
	"testing"

	"fyne.io/fyne/v2"

	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/store/history"
	"wiebelt/internal/testutil/shottest"
	"wiebelt/internal/ui/theme"
	"wiebelt/internal/ui/uitest"
)

// TestLookupGuideShots checks that the guide's pictures show the lookup window as it is.
func TestLookupGuideShots(t *testing.T) {
	for _, s := range shottest.All {
		b, w := lookupHarness(t, s.Language)
		b.App.Settings().SetTheme(theme.New(s.Look))
		w.box.SetText("06 12 34 56 78")
		w.box.CursorColumn = len(w.box.Text)
		w.ask()
		found(t, b, windowapi.Found{Seq: w.seq, Outcome: history.OutcomeFound, Number: "+31612345678", Shown: "06 12 34 56 78", Copy: "0612345678", Contacts: []windowapi.Contact{dorp}})
		uitest.Scaled(w.win, fyne.NewSize(560, 400), 2)
		shottest.UpToDate(t, "lookup"+s.Suffix, string(s.Language), w.win.Canvas().Capture())
		w.win.Close()
	}
}
