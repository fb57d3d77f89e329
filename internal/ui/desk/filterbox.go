package desk

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"
)

// filterBox is the entry of the filter: down goes on into what it has left, and
// escape empties it.
type filterBox struct {
	widget.Entry
	down func()
}

// TypedKey implements fyne.Focusable.
func (f *filterBox) TypedKey(e *fyne.KeyEvent) {
	switch e.Name {
	case fyne.KeyDown, fyne.KeyReturn, fyne.KeyEnter:
		if f.down != nil {
			f.down()
		}
	case fyne.KeyEscape:
		f.SetText("")
	default:
		f.Entry.TypedKey(e)
	}
}

func newFilterBox(hint string) *filterBox {
	f := &filterBox{}
	f.ExtendBaseWidget(f)
	f.SetPlaceHolder(hint)
	return f
}
