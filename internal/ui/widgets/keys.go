package widgets

import "fyne.io/fyne/v2"

// PassEscape gives Escape, which a widget has no use for, to its window: it closes the
// window whichever widget has the keyboard. Other keys are ignored.
func PassEscape(o fyne.CanvasObject, e *fyne.KeyEvent) {
	if e.Name != fyne.KeyEscape {
		return
	}
	if c := fyne.CurrentApp().Driver().CanvasForObject(o); c != nil && c.OnTypedKey() != nil {
		c.OnTypedKey()(e)
	}
}

// OnEscape is what a window does with keys that nothing in it wants, if Escape is
// the only one of them that means something.
func OnEscape(do func()) func(*fyne.KeyEvent) {
	return func(e *fyne.KeyEvent) {
		if e.Name == fyne.KeyEscape {
			do()
		}
	}
}
