package phones

import (
	"testing"

	"fyne.io/fyne/v2"

	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/theme"
	"wiebelt/internal/ui/uitest"
)

// TestPhonesPictures leaves pictures of the ways in and of recipes of each kind
// with WIEBELT_SHOTS set.
func TestPhonesPictures(t *testing.T) {
	for _, l := range []text.Language{text.Dutch, text.English} {
		for _, look := range []string{"light", "dark"} {
			b := openRecipes(t, l, here)
			b.App.Settings().SetTheme(theme.New(look))
			uitest.Scaled(recipes(b).win, fyne.NewSize(720, 688), 1)
			sources := windowapi.Sources{Sources: []windowapi.SourceState{
				{Kind: "baresip", Phase: windowapi.LinkUp, Since: uitest.Noon.AddDate(0, 0, -3), Last: uitest.Noon},
				{Kind: "ari", Phase: windowapi.LinkDown, Since: uitest.Noon},
				{Kind: "websocket", Phase: windowapi.SourceListens, Port: 27471},
				{Kind: "http", Phase: windowapi.SourceTaken, Port: 27471},
				{Kind: "command", Phase: windowapi.SourceListens, Last: uitest.Noon}}}
			b.Tell(t, windowapi.KindSources, sources)
			for _, id := range []string{sourcesPage, "baresip", "microsip", "any-url", "3cx-v20", "teams"} {
				recipes(b).Choose(id)
				uitest.Uncut(t, string(l)+" "+id, recipes(b).win, here.values.Exe)
				uitest.Shot(t, recipes(b).win, "phones-"+string(l)+"-"+look+"-"+id)
			}
			recipes(b).win.Close()
		}
	}
}
