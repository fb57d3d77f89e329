package demo

import (
	"encoding/json"
	"testing"

	"fyne.io/fyne/v2/test"

	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/theme"
	"wiebelt/internal/ui/uitest"
	"wiebelt/internal/ui/widgets"
)

// TestDemoPictures leaves pictures of the window with WIEBELT_SHOTS set.
func TestDemoPictures(t *testing.T) {
	for _, l := range []text.Language{text.Dutch, text.English} {
		for _, look := range []string{"light", "dark"} {
			b := uitest.New(t, uitest.Greeting(l, uitest.DemoCalls...), map[string]widgets.Opener{windowapi.WindowDemo: Open})
			b.App.Settings().SetTheme(theme.New(look))
			b.Show(windowapi.WindowDemo)
			w := b.Page(windowapi.WindowDemo).(*window)
			uitest.Shot(t, w.win, "demo-"+string(l)+"-"+look+"-start")
			test.Tap(w.buttons[0])
			b.Handle(windowapi.KindPlay, json.RawMessage(`{"id":"`+uitest.DemoCalls[0].ID+`","line":"in 6 ms op het scherm, relatie na 11 ms"}`))
			uitest.Uncut(t, string(l), w.win)
			uitest.Shot(t, w.win, "demo-"+string(l)+"-"+look+"-played")
			w.win.Close()
		}
	}
}
