package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
)

// SetVisible shows or hides an object if its visibility differs.
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

// Either returns a if first is true, otherwise b.
func Either[T any](first bool, a, b T) T {
	if first {
		return a
	}
	return b
}

// SetEnabled enables or disables a button.
func SetEnabled(b *Button, on bool) {
	if on {
		b.Enable()
	} else {
		b.Disable()
	}
}

// Fill replaces the contents of a container.
func Fill(c *fyne.Container, all ...fyne.CanvasObject) {
	c.Objects = all
	c.Refresh()
}

// Slot is a place in a window for changing content, with the name of the current content.
// It has no height while empty.
type Slot struct {
	*fyne.Container
	ContentName string
}

// NewSlot returns an empty slot.
func NewSlot() *Slot {
	s := &Slot{Container: container.NewStack()}
	s.Hide()
	return s
}

// Put fills the slot, or empties it if name is "". It returns false if that
// content is already there.
func (s *Slot) Put(name string, content func() fyne.CanvasObject) (changed bool) {
	if name == s.ContentName {
		return false
	}
	s.ContentName, s.Objects = name, nil
	if name != "" {
		s.Objects = []fyne.CanvasObject{content()}
	}
	SetVisible(s.Container, name != "")
	s.Refresh()
	return true
}

// Trouble shows an error in the slot, nothing if it is "".
func (s *Slot) Trouble(said string) {
	s.Put(said, func() fyne.CanvasObject { return Trouble(said) })
}

// WithGap returns the slot wrapped so that the gap beside it remains while it is empty.
func (s *Slot) WithGap() fyne.CanvasObject { return container.NewStack(s.Container) }
