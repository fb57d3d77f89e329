package widgets

import (
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"

	"wiebelt/internal/ui/theme"
)

// A button with the keyboard on it says so with a ring in the accent, primary or
// not, Enter and the space bar press it, and a click never leaves a ring behind.
func TestButtonByKeyboard(t *testing.T) {
	for _, look := range []string{"light", "dark"} {
		for _, weight := range []widget.Importance{widget.HighImportance, widget.MediumImportance, widget.LowImportance} {
			app := test.NewTempApp(t)
			app.Settings().SetTheme(theme.New(look))
			pressed := 0
			b := NewButton("Opslaan", func() { pressed++ })
			b.Importance = weight
			w := app.NewWindow("")
			w.SetContent(b)
			if b.ring.Visible() {
				t.Error("a ring before the keyboard was asked for")
			}
			for i, key := range []fyne.KeyName{fyne.KeyReturn, fyne.KeyEnter, fyne.KeySpace} {
				w.Canvas().Focus(b)
				if !b.ring.Visible() || b.ring.StrokeWidth != 2 {
					t.Errorf("%s, %v: no ring shows where the keyboard is", look, weight)
				}
				if got, want := b.ring.StrokeColor, theme.Pick(look == "dark", false).Accent; got != want {
					t.Errorf("%s: the ring is %v, want %v", look, got, want)
				}
				b.TypedKey(&fyne.KeyEvent{Name: key})
				if pressed != i+1 {
					t.Errorf("%s does not press it", key)
				}
				if !b.ring.Visible() {
					t.Errorf("%s takes the keyboard away", key)
				}
			}
			b.TypedKey(&fyne.KeyEvent{Name: fyne.KeyA})
			if pressed != 3 {
				t.Error("any key presses it")
			}
			test.Tap(b)
			if b.ring.Visible() {
				t.Error("a click leaves a ring")
			}
			b.Disable()
			b.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
			if pressed != 4 {
				t.Errorf("pressed %d times, want 4", pressed)
			}
			w.Close()
		}
	}
}
