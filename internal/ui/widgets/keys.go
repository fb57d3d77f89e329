package widgets

import "fyne.io/fyne/v2"

// Hand gives Escape, which a widget has no use for, to its window: it closes a
// window wherever the keyboard is in it. Other keys are passed over.
func Hand(o fyne.CanvasObject, e *fyne.KeyEvent) {
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
