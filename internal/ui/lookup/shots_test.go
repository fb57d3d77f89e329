package lookup

import (
	"testing"

	"fyne.io/fyne/v2"

	"wiebelt/internal/deskapi"
	"wiebelt/internal/guide/shottest"
	"wiebelt/internal/history"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/kittest"
)

// TestLookupGuideShots: looking up in the guide looks as the window looks.
func TestLookupGuideShots(t *testing.T) {
	for _, l := range []text.Language{text.Dutch, text.English} {
		b, w := lookupBench(t, l)
		w.box.SetText("06 12 34 56 78")
		w.box.CursorColumn = len(w.box.Text)
		w.ask()
		found(t, b, deskapi.LookupFound{Seq: w.seq, Outcome: history.OutcomeFound, Number: "+31612345678", Shown: "06 12 34 56 78", Copy: "0612345678", Contacts: []deskapi.LookupContact{dorp}})
		kittest.Scaled(w.win, fyne.NewSize(560, 400), 2)
		shottest.UpToDate(t, "lookup", string(l), w.win.Canvas().Capture())
		w.win.Close()
	}
}
