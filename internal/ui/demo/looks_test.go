package demo

import (
	"encoding/json"
	"testing"

	"fyne.io/fyne/v2/test"

	"wiebelt/internal/deskapi"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/kit"
	"wiebelt/internal/ui/kittest"
	"wiebelt/internal/ui/theme"
)

// TestDemoPictures leaves pictures of the window with WIEBELT_SHOTS set.
func TestDemoPictures(t *testing.T) {
	for _, l := range []text.Language{text.Dutch, text.English} {
		for _, look := range []string{"light", "dark"} {
			b := kittest.New(t, kittest.Greeting(l, kittest.DemoCalls...), map[string]kit.Opener{deskapi.WindowDemo: Open})
			b.App.Settings().SetTheme(theme.New(look))
			b.Show(deskapi.WindowDemo)
			w := b.Page(deskapi.WindowDemo).(*window)
			kittest.Shot(t, w.win, "demo-"+string(l)+"-"+look+"-start")
			test.Tap(w.buttons[0])
			b.Handle(deskapi.KindPlay, json.RawMessage(`{"id":"`+kittest.DemoCalls[0].ID+`","line":"in 6 ms op het scherm, relatie na 11 ms"}`))
			kittest.Uncut(t, string(l), w.win)
			kittest.Shot(t, w.win, "demo-"+string(l)+"-"+look+"-played")
			w.win.Close()
		}
	}
}
