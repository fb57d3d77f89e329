package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/widget"
)

// Layout is a fyne.Layout of two functions: Least returns the minimum size.
type Layout struct {
	Least   func(o []fyne.CanvasObject) fyne.Size
	Arrange func(o []fyne.CanvasObject, size fyne.Size)
}

func (a Layout) MinSize(o []fyne.CanvasObject) fyne.Size { return a.Least(o) }

func (a Layout) Layout(o []fyne.CanvasObject, size fyne.Size) { a.Arrange(o, size) }

func firstMinSize(o []fyne.CanvasObject) fyne.Size { return o[0].MinSize() }

// Column arranges objects vertically, with a gap between them.
func Column(gap float32, all ...fyne.CanvasObject) *fyne.Container {
	return container.New(layout.NewCustomPaddedVBoxLayout(gap), all...)
}

// Padded returns an object with padding.
func Padded(top, bottom, left, right float32, o fyne.CanvasObject) *fyne.Container {
	return container.New(layout.NewCustomPaddedLayout(top, bottom, left, right), o)
}

// OnPage returns the content of a page, with its padding.
func OnPage(o fyne.CanvasObject) *fyne.Container { return Padded(20, 24, Edge, Edge, o) }

// Columns returns a layout of two objects side by side, the first with a fixed width.
func Columns(width float32) fyne.Layout {
	return Layout{func(o []fyne.CanvasObject) fyne.Size {
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

// SideLayout returns a layout of a list along the left edge and the page beside it. In a
// narrow window the list is narrower than width.
func SideLayout(width float32) fyne.Layout {
	return Layout{func(o []fyne.CanvasObject) fyne.Size {
		a, b := o[0].MinSize(), o[1].MinSize()
		return fyne.NewSize(a.Width+b.Width, max(a.Height, b.Height))
	}, func(o []fyne.CanvasObject, size fyne.Size) { columns(o, size, min(width, size.Width*9/25)) }}
}

// Buttons arranges buttons in rows, wrapping where there is no room.
func Buttons(all ...fyne.CanvasObject) *fyne.Container {
	return container.New(&wrapLayout{}, all...)
}

// wrapLayout remembers its last width, like wrapping text: its height depends on it.
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

// flow places the objects with put and returns their total height.
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

// Middle returns a layout that centres its single object vertically, at full width.
func Middle() fyne.Layout {
	return Layout{firstMinSize, func(o []fyne.CanvasObject, size fyne.Size) {
		o[0].Resize(fyne.NewSize(size.Width, o[0].Size().Height)) // wrapping text gets its height
		h := o[0].MinSize().Height
		o[0].Resize(fyne.NewSize(size.Width, h))
		o[0].Move(fyne.NewPos(0, max(0, (size.Height-h)/2)))
	}}
}

// AtMost returns a layout that limits its single object to a width.
func AtMost(width float32) fyne.Layout {
	return Layout{firstMinSize, func(o []fyne.CanvasObject, size fyne.Size) {
		o[0].Resize(fyne.NewSize(min(size.Width, width), size.Height))
		o[0].Move(fyne.NewPos(0, 0))
	}}
}

// AtLeast returns a layout that gives its single object a minimum width.
func AtLeast(width float32) fyne.Layout {
	return Layout{func(o []fyne.CanvasObject) fyne.Size { return firstMinSize(o).Max(fyne.NewSize(width, 0)) },
		func(o []fyne.CanvasObject, size fyne.Size) {
			o[0].Resize(size)
			o[0].Move(fyne.NewPos(0, 0))
		}}
}

const headLeast = 64

// WithHeader returns a header with its content below, usually a list. A large header
// scrolls rather than leaving no room for the content. Tab reaches the content first.
func WithHeader(head, body fyne.CanvasObject) *fyne.Container {
	least := func([]fyne.CanvasObject) fyne.Size {
		a, b := head.MinSize(), body.MinSize()
		return fyne.NewSize(max(a.Width, b.Width), min(a.Height, headLeast)+b.Height)
	}
	// A scroll needs the same height whatever is in it. What is around this one needs as much
	// as the header, so that the driver arranges both parts anew when the header changes.
	top := container.New(Layout{func([]fyne.CanvasObject) fyne.Size { return head.MinSize() },
		func(o []fyne.CanvasObject, size fyne.Size) { o[0].Resize(size) }}, container.NewVScroll(head))
	return container.New(Layout{least, func(o []fyne.CanvasObject, size fyne.Size) {
		top.Resize(fyne.NewSize(size.Width, 0)) // wrapping text computes its height
		high := min(head.MinSize().Height, max(headLeast, size.Height-max(RowHeight, body.MinSize().Height)))
		top.Resize(fyne.NewSize(size.Width, high))
		top.Move(fyne.NewPos(0, 0))
		body.Resize(fyne.NewSize(size.Width, max(0, size.Height-high)))
		body.Move(fyne.NewPos(0, high))
	}}, body, top)
}

// Footer returns a window's buttons, placed below what scrolls, so that
// they are always visible.
func Footer(o fyne.CanvasObject) fyne.CanvasObject {
	return Column(0, widget.NewSeparator(), Padded(12, 12, Edge, Edge, o))
}

// Gap returns an empty object of a height.
func Gap(height float32) fyne.CanvasObject {
	return container.New(layout.NewCustomPaddedLayout(height, 0, 0, 0))
}
