package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/widget"
)

// arranged is a layout made of two functions.
type arranged struct {
	least func(o []fyne.CanvasObject) fyne.Size
	put   func(o []fyne.CanvasObject, size fyne.Size)
}

func (a arranged) MinSize(o []fyne.CanvasObject) fyne.Size      { return a.least(o) }
func (a arranged) Layout(o []fyne.CanvasObject, size fyne.Size) { a.put(o, size) }

// first is the smallest size of a layout's first object.
func first(o []fyne.CanvasObject) fyne.Size { return o[0].MinSize() }

// Column is objects below each other, with a distance between them.
func Column(gap float32, all ...fyne.CanvasObject) *fyne.Container {
	return container.New(layout.NewCustomPaddedVBoxLayout(gap), all...)
}

// Padded is an object with empty room around it.
func Padded(top, bottom, left, right float32, o fyne.CanvasObject) *fyne.Container {
	return container.New(layout.NewCustomPaddedLayout(top, bottom, left, right), o)
}

// OnPage is what stands on a page, with the room around it.
func OnPage(o fyne.CanvasObject) *fyne.Container { return Padded(20, 24, Edge, Edge, o) }

// Columns is a layout of two objects side by side, the first of a fixed width.
func Columns(width float32) fyne.Layout {
	return arranged{func(o []fyne.CanvasObject) fyne.Size {
		a, b := o[0].MinSize(), o[1].MinSize()
		return fyne.NewSize(width+b.Width, max(a.Height, b.Height))
	}, func(o []fyne.CanvasObject, size fyne.Size) { columns(o, size, width) }}
}

func columns(o []fyne.CanvasObject, size fyne.Size, width float32) {
	o[0].Resize(fyne.NewSize(width, size.Height))
	o[0].Move(fyne.NewPos(0, 0))
	o[1].Resize(fyne.NewSize(size.Width-width, size.Height))
	o[1].Move(fyne.NewPos(width, 0))
}

// SideLayout is a layout of a list along the left border and the page beside it. In a
// narrow window the list has less than its width.
func SideLayout(width float32) fyne.Layout {
	return arranged{func(o []fyne.CanvasObject) fyne.Size {
		a, b := o[0].MinSize(), o[1].MinSize()
		return fyne.NewSize(a.Width+b.Width, max(a.Height, b.Height))
	}, func(o []fyne.CanvasObject, size fyne.Size) { columns(o, size, min(width, size.Width*9/25)) }}
}

// Buttons stand beside each other, and go on below where they have no room.
func Buttons(all ...fyne.CanvasObject) *fyne.Container {
	return container.New(&wrapLayout{}, all...)
}

// wrapLayout knows how wide it was, as text does that wraps: that gives its height.
type wrapLayout struct{ width float32 }

const wrapGap = 8

func (w *wrapLayout) MinSize(o []fyne.CanvasObject) fyne.Size {
	widest := float32(0)
	for _, c := range o {
		if c.Visible() {
			widest = max(widest, c.MinSize().Width)
		}
	}
	return fyne.NewSize(widest, w.flow(o, func(fyne.CanvasObject, fyne.Position, fyne.Size) {}))
}

func (w *wrapLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	w.width = size.Width
	w.flow(o, func(c fyne.CanvasObject, at fyne.Position, size fyne.Size) {
		c.Move(at)
		c.Resize(size)
	})
}

// flow tells where each object goes, and how high all of them are.
func (w *wrapLayout) flow(o []fyne.CanvasObject, put func(fyne.CanvasObject, fyne.Position, fyne.Size)) float32 {
	var at fyne.Position
	line := float32(0)
	for _, c := range o {
		if !c.Visible() {
			continue
		}
		size := c.MinSize()
		if at.X > 0 && w.width > 0 && at.X+size.Width > w.width+0.5 {
			at = fyne.NewPos(0, at.Y+line+wrapGap)
			line = 0
		}
		put(c, at, size)
		at.X += size.Width + wrapGap
		line = max(line, size.Height)
	}
	return at.Y + line
}

// Middle puts its one object at half height, as wide as there is room.
func Middle() fyne.Layout {
	return arranged{first, func(o []fyne.CanvasObject, size fyne.Size) {
		o[0].Resize(fyne.NewSize(size.Width, o[0].Size().Height)) // text that wraps gets its height
		h := o[0].MinSize().Height
		o[0].Resize(fyne.NewSize(size.Width, h))
		o[0].Move(fyne.NewPos(0, max(0, (size.Height-h)/2)))
	}}
}

// AtMost is a layout that makes its one object no wider than a width.
func AtMost(width float32) fyne.Layout {
	return arranged{first, func(o []fyne.CanvasObject, size fyne.Size) {
		o[0].Resize(fyne.NewSize(min(size.Width, width), size.Height))
		o[0].Move(fyne.NewPos(0, 0))
	}}
}

// AtLeast is a layout that gives its one object a width even where it needs less.
func AtLeast(width float32) fyne.Layout {
	return arranged{func(o []fyne.CanvasObject) fyne.Size { return first(o).Max(fyne.NewSize(width, 0)) },
		func(o []fyne.CanvasObject, size fyne.Size) {
			o[0].Resize(size)
			o[0].Move(fyne.NewPos(0, 0))
		}}
}

const headLeast = 64

// WithHeader is a head with what it is about below, a list mostly. A head that has much
// to say scrolls rather than leave nothing for that.
func WithHeader(head, body fyne.CanvasObject) *fyne.Container {
	least := func([]fyne.CanvasObject) fyne.Size {
		a, b := head.MinSize(), body.MinSize()
		return fyne.NewSize(max(a.Width, b.Width), min(a.Height, headLeast)+b.Height)
	}
	return container.New(arranged{least, func(o []fyne.CanvasObject, size fyne.Size) {
		o[0].Resize(fyne.NewSize(size.Width, 0)) // text that wraps gets its height
		high := min(head.MinSize().Height, max(headLeast, size.Height-max(RowHeight, body.MinSize().Height)))
		o[0].Resize(fyne.NewSize(size.Width, high))
		o[0].Move(fyne.NewPos(0, 0))
		o[1].Resize(fyne.NewSize(size.Width, max(0, size.Height-high)))
		o[1].Move(fyne.NewPos(0, high))
	}}, container.NewVScroll(head), body)
}

// Footer is the buttons of a window below what scrolls, so that they are always seen.
func Footer(o fyne.CanvasObject) fyne.CanvasObject {
	return Column(0, widget.NewSeparator(), Padded(12, 12, Edge, Edge, o))
}

// Gap is empty height.
func Gap(height float32) fyne.CanvasObject {
	return container.New(layout.NewCustomPaddedLayout(height, 0, 0, 0))
}
