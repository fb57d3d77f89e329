package e2e

import (
	"image"
	"time"

	"wiebelt/internal/ui/uitest"
)

// see finds words of a window on the screen, with nothing else beside them, and returns
// their middle. They may have any colour and background.
func (o *office) see(words string) (image.Point, bool) {
	o.t.Helper()
	screen := o.look(image.Rect(0, 0, width, height))
	for _, size := range []float32{14, 15, 13, 16} { // buttons and menus, rows, lists at the side, questions
		for _, bold := range []bool{true, false} {
			fonts.Lock()
			w := uitest.RenderText(words, size, bold)
			fonts.Unlock()
			if at, ok := find(screen, w); ok {
				return at, true
			}
		}
	}
	return image.Point{}, false
}

const beside = 5 // empty pixels, otherwise it is part of more words

// find returns the middle of the first place where a picture has the shape of w.
func find(img *image.RGBA, w *image.Alpha) (image.Point, bool) {
	r := w.Rect
	var full image.Point // where w covers most
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			if w.AlphaAt(x, y).A > w.AlphaAt(full.X, full.Y).A {
				full = image.Pt(x, y)
			}
		}
	}
	for y := 0; y+r.Dy() <= img.Rect.Dy(); y++ {
		for x := beside; x+r.Dx()+beside <= img.Rect.Dx(); x++ {
			if at := image.Pt(x, y); shapedAt(img, w, at, full.Sub(r.Min)) {
				return at.Add(r.Size().Div(2)), true
			}
		}
	}
	return image.Point{}, false
}

// shapedAt reports whether a picture has the shape of w at a place; w covers most
// at full, counted from its corner. Without the race detector it takes a
// tenth of the time.
//
//go:norace
func shapedAt(img *image.RGBA, w *image.Alpha, at, full image.Point) bool {
	pixel := func(x, y int) []uint8 { return img.Pix[y*img.Stride+4*x:][:3] }
	ground, ink := pixel(at.X-beside, at.Y), pixel(at.X+full.X, at.Y+full.Y)
	near := func(a, b, tolerance int) bool { return max(a-b, b-a) <= tolerance }
	if near(int(ground[0]), int(ink[0]), 64) && near(int(ground[1]), int(ink[1]), 64) && near(int(ground[2]), int(ink[2]), 64) {
		return false
	}
	for y := range w.Rect.Dy() {
		for x := -beside; x < w.Rect.Dx()+beside; x++ {
			a := 0 // outside
			if 0 <= x && x < w.Rect.Dx() {
				a = int(w.Pix[y*w.Stride+x])
			}
			got := pixel(at.X+x, at.Y+y)
			for i := range got {
				if g := int(ground[i]); !near(int(got[i]), g+(int(ink[i])-g)*a/255, 12) {
					return false
				}
			}
		}
	}
	return true
}

// clickOn clicks on words, with an offset, repeatedly until something has happened: a
// window accepts clicks only once it is drawn.
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
