package e2e

import (
	"image"
	"image/color"
	"time"

	"wiebelt/internal/native/xtest"
	"wiebelt/internal/ui/kittest"
)

// see looks for words of a window on the screen, where nothing else stands beside
// them, and gives their middle. They may have any colour and ground.
func (o *office) see(words string) (image.Point, bool) {
	o.t.Helper()
	screen := o.look(image.Rect(0, 0, width, height))
	for _, size := range []float32{14, 15, 13, 16} { // buttons and menus, rows, lists at the side, questions
		for _, bold := range []bool{true, false} {
			fonts.Lock()
			w := kittest.Written(words, size, bold)
			fonts.Unlock()
			if at, ok := find(screen, w); ok {
				return at, true
			}
		}
	}
	return image.Point{}, false
}

// find gives the middle of the first place where a picture has the shape of w.
func find(img *image.RGBA, w *image.Alpha) (image.Point, bool) {
	const beside = 5 // pixels without anything, or it is a part of more words
	r := w.Rect
	var full image.Point // where w covers most
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			if w.AlphaAt(x, y).A > w.AlphaAt(full.X, full.Y).A {
				full = image.Pt(x, y)
			}
		}
	}
	here := func(at image.Point) bool {
		ground, ink := img.RGBAAt(at.X-beside, at.Y), img.RGBAAt(at.X+full.X-r.Min.X, at.Y+full.Y-r.Min.Y)
		if xtest.Near(ground, ink, 64) {
			return false
		}
		for y := range r.Dy() {
			for x := -beside; x < r.Dx()+beside; x++ {
				a := int(w.AlphaAt(r.Min.X+x, r.Min.Y+y).A) // none outside
				part := func(g, i uint8) uint8 { return uint8(int(g) + (int(i)-int(g))*a/255) }
				want := color.RGBA{R: part(ground.R, ink.R), G: part(ground.G, ink.G), B: part(ground.B, ink.B)}
				if !xtest.Near(img.RGBAAt(at.X+x, at.Y+y), want, 12) {
					return false
				}
			}
		}
		return true
	}
	for y := 0; y+r.Dy() <= img.Rect.Dy(); y++ {
		for x := beside; x+r.Dx()+beside <= img.Rect.Dx(); x++ {
			if at := image.Pt(x, y); here(at) {
				return at.Add(r.Size().Div(2)), true
			}
		}
	}
	return image.Point{}, false
}

// clickOn clicks on words, off by so much, again and again until something has
// happened: a window takes clicks only once it is drawn.
func (o *office) clickOn(words string, off image.Point, what string, happened func() bool) {
	o.t.Helper()
	o.Until(what, func() bool {
		if happened() {
			return true
		}
		at, ok := o.see(words)
		if !ok {
			return false
		}
		o.Click(at.X+off.X, at.Y+off.Y, 1)
		for end := time.Now().Add(time.Second); time.Now().Before(end); {
			if happened() {
				return true
			}
			o.Run("xdotool", "getmouselocation") // a round trip to the screen
		}
		return false
	})
}
