package offscreen

import (
	"image"
	"image/color"
	"math"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
)

// thin draws a rectangle with an edge one pixel wide, inside its area. Fyne's software
// painter puts half of the edge outside, which half-covers two pixels. It returns
// nil for anything else.
func thin(o fyne.CanvasObject, scale float32) *sprite {
	r, ok := o.(*canvas.Rectangle)
	if !ok || r.StrokeColor == nil || r.StrokeWidth == 0 || r.StrokeWidth*scale >= 1.5 {
		return nil
	}
	simple := &canvas.Rectangle{FillColor: r.FillColor, StrokeColor: r.StrokeColor, StrokeWidth: r.StrokeWidth, CornerRadius: r.CornerRadius}
	simple.Resize(r.Size())
	if looks(simple) != looks(r) {
		return nil
	}
	w, h := math.Round(float64(r.Size().Width*scale)), math.Round(float64(r.Size().Height*scale))
	corner := min(float64(r.CornerRadius*scale), w/2, h/2)
	fill, edge := straight(r.FillColor), straight(r.StrokeColor)
	at := func(x, y int) color.NRGBA {
		// How far the pixel's centre is outside.
		dx, dy := math.Abs(float64(x)+0.5-w/2)-w/2+corner, math.Abs(float64(y)+0.5-h/2)-h/2+corner
		d := max(dx, dy) - corner
		if dx > 0 && dy > 0 {
			d = math.Hypot(dx, dy) - corner
		}
		inner, all := min(max(-0.5-d, 0), 1), min(max(0.5-d, 0), 1)
		f, e := inner*float64(fill.A), (all-inner)*float64(edge.A)
		a := f + e
		if a == 0 {
			return color.NRGBA{}
		}
		mix := func(fill, edge uint8) uint8 { return uint8((float64(fill)*f+float64(edge)*e)/a + 0.5) }
		return color.NRGBA{mix(fill.R, edge.R), mix(fill.G, edge.G), mix(fill.B, edge.B), uint8(a + 0.5)}
	}
	img := image.NewNRGBA(image.Rect(0, 0, int(w), int(h)))
	// Between its corners a row has one colour, the rows between them are equal, and the
	// lower half mirrors the upper one.
	k := int(math.Ceil(corner)) + 1
	for y := range img.Rect.Dy() {
		row := img.Pix[y*img.Stride:][:img.Stride]
		if same := min(k, int(h)-1-y); same < y {
			copy(row, img.Pix[same*img.Stride:])
			continue
		}
		for x := 0; x < int(w); x++ {
			img.SetNRGBA(x, y, at(x, y))
			if x == k {
				for ; x < int(w)-k-1; x += copy(row[4*(x+1):4*(int(w)-k)], row[4*k:4*(x+1)]) / 4 {
				}
			}
		}
	}
	return &sprite{pix: img.Pix, size: img.Rect.Max}
}
