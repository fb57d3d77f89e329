package lookup

import (
	"testing"

	"fyne.io/fyne/v2"

	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/uitest"
)

func TestLookupWindowFits(t *testing.T) {
	long := dorp
	long.Name, long.Address = "Mw. A.E. van der Meulen-Oosterhuis tot Nederhorst den Berg", "Burgemeester van Stamplein 1234 bis, 1234 AB Alphen aan den Rijn"
	for _, l := range []text.Language{text.Dutch, text.English} {
		b, w := lookupHarness(t, l)
		for _, tt := range answers {
			w.box.SetText("0612345678")
			w.ask()
			f := tt.f
			f.Seq, f.Shown, f.Copy = w.seq, "06 12 34 56 78", "0612345678"
			if len(f.Contacts) > 0 {
				f.Contacts = append([]windowapi.Contact{long}, f.Contacts[1:]...)
			}
			found(t, b, f)
			uitest.Examine(t, "lookup-"+string(l)+"-"+tt.name, w.win, []fyne.Size{{Width: 560, Height: 520}})
		}
		w.win.Close()
	}
}
