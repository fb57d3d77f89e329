package lookup

import (
	"testing"

	"fyne.io/fyne/v2"

	"wiebelt/internal/text"
	"wiebelt/internal/ui/theme"
	"wiebelt/internal/ui/uitest"
)

// TestLookupPictures leaves a picture of every answer with WIEBELT_SHOTS set.
func TestLookupPictures(t *testing.T) {
	for _, l := range []text.Language{text.Dutch, text.English} {
		for _, look := range []string{"light", "dark"} {
			b, w := lookupBench(t, l)
			b.App.Settings().SetTheme(theme.New(look))
			uitest.Scaled(w.win, fyne.NewSize(560, 440), 1)
			uitest.Shot(t, w.win, "lookup-"+string(l)+"-"+look+"-start")
			for _, tt := range answers {
				w.box.SetText("06 12 34 56 78")
				w.ask()
				f := tt.f
				f.Seq, f.Shown, f.Copy, f.Number = w.seq, "06 12 34 56 78", "0612345678", "+31612345678"
				found(t, b, f)
				uitest.Shot(t, w.win, "lookup-"+string(l)+"-"+look+"-"+tt.name)
				uitest.Uncut(t, string(l)+" "+tt.name, w.win)
			}
			w.win.Close()
		}
	}
}
