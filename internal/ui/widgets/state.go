package widgets

import "fyne.io/fyne/v2"

// SetVisible shows or hides an object, unless it is already.
func SetVisible(o fyne.CanvasObject, yes bool) {
	if yes == o.Visible() {
		return
	}
	if yes {
		o.Show()
	} else {
		o.Hide()
	}
}

// Either is a where first holds, and b where not.
func Either[T any](first bool, a, b T) T {
	if first {
		return a
	}
	return b
}

// SetEnabled makes a button one that can be pressed or not.
func SetEnabled(b *Button, on bool) {
	if on {
		b.Enable()
	} else {
		b.Disable()
	}
}
