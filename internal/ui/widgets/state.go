package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
)

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

// Fill puts objects into a container, in place of what is in it.
func Fill(c *fyne.Container, all ...fyne.CanvasObject) {
	c.Objects = all
	c.Refresh()
}

// Slot is a place in a window for what changes, and a name of what is there now. It
// has no height while nothing is.
type Slot struct {
	*fyne.Container
	Shows string
}

// NewSlot makes an empty one.
func NewSlot() *Slot {
	s := &Slot{Container: container.NewStack()}
	s.Hide()
	return s
}

// Put puts something into the slot, nothing where its name is "". It reports false if
// that is there already.
func (s *Slot) Put(name string, content func() fyne.CanvasObject) (changed bool) {
	if name == s.Shows {
		return false
	}
	s.Shows, s.Objects = name, nil
	if name != "" {
		s.Objects = []fyne.CanvasObject{content()}
	}
	SetVisible(s.Container, name != "")
	s.Refresh()
	return true
}

// Trouble puts into the slot what is wrong, nothing where that is "".
func (s *Slot) Trouble(said string) {
	s.Put(said, func() fyne.CanvasObject { return Trouble(said) })
}

// Kept is the slot where the gap beside it stays while nothing is in it.
func (s *Slot) Kept() fyne.CanvasObject { return container.NewStack(s.Container) }
