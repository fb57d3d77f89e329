package phones

import (
	"testing"

	"fyne.io/fyne/v2"

	"wiebelt/internal/deskapi"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/kittest"
	"wiebelt/internal/ui/theme"
)

// TestPhonesPictures leaves pictures of the ways in and of recipes of each kind
// with WIEBELT_SHOTS set.
func TestPhonesPictures(t *testing.T) {
	for _, l := range []text.Language{text.Dutch, text.English} {
		for _, look := range []string{"light", "dark"} {
			b := openRecipes(t, l, here)
			b.App.Settings().SetTheme(theme.New(look))
			kittest.Scaled(recipes(b).win, fyne.NewSize(720, 688), 1)
			ways := deskapi.Ways{Ways: []deskapi.WayState{
				{Kind: "baresip", Phase: deskapi.LinkUp, Since: kittest.Noon.AddDate(0, 0, -3), Last: kittest.Noon},
				{Kind: "ari", Phase: deskapi.LinkDown, Since: kittest.Noon},
				{Kind: "websocket", Phase: deskapi.WayListens, Port: 27471},
				{Kind: "http", Phase: deskapi.WayTaken, Port: 27471},
				{Kind: "command", Phase: deskapi.WayListens, Last: kittest.Noon}}}
			b.Tell(t, deskapi.KindWays, ways)
			for _, id := range []string{waysPage, "baresip", "microsip", "any-url", "3cx-v20", "teams"} {
				recipes(b).Choose(id)
				kittest.Uncut(t, string(l)+" "+id, recipes(b).win, here.values.Exe)
				kittest.Shot(t, recipes(b).win, "phones-"+string(l)+"-"+look+"-"+id)
			}
			recipes(b).win.Close()
		}
	}
}
