package kit

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"wiebelt/internal/deskapi"
)

// What a desktop draws around a window, in units: its title above, borders beside
// and below. Desktops tell only once the window is up, so this is the most that
// the usual ones take.
const (
	frameTop  = 32
	frameSide = 8
)

// most is how large a content can be in its room.
func most(r deskapi.Room) fyne.Size {
	return fyne.NewSize(float32(r.Width)/r.Scale-2*frameSide, float32(r.Height)/r.Scale-frameTop-frameSide)
}

// open gives a window its size, and no larger than there is room for. Where it
// stands is the window manager's choice, which knows its frame.
func (d *Desk) open(w fyne.Window, want fyne.Size) {
	if d.Welcome.Room.Scale > 0 {
		w.Resize(want.Min(most(d.Welcome.Room)))
		return
	}
	w.Resize(want)
	w.CenterOnScreen()
}

// fitting never asks for more than there is room: a toolkit makes a window as
// large as its content needs, over the edge of the screen if it must. Windows are
// made so that they fit; one that has very much to say scrolls as a whole.
func fitting(content fyne.CanvasObject, r deskapi.Room) fyne.CanvasObject {
	if r.Scale <= 0 {
		return content
	}
	return container.New(fittingLayout{content, most(r)}, container.NewScroll(content))
}

type fittingLayout struct {
	content fyne.CanvasObject
	most    fyne.Size
}

func (f fittingLayout) MinSize([]fyne.CanvasObject) fyne.Size { return f.content.MinSize().Min(f.most) }

func (f fittingLayout) Layout(o []fyne.CanvasObject, size fyne.Size) { o[0].Resize(size) }
