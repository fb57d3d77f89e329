package widgets

import "fyne.io/fyne/v2"

// FilterBox is a field to search with: Down goes on into what it has left, and
// escape empties it, or goes on to the window.
type FilterBox struct {
	Field
	Down func()
}

// TypedKey implements fyne.Focusable.
func (f *FilterBox) TypedKey(e *fyne.KeyEvent) {
	switch e.Name {
	case fyne.KeyDown, fyne.KeyReturn, fyne.KeyEnter:
		if f.Down != nil {
			f.Down()
		}
	case fyne.KeyEscape:
		if f.Text == "" {
			PassEscape(f, e)
		}
		f.SetText("")
	default:
		f.Field.TypedKey(e)
	}
}

// NewFilterBox is an empty one with a hint in it.
func NewFilterBox(hint string) *FilterBox {
	f := &FilterBox{}
	f.ExtendBaseWidget(f)
	f.SetPlaceHolder(hint)
	return f
}
