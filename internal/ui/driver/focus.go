package driver

import (
	"image/color"

	"fyne.io/fyne/v2"
	canvases "fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	base "fyne.io/fyne/v2/theme"

	"wiebelt/internal/ui/widgets"
)

// Dimensions of the focus ring in units: its width, and the distance of its outer edge, so
// that it does not merge with a button of the same colour.
const (
	ringWidth  = 2
	ringOffset = 3
)

// showsFocus is implemented by widgets that show their focus themselves, just as clearly.
type showsFocus interface{ ShowsFocus() }

// ring returns a ring around the focused object, nil for none. Fyne's own focus colour is
// so pale that it hardly stands out. Pointer users get none: they know where they clicked.
func (c *canvas) ring() fyne.CanvasObject {
	f, ok := c.Focused().(fyne.CanvasObject)
	if _, own := f.(showsFocus); !ok || own || !c.w.focused || !c.keyboardUsed {
		return nil
	}
	within, in := c.visibleArea(lineOf(f))
	if !in {
		return nil
	}
	r := &canvases.Rectangle{FillColor: color.Transparent, StrokeColor: base.Color(base.ColorNamePrimary), StrokeWidth: ringWidth,
		CornerRadius: base.Size(base.SizeNameInputRadius)}
	r.Move(within.at)
	r.Resize(fyne.NewSize(within.end.X-within.at.X, within.end.Y-within.at.Y))
	return r
}

// dropStaleFocus removes the focus from an object no longer in the window: keys must not
// reach what nobody can see.
func (c *canvas) dropStaleFocus() {
	if f, ok := c.Focused().(fyne.CanvasObject); ok {
		if _, _, there := c.find(f); !there {
			c.Unfocus()
		}
	}
}

func (c *canvas) revealFocus() {
	f, ok := c.Focused().(fyne.CanvasObject)
	if !ok {
		return
	}
	var around *container.Scroll // the innermost one
	walk(c.top(), fyne.Position{}, unitRect{}, func(o fyne.CanvasObject, _ fyne.Position, _ unitRect) bool {
		if s, ok := o.(*container.Scroll); ok && contains(s.Content, f) {
			around = s
		}
		return o == f
	})
	if around != nil {
		widgets.Reveal(around, lineOf(f), 48) // its name above it, and the text below it
	}
}

type unitRect struct{ at, end fyne.Position }

func unitRectOf(at fyne.Position, size fyne.Size) unitRect { return unitRect{at, at.Add(size)} }

func (s unitRect) has(p fyne.Position) bool {
	return p.X >= s.at.X && p.Y >= s.at.Y && p.X < s.end.X && p.Y < s.end.Y
}

func (s unitRect) intersect(o unitRect) unitRect {
	return unitRect{fyne.NewPos(max(s.at.X, o.at.X), max(s.at.Y, o.at.Y)), fyne.NewPos(min(s.end.X, o.end.X), min(s.end.Y, o.end.Y))}
}

// visibleArea returns the visible part of the area around an object, given its scroll containers;
// false if nothing is visible.
func (c *canvas) visibleArea(o fyne.CanvasObject) (around unitRect, in bool) {
	at, clip, found := c.find(o)
	if !found {
		return unitRect{}, false
	}
	s := unitRectOf(at.SubtractXY(ringOffset, ringOffset), o.Size().AddWidthHeight(2*ringOffset, 2*ringOffset)).intersect(clip)
	return s, s.end.X-s.at.X > 2*ringOffset && s.end.Y-s.at.Y > 2*ringOffset
}

// lineOf returns the line of a list that keys act on; o itself if there is none.
func lineOf(o fyne.CanvasObject) fyne.CanvasObject {
	line := o
	walk(o, fyne.Position{}, unitRect{}, func(in fyne.CanvasObject, _ fyne.Position, _ unitRect) bool {
		l, ok := in.(interface{ HasKeyboard() bool })
		if ok = ok && l.HasKeyboard(); ok {
			line = in
		}
		return ok
	})
	return line
}
