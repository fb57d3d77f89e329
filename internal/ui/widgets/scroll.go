package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
)

// OffsetIn returns an object's vertical position within the content of a scroll.
func OffsetIn(s *container.Scroll, o fyne.CanvasObject) float32 {
	at := fyne.CurrentApp().Driver().AbsolutePositionForObject
	return at(o).Y - at(s).Y + s.Offset.Y
}

// ScrollTo scrolls to an offset, or as far as possible. OnScrolled is not called:
// that is for user input.
func ScrollTo(s *container.Scroll, y float32) {
	most := max(0, s.Content.MinSize().Height-s.Size().Height)
	s.Offset = fyne.NewPos(0, min(max(0, y), most))
	s.Refresh()
}

// Reveal scrolls as little as necessary to show an object and some height around it, or
// its top if it does not fit.
func Reveal(s *container.Scroll, o fyne.CanvasObject, around float32) {
	y, h := OffsetIn(s, o), s.Size().Height
	end := y + o.Size().Height
	switch at := s.Offset.Y; {
	case y-around < at || o.Size().Height > h:
		ScrollTo(s, y-around)
	case end+around > at+h:
		ScrollTo(s, end+around-h)
	}
}
