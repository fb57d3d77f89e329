package widgets

import (
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
)

// TestButtonByKeyboard: Enter and the space bar press a button, which keeps the focus.
func TestButtonByKeyboard(t *testing.T) {
	w := test.NewTempApp(t).NewWindow("")
	pressed := 0
	b := NewButton("Opslaan", func() { pressed++ })
	w.SetContent(b)
	w.Canvas().Focus(b)
	keys(w.Canvas(), fyne.KeyReturn, fyne.KeyEnter, fyne.KeyA, fyne.KeySpace)
	if pressed != 3 || w.Canvas().Focused() != b {
		t.Errorf("pressed %d times, want 3; the keyboard is on %v", pressed, w.Canvas().Focused())
	}
	b.Disable()
	b.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	if pressed != 3 {
		t.Error("pressed though it is disabled")
	}
}
