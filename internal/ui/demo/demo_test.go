package demo

import (
	"encoding/json"
	"testing"

	"fyne.io/fyne/v2/widget"

	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/uitest"
	"wiebelt/internal/ui/widgets"
)

func TestDemo(t *testing.T) {
	b := uitest.New(t, uitest.Greeting(text.Dutch, uitest.DemoCalls...), map[string]widgets.Opener{windowapi.WindowDemo: Open})
	b.Show(windowapi.WindowDemo)
	w := b.Page(windowapi.WindowDemo).(*window)
	uitest.WantTexts(t, w.win, "Demo", "verzonnen", "Bekende klant", "Eerst het nummer.", "Hub is weg", "Kies hierboven een beller.")
	for i, c := range uitest.DemoCalls {
		uitest.Press(t, w.win, c.Title)
		if got := b.DrainSent(); len(got) != 1 || got[0].M != (windowapi.Play{ID: c.ID}) {
			t.Errorf("button %d said %v", i, got)
		}
		button := uitest.ButtonOf(w.win, c.Title)
		if h := button.Size().Height; h != 36 || (button.Importance == widget.HighImportance) != (i == 0) {
			t.Errorf("button %d is %v high, and its importance %v", i, h, button.Importance)
		}
	}
	uitest.WantTexts(t, w.win, "De telefoon gaat…")
	b.Handle(windowapi.KindPlay, json.RawMessage(`{"id":"known","line":"old"}`)) // overtaken by the second click
	uitest.WantTexts(t, w.win, "De telefoon gaat…")
	b.Handle(windowapi.KindPlay, json.RawMessage(`{"id":"gone","line":"in 6 ms op het scherm, relatie na 11 ms"}`))
	uitest.WantTexts(t, w.win, "in 6 ms op het scherm, relatie na 11 ms")
}
