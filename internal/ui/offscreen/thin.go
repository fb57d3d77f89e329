package offscreen

import (
	"image"
	"image/color"
	"math"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
)

// thin draws a rectangle whose edge is one pixel wide, with the edge inside. Fyne's
// software painter has edges half outside: such a one covers two pixels by half. It
// gives nil for anything else.
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
	img := image.NewNRGBA(image.Rect(0, 0, int(w), int(h)))
	for y := range img.Rect.Dy() {
		for x := range img.Rect.Dx() {
			// How far the middle of the pixel is outside.
			dx, dy := math.Abs(float64(x)+0.5-w/2)-w/2+corner, math.Abs(float64(y)+0.5-h/2)-h/2+corner
			d := max(dx, dy) - corner
			if dx > 0 && dy > 0 {
				d = math.Hypot(dx, dy) - corner
			}
			inner, all := min(max(-0.5-d, 0), 1), min(max(0.5-d, 0), 1)
			f, e := inner*float64(fill.A), (all-inner)*float64(edge.A)
			if a := f + e; a > 0 {
				mix := func(fill, edge uint8) uint8 { return uint8((float64(fill)*f+float64(edge)*e)/a + 0.5) }
				img.SetNRGBA(x, y, color.NRGBA{mix(fill.R, edge.R), mix(fill.G, edge.G), mix(fill.B, edge.B), uint8(a + 0.5)})
			}
		}
	}
	return &sprite{img: img}
}

func straight(c color.Color) color.NRGBA {
	if c == nil {
		return color.NRGBA{}
	}
	return color.NRGBAModel.Convert(c).(color.NRGBA)
}
