package kit

import (
	"fyne.io/fyne/v2"
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

// Gap is empty height.
func Gap(height float32) fyne.CanvasObject {
	return container.New(layout.NewCustomPaddedLayout(height, 0, 0, 0))
}
