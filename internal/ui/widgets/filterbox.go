package widgets

import "fyne.io/fyne/v2"

// FilterBox is a search field: Down moves into the results, and Escape clears it, or
// is passed to the window.
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

// NewFilterBox returns an empty FilterBox with a hint.
func NewFilterBox(hint string) *FilterBox {
	f := &FilterBox{}
	f.ExtendBaseWidget(f)
	f.SetPlaceHolder(hint)
	return f
}
