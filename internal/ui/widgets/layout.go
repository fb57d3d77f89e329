package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
)

// Columns is a layout of two objects side by side, the first of a fixed width.
func Columns(first float32) fyne.Layout { return columnsLayout{first} }

type columnsLayout struct{ first float32 }

func (c columnsLayout) MinSize(o []fyne.CanvasObject) fyne.Size {
	a, b := o[0].MinSize(), o[1].MinSize()
	return fyne.NewSize(c.first+b.Width, max(a.Height, b.Height))
}

func (c columnsLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	o[0].Resize(fyne.NewSize(c.first, size.Height))
	o[0].Move(fyne.NewPos(0, 0))
	o[1].Resize(fyne.NewSize(size.Width-c.first, size.Height))
	o[1].Move(fyne.NewPos(c.first, 0))
}

// Sided is a layout of a list along the left border and the page beside it. In a
// narrow window the list has less than its width.
func Sided(first float32) fyne.Layout { return sidedLayout{first} }

type sidedLayout struct{ first float32 }

func (s sidedLayout) MinSize(o []fyne.CanvasObject) fyne.Size {
	a, b := o[0].MinSize(), o[1].MinSize()
	return fyne.NewSize(a.Width+b.Width, max(a.Height, b.Height))
}

func (s sidedLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	columnsLayout{min(s.first, size.Width*9/25)}.Layout(o, size)
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
func Middle() fyne.Layout { return middleLayout{} }

type middleLayout struct{}

func (middleLayout) MinSize(o []fyne.CanvasObject) fyne.Size { return o[0].MinSize() }

func (middleLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	h := o[0].MinSize().Height
	o[0].Resize(fyne.NewSize(size.Width, h))
	o[0].Move(fyne.NewPos(0, (size.Height-h)/2))
}

// AtMost is a layout that makes its one object no wider than a width.
func AtMost(width float32) fyne.Layout { return atMostLayout{width} }

type atMostLayout struct{ width float32 }

func (a atMostLayout) MinSize(objects []fyne.CanvasObject) fyne.Size { return objects[0].MinSize() }

func (a atMostLayout) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	objects[0].Resize(fyne.NewSize(min(size.Width, a.width), size.Height))
	objects[0].Move(fyne.NewPos(0, 0))
}

// AtLeast is a layout that gives its one object a width even where it needs less.
func AtLeast(width float32) fyne.Layout { return atLeastLayout{width} }

type atLeastLayout struct{ width float32 }

func (a atLeastLayout) MinSize(o []fyne.CanvasObject) fyne.Size {
	return o[0].MinSize().Max(fyne.NewSize(a.width, 0))
}

func (a atLeastLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	o[0].Resize(size)
	o[0].Move(fyne.NewPos(0, 0))
}

// Headed is a head with what it is about below, a list mostly. A head that has much
// to say scrolls rather than leave nothing for that.
func Headed(head, body fyne.CanvasObject) *fyne.Container {
	return container.New(headedLayout{head}, container.NewVScroll(head), body)
}

type headedLayout struct{ head fyne.CanvasObject }

const headLeast = 64

func (h headedLayout) MinSize(o []fyne.CanvasObject) fyne.Size {
	a, b := h.head.MinSize(), o[1].MinSize()
	return fyne.NewSize(max(a.Width, b.Width), min(a.Height, headLeast)+b.Height)
}

func (h headedLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	o[0].Resize(fyne.NewSize(size.Width, 0)) // text that wraps gets its height
	high := min(h.head.MinSize().Height, max(headLeast, size.Height-max(RowHeight, o[1].MinSize().Height)))
	o[0].Resize(fyne.NewSize(size.Width, high))
	o[0].Move(fyne.NewPos(0, 0))
	o[1].Resize(fyne.NewSize(size.Width, max(0, size.Height-high)))
	o[1].Move(fyne.NewPos(0, high))
}

// Foot is the buttons of a window below what scrolls, so that they are always seen.
func Foot(o fyne.CanvasObject) fyne.CanvasObject {
	return container.New(layout.NewCustomPaddedVBoxLayout(0), NewRule(canvas.NewRectangle(nil)),
		container.New(layout.NewCustomPaddedLayout(12, 12, Edge, Edge), o))
}

// Gap is empty height.
func Gap(height float32) fyne.CanvasObject {
	return container.New(layout.NewCustomPaddedLayout(height, 0, 0, 0))
}
