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
		for _, scale := range uitest.Scales {
			b, w := lookupHarness(t, l)
			uitest.Scaled(w.win, fyne.NewSize(560, 520), scale)
			uitest.Uncut(t, string(l)+" start", w.win)
			for _, tt := range answers {
				w.box.SetText("0612345678")
				w.ask()
				f := tt.f
				f.Seq, f.Shown, f.Copy = w.seq, "06 12 34 56 78", "0612345678"
				if len(f.Contacts) > 0 {
					f.Contacts = append([]windowapi.Contact{long}, f.Contacts[1:]...)
				}
				found(t, b, f)
				uitest.Uncut(t, string(l)+" "+tt.name, w.win)
			}
			w.win.Close()
		}
	}
}
