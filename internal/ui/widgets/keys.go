package widgets

import "fyne.io/fyne/v2"

// PassEscape passes Escape from a widget that does not use it to its window: Escape closes
// the window whichever widget has the focus. Other keys are ignored.
func PassEscape(o fyne.CanvasObject, e *fyne.KeyEvent) {
	if e.Name != fyne.KeyEscape {
		return
	}
	if c := fyne.CurrentApp().Driver().CanvasForObject(o); c != nil && c.OnTypedKey() != nil {
		c.OnTypedKey()(e)
	}
}

// OnEscape returns a handler for keys that nothing in a window handles, if Escape is the
// only one with a meaning.
func OnEscape(do func()) func(*fyne.KeyEvent) {
	return func(e *fyne.KeyEvent) {
		if e.Name == fyne.KeyEscape {
			do()
		}
	}
}
