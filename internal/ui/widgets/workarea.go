package widgets

import (
	"image"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"wiebelt/internal/instance/windowapi"
)

// What a desktop draws around a window, in units: its title above, borders beside
// and below. Desktops tell only once the window is up, so this is the most that
// the usual ones take.
const (
	frameTop  = 32
	frameSide = 8
)

// Place is where a window of a size opens: in the middle of the work area and, with
// its frame, no larger than that. It gives the place of the content in pixels of
// the desktop and the content's size in units.
func Place(r windowapi.WorkArea, want fyne.Size) (at image.Point, size fyne.Size) {
	size = want.Min(most(r))
	px := func(u float32) int { return int(u*r.Scale + 0.5) }
	left := (r.Width - px(size.Width)) / 2
	above := (r.Height-px(size.Height+frameTop+frameSide))/2 + px(frameTop)
	return image.Pt(r.X+left, r.Y+above), size
}

// most is how large a content can be in a work area.
func most(r windowapi.WorkArea) fyne.Size {
	return fyne.NewSize(float32(r.Width)/r.Scale-2*frameSide, float32(r.Height)/r.Scale-frameTop-frameSide)
}

// place gives a window its size and its place on the screen.
func (h *Host) place(w fyne.Window, want fyne.Size) {
	if h.Welcome.WorkArea.Scale <= 0 {
		w.Resize(want)
		w.CenterOnScreen()
		return
	}
	at, size := Place(h.Welcome.WorkArea, want)
	w.Resize(size)
	if p, ok := w.(interface{ RequestPosition(x, y int) }); ok {
		p.RequestPosition(at.X, at.Y)
	}
}

// fitting never asks for more than there is room: a toolkit makes a window as
// large as its content needs, over the edge of the screen if it must. Windows are
// made so that they fit; one that has very much to say scrolls as a whole. Nor is a
// window made much smaller than it opens: a list or a page that scrolls says of
// itself that it needs no room at all.
func fitting(content fyne.CanvasObject, opens fyne.Size, r windowapi.WorkArea) fyne.CanvasObject {
	if r.Scale <= 0 {
		return content
	}
	least := fyne.NewSize(opens.Width*3/4, opens.Height/2)
	return container.New(arranged{
		func([]fyne.CanvasObject) fyne.Size { return content.MinSize().Max(least).Min(most(r)) },
		func(o []fyne.CanvasObject, size fyne.Size) { o[0].Resize(size) },
	}, container.NewScroll(content))
}
