package widgets

import (
	"image"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"wiebelt/internal/instance/windowapi"
)

// Maximum size of a desktop's window frame, in units: the title bar above, borders
// beside and below. Desktops report it only for visible windows, so these are upper
// limits for the usual ones.
const (
	frameTop  = 32
	frameSide = 8
)

// Place returns where a window of a size opens: in the middle of the work area and,
// including its frame, no larger than that. It returns the content's position in pixels of
// the desktop and its size in units.
func Place(r windowapi.WorkArea, want fyne.Size) (at image.Point, size fyne.Size) {
	size = want.Min(maxContentSize(r))
	px := func(u float32) int { return int(u*r.Scale + 0.5) }
	left := (r.Width - px(size.Width)) / 2
	above := (r.Height-px(size.Height+frameTop+frameSide))/2 + px(frameTop)
	return image.Pt(r.X+left, r.Y+above), size
}

func maxContentSize(r windowapi.WorkArea) fyne.Size {
	return fyne.NewSize(float32(r.Width)/r.Scale-2*frameSide, float32(r.Height)/r.Scale-frameTop-frameSide)
}

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

// limitMinSize limits the minimum size of content to the work area: a toolkit makes a window
// as large as its content needs, even beyond the edge of the screen. Windows are designed
// to fit; one with very much text scrolls as a whole. The minimum is also not much smaller
// than the opening size: a list or scrolling page reports that it needs no room at all.
func limitMinSize(content fyne.CanvasObject, opens fyne.Size, r windowapi.WorkArea) fyne.CanvasObject {
	if r.Scale <= 0 {
		return content
	}
	least := fyne.NewSize(opens.Width*3/4, opens.Height/2)
	return container.New(Layout{
		func([]fyne.CanvasObject) fyne.Size { return content.MinSize().Max(least).Min(maxContentSize(r)) },
		func(o []fyne.CanvasObject, size fyne.Size) { o[0].Resize(size) },
	}, container.NewScroll(content))
}
