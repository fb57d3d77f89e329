package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"wiebelt/internal/ui/explore"
)

// Field is a line to type into. Escape is passed to its window.
type Field struct {
	widget.Entry
}

// NewField returns an empty field.
func NewField() *Field {
	f := &Field{}
	f.ExtendBaseWidget(f)
	return f
}

// TypedKey implements fyne.Focusable.
func (f *Field) TypedKey(e *fyne.KeyEvent) {
	if e.Name == fyne.KeyEscape {
		PassEscape(f, e)
		return
	}
	f.Entry.TypedKey(e)
}

// AcceptsTab implements fyne.Tabbable: Tab leaves multi-line fields too.
func (f *Field) AcceptsTab() bool { return false }

// Describe implements explore.Describer.
func (f *Field) Describe() explore.Description { return explore.Entry(&f.Entry) }

// FilterBox is a search field: Down moves into the results, and Escape clears it, or
// is passed to the window.
type FilterBox struct {
	Field
	OnDown func()
}

// TypedKey implements fyne.Focusable.
func (f *FilterBox) TypedKey(e *fyne.KeyEvent) {
	switch e.Name {
	case fyne.KeyDown, fyne.KeyReturn, fyne.KeyEnter:
		f.OnDown()
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
