package driver

import (
	"image"
	"image/color"
	"slices"

	"fyne.io/fyne/v2"
	fynecanvas "fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/software"
	base "fyne.io/fyne/v2/theme"

	"wiebelt/internal/ui/offscreen"
)

// canvas is Fyne's in-memory canvas, which handles focus, overlays and shortcuts, with
// a surface that paints it.
type canvas struct {
	software.WindowlessCanvas
	w       *frame
	surface offscreen.Surface
	// visible are the objects visible in the last frame.
	visible map[fyne.CanvasObject]bool
	// minSizes are the minimum sizes of objects at the last layout.
	minSizes map[fyne.CanvasObject]fyne.Size
	stale    bool // some minimum size may have changed
	readerView
	keyboardUsed bool // the user works with the keyboard, as far as known
}

func newCanvas(w *frame) *canvas {
	c := &canvas{WindowlessCanvas: software.NewCanvas(), w: w, visible: map[fyne.CanvasObject]bool{},
		minSizes: map[fyne.CanvasObject]fyne.Size{}, stale: true, keyboardUsed: true}
	c.SetOnTypedKey(nil)
	return c
}

// Refresh notes that an object looks different.
func (c *canvas) Refresh(o fyne.CanvasObject) {
	c.stale = true
	c.surface.Changed(o)
	if _, shape := o.(*fynecanvas.Rectangle); !shape { // a blinking caret is no news for readers
		c.unread = true
	}
}

// SetDirty is called by Fyne for an object that was moved or hidden.
func (c *canvas) SetDirty() { c.stale, c.unread = true, true }

// SetContent replaces the window's content.
func (c *canvas) SetContent(o fyne.CanvasObject) {
	c.Unfocus() // otherwise its caret would keep blinking
	c.WindowlessCanvas.SetContent(o)
	if c.w.size != (image.Point{}) {
		c.w.layout() // it may exceed the maximum window size
	}
	c.stale, c.unread = true, true
}

// Capture returns the picture the window shows.
func (c *canvas) Capture() image.Image { return c.surface.Image() }

// roots returns the content and its overlays, from bottom to top.
func (c *canvas) roots() []fyne.CanvasObject {
	all := make([]fyne.CanvasObject, 0, 2)
	if o := c.Content(); o != nil {
		all = append(all, o)
	}
	return append(all, c.Overlays().List()...)
}

// top returns the clickable objects: the uppermost overlay, or the content.
func (c *canvas) top() fyne.CanvasObject {
	if o := c.Overlays().Top(); o != nil {
		return o
	}
	return c.Content()
}

func (c *canvas) minSize() fyne.Size {
	o := c.Content()
	if o == nil {
		return fyne.NewSquareSize(1)
	}
	min := o.MinSize()
	if c.Padded() {
		min = min.Add(fyne.NewSquareSize(2 * base.Padding()))
	}
	return min
}

// relayoutStale lays out again whatever has a new minimum size.
func (c *canvas) relayoutStale() {
	c.stale = false
	for _, root := range c.roots() {
		if c.relayoutChanged(root) {
			relayout(root)
		}
	}
	c.w.limit(c.minSize())
}

// relayoutChanged lays out an object's contents if their sizes have changed, and reports
// whether the object's own has.
func (c *canvas) relayoutChanged(o fyne.CanvasObject) bool {
	if o == nil || !o.Visible() {
		return false
	}
	again := false
	in, _ := offscreen.Children(o)
	for _, child := range in {
		again = c.relayoutChanged(child) || again
	}
	if again {
		relayout(o)
	}
	min := o.MinSize()
	was, known := c.minSizes[o]
	if !known {
		relayout(o) // it may have a new renderer
	}
	c.minSizes[o] = min
	return !known || was != min
}

func relayout(o fyne.CanvasObject) {
	switch o := o.(type) {
	case fyne.Widget:
		offscreen.Renderer(o).Layout(o.Size())
	case *fyne.Container:
		if o.Layout != nil {
			o.Layout.Layout(o.Objects, o.Size())
		}
	}
}

func (c *canvas) render(size image.Point) []image.Rectangle {
	clear(c.visible)
	unread := c.unread // painting moves shapes back and forth
	defer func() { c.unread = unread }()
	background := color.NRGBAModel.Convert(base.Color(base.ColorNameBackground)).(color.NRGBA)
	roots := c.roots()
	if r := c.ring(); r != nil {
		roots = append(roots, r)
	}
	return c.surface.Render(size, c.Scale(), background, roots, func(o fyne.CanvasObject) { c.visible[o] = true })
}

// find returns an object's position in the window, in units, and the part of the window
// where its scroll containers show it; false if it is not there.
func (c *canvas) find(o fyne.CanvasObject) (at fyne.Position, clip unitRect, found bool) {
	found = slices.ContainsFunc(c.roots(), func(root fyne.CanvasObject) bool {
		visit := func(in fyne.CanvasObject, p fyne.Position, within unitRect) bool {
			at, clip = p, within
			return in == o
		}
		return walk(root, fyne.Position{}, unitRectOf(fyne.Position{}, c.Size()), visit)
	})
	return at, clip, found
}

// visitor gets an object, its position and the part of the window where its scroll containers show it.
type visitor func(o fyne.CanvasObject, at fyne.Position, within unitRect) (stop bool)

// walk visits the visible objects in o, from the outside to the inside, and reports whether visit stopped it.
func walk(o fyne.CanvasObject, offset fyne.Position, within unitRect, visit visitor) bool {
	if o == nil || !o.Visible() {
		return false
	}
	at := offset.Add(o.Position())
	if visit(o, at, within) {
		return true
	}
	children, clips := offscreen.Children(o)
	if clips {
		within = within.intersect(unitRectOf(at, o.Size()))
	}
	return slices.ContainsFunc(children, func(child fyne.CanvasObject) bool { return walk(child, at, within, visit) })
}

// contains reports whether an object is visible in another, or is that one.
func contains(in, o fyne.CanvasObject) bool {
	return walk(in, fyne.Position{}, unitRect{}, func(child fyne.CanvasObject, _ fyne.Position, _ unitRect) bool { return child == o })
}

// objectAt returns the innermost matching object at a position, and the position within it.
func (c *canvas) objectAt(p fyne.Position, matches func(fyne.CanvasObject) bool) (fyne.CanvasObject, fyne.Position) {
	var found fyne.CanvasObject
	var where fyne.Position
	walk(c.top(), fyne.Position{}, unitRectOf(p, fyne.NewSquareSize(1)), func(o fyne.CanvasObject, at fyne.Position, within unitRect) bool {
		if within.has(p) && unitRectOf(at, o.Size()).has(p) && matches(o) {
			found, where = o, p.Subtract(at)
		}
		return false
	})
	return found, where
}
