package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"wiebelt/internal/ui/explore"
)

// Field is a line to type into. Escape is passed to its window.
type Field struct {
	widget.Entry
	Gained func() // called when it gets the focus; may be nil
}

// NewField returns an empty field.
func NewField() *Field {
	f := &Field{}
	f.ExtendBaseWidget(f)
	return f
}

// FocusGained implements fyne.Focusable.
func (f *Field) FocusGained() {
	f.Entry.FocusGained()
	if f.Gained != nil {
		f.Gained()
	}
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

// Explore implements explore.Speaker.
func (f *Field) Explore() explore.Said { return explore.Entry(&f.Entry) }
