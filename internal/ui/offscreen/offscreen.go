// Package offscreen paints Fyne objects into pictures in memory, without any window. In the
// resident it gives Fyne an application: a fyne.App of our own whose driver never runs. (In
// the windows' process, package driver does so.)
//
// Fyne's own headless application is not used, neither app.New with the build tag "ci" (it
// reads settings and themes from a folder below the system's temporary folder, which any
// local user can plant) nor test.NewApp, which pulls in the libraries of its tests.
//
// Everything that touches a Surface must run on one goroutine.
package offscreen

import (
	"image"
	"image/color"
	"math"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
)

// Start creates the process's Fyne application, with th for fonts and sizes. Call it once,
// before the first Surface.
func Start(th fyne.Theme) {
	fyne.SetCurrentApp(&app{settings: settings{theme: th}})
}

// Size converts a size in units to whole pixels at a scale, rounded like Fyne's painter.
func Size(s fyne.Size, scale float32) image.Point {
	return image.Pt(pixels(s.Width, scale), pixels(s.Height, scale))
}

func pixels(v, scale float32) int { return int(math.Ceil(float64(v * scale))) }

// plain reports whether r is just an opaque colour.
func plain(r *canvas.Rectangle) bool {
	c, ok := r.FillColor.(color.NRGBA)
	return ok && c.A == 255 && r.StrokeWidth == 0 && r.CornerRadius == 0
}

// unseen reports whether r only takes up space, or has no colour yet.
func unseen(r *canvas.Rectangle) bool {
	if r.FillColor != nil {
		if _, _, _, a := r.FillColor.RGBA(); a > 0 {
			return false
		}
	}
	return r.StrokeWidth == 0 && r.Shadow == canvas.Shadow{}
}

type picture struct {
	w, h int
	pix  []byte
}

func (p picture) fill(r image.Rectangle, c color.NRGBA) {
	r = r.Intersect(image.Rect(0, 0, p.w, p.h))
	if r.Empty() {
		return
	}
	first := p.pix[4*(r.Min.Y*p.w+r.Min.X):][:4*r.Dx()]
	for i := 0; i+3 < len(first); i += 4 {
		first[i], first[i+1], first[i+2], first[i+3] = c.B, c.G, c.R, 0xFF
	}
	for y := r.Min.Y + 1; y < r.Max.Y; y++ {
		copy(p.pix[4*(y*p.w+r.Min.X):], first)
	}
}

// drawSprite draws s onto the picture, its origin at a position, clipped to a part of the picture.
func (p picture) drawSprite(s *sprite, at image.Point, clip image.Rectangle) {
	r := image.Rectangle{Max: s.size}.Add(at.Sub(s.origin))
	in := r.Intersect(clip).Intersect(image.Rect(0, 0, p.w, p.h))
	for y := in.Min.Y; y < in.Max.Y; y++ {
		from := (y-r.Min.Y)*s.size.X + in.Min.X - r.Min.X
		dst := p.pix[4*(y*p.w+in.Min.X):][:4*in.Dx()]
		if s.text {
			for i, m := range s.pix[from:][:in.Dx()] {
				if m != 0 {
					blendPixel(dst[4*i:][:4:4], s.ink, uint32(m)*uint32(s.ink.A)/255)
				}
			}
			continue
		}
		src := s.pix[4*from:][:4*in.Dx()]
		for i := 0; i+3 < len(src) && i+3 < len(dst); i += 4 {
			c := src[i : i+4 : i+4]
			blendPixel(dst[i:i+4:i+4], color.NRGBA{R: c[0], G: c[1], B: c[2]}, uint32(c[3]))
		}
	}
}

func blendPixel(d []byte, c color.NRGBA, a uint32) {
	switch a {
	case 0:
	case 255:
		d[0], d[1], d[2] = c.B, c.G, c.R
	default:
		n := 255 - a
		d[0] = uint8((uint32(c.B)*a + uint32(d[0])*n + 127) / 255)
		d[1] = uint8((uint32(c.G)*a + uint32(d[1])*n + 127) / 255)
		d[2] = uint8((uint32(c.R)*a + uint32(d[2])*n + 127) / 255)
	}
}

// app is a Fyne application with only a theme and a driver: no window, no files, no loop.
// What is never called is not implemented.
type app struct {
	fyne.App
	driver   driver
	settings settings
}

func (a *app) Driver() fyne.Driver     { return &a.driver }
func (a *app) Settings() fyne.Settings { return a.settings }

type settings struct {
	fyne.Settings
	theme fyne.Theme
}

func (s settings) Theme() fyne.Theme               { return s.theme }
func (s settings) ThemeVariant() fyne.ThemeVariant { return 0 }
func (s settings) PrimaryColor() string            { return "" }
func (s settings) ShowAnimations() bool            { return false }

// driver measures text; there are no windows or animations.
type driver struct{ fyne.Driver }

func (d *driver) RenderedTextSize(s string, size float32, style fyne.TextStyle, font fyne.Resource) (fyne.Size, float32) {
	return Measure(s, size, style, font)
}
func (d *driver) CanvasForObject(fyne.CanvasObject) fyne.Canvas { return nil }
func (d *driver) StartAnimation(*fyne.Animation)                {}
func (d *driver) StopAnimation(*fyne.Animation)                 {}
