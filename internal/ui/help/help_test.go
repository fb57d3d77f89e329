package help

import (
	"strings"
	"testing"

	"fyne.io/fyne/v2"

	"wiebelt/internal/deskapi"
	"wiebelt/internal/guide"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/kit"
	"wiebelt/internal/ui/kittest"
	"wiebelt/internal/ui/theme"
)

// Every page of the guide opens, in both languages, light and dark, and keeps
// inside its window. With WIEBELT_SHOTS set, pictures of them are left there.
func TestHelpWindow(t *testing.T) {
	for _, l := range []text.Language{text.Dutch, text.English} {
		for _, look := range []string{"light", "dark"} {
			b := kittest.New(t, kittest.Greeting(l), map[string]kit.Opener{deskapi.WindowHelp: Open})
			b.App.Settings().SetTheme(theme.New(look))
			b.Show(deskapi.WindowHelp)
			w := b.Page(deskapi.WindowHelp).(*window)
			w.win.Resize(fyne.NewSize(720, 640))
			kittest.WantTexts(t, w.win, l.T(text.HelpEverybody), l.T(text.HelpAdmins))
			for _, p := range guide.Help(l) {
				w.Choose(p.ID)
				if w.Chosen() != p.ID {
					t.Fatalf("%s is not shown", p.ID)
				}
				all := strings.Join(kittest.Texts(w.win), " ")
				if !strings.Contains(all, p.Title) || strings.Contains(all, "**") || strings.Contains(all, "`") || strings.Contains(all, "## ") {
					t.Errorf("%s, %s: marks are left, or the title is missing", l, p.ID)
				}
				if got := w.pages.MinSize().Width; got > 720-topicsWidth {
					t.Errorf("%s, %s: %g wide", l, p.ID, got)
				}
				kittest.Shot(t, w.win, "help-"+p.ID+"-"+string(l)+"-"+look)
			}
		}
	}
}
