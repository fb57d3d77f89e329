package offscreen

import (
	"image"
	"image/color"
	imagedraw "image/draw"
	"math"
	"sync"
	_ "unsafe" // for go:linkname

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	base "fyne.io/fyne/v2/theme"
	"github.com/go-text/typesetting/di"
	"github.com/go-text/typesetting/font"
	"github.com/go-text/typesetting/font/opentype"
	"github.com/go-text/typesetting/language"
	"github.com/go-text/typesetting/shaping"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"

	"wiebelt/internal/ui/theme"
)

// letters draws texts where Fyne would, from cached outlines and with reused memory: Fyne's
// painter takes ten bytes per pixel for each text.
type letters struct {
	raster   vector.Rasterizer
	shaper   shaping.HarfbuzzShaper
	whole    image.Alpha // the text before cropping
	outlines map[glyph]font.GlyphOutline
}

type glyph struct {
	face *font.Face
	id   font.GID
}

const maxOutlines = 2000

// draw returns the picture of a text, nil if Fyne has to draw it: it is underlined or
// struck through, or a glyph is not an outline.
func (l *letters) draw(t *canvas.Text, scale float32) *sprite {
	if t.TextStyle.Underline || t.TextStyle.Strikethrough {
		return nil
	}
	ink := t.Color
	if ink == nil {
		ink = base.Color(base.ColorNameForeground)
	}
	from := t.FontSource
	if from == nil {
		from = theme.FontSource(t.Text, t.TextStyle)
	}
	least, size := t.MinSize(), t.Size()
	before := pixels(margin, scale) // a J extends to the left
	w, h := before+pixels(least.Width+margin, scale), pixels(least.Height+margin, scale)
	l.raster.Reset(w, h)
	outlined := true
	faces := cachedFontFace(t.TextStyle, from, t).Fonts
	if run, ok := l.latin(t, faces.ResolveFace(' ')); ok && from != nil {
		y := float32(run.LineBounds.Ascent) / 64 * scale
		outlined = l.addRun(run, t.TextSize, scale, float32(before), float32(math.Ceil(float64(y))))
	} else {
		walkString(faces, t.Text, points(t), t.TextStyle, new(float32), scale, func(run shaping.Output, x, y float32) {
			outlined = outlined && l.addRun(run, t.TextSize, scale, float32(before+int(x)), float32(math.Ceil(float64(y))))
		})
	}
	if !outlined {
		return nil
	}
	if n := w * h; cap(l.whole.Pix) < n {
		l.whole.Pix = make([]byte, n)
	}
	l.whole = image.Alpha{Pix: l.whole.Pix[:w*h], Stride: w, Rect: image.Rect(0, 0, w, h)}
	l.raster.DrawOp = imagedraw.Src
	l.raster.Draw(&l.whole, l.whole.Rect, image.Opaque, image.Point{})
	var off fyne.Position
	switch t.Alignment {
	case fyne.TextAlignTrailing:
		off.X = size.Width - least.Width
	case fyne.TextAlignCenter:
		off.X = (size.Width - least.Width) / 2
	}
	off.Y = max(0, size.Height-least.Height) / 2
	s := crop(l.whole.Pix, l.whole.Rect.Max, 1, image.Pt(before-pixels(off.X, scale), -pixels(off.Y, scale)))
	s.ink = unpremultiply(ink)
	return s
}

func points(t *canvas.Text) fixed.Int26_6 { return fixed.Int26_6(float64(t.TextSize) * 64) }

// latin shapes a text of a single left-to-right run, as most are: Latin letters, digits and
// signs. Finding the runs of a text takes longer than shaping it.
func (l *letters) latin(t *canvas.Text, face *font.Face) (shaping.Output, bool) {
	script := language.Common
	for _, r := range t.Text {
		if r < ' ' || r > 0x24F {
			return shaping.Output{}, false
		}
		if language.LookupScript(r) == language.Latin {
			script = language.Latin
		}
	}
	runes := []rune(t.Text)
	return l.shaper.Shape(shaping.Input{Text: runes, RunEnd: len(runes), Direction: di.DirectionLTR, Face: face, Size: points(t), Script: script}), len(runes) > 0
}

// addRun adds the outlines of glyphs from a position on, in pixels.
func (l *letters) addRun(run shaping.Output, size, scale, x, y float32) bool {
	per := size * scale / float32(run.Face.Upem())
	for _, g := range run.Glyphs {
		o, ok := l.outline(glyph{run.Face, g.GlyphID})
		if !ok || g.GlyphID == 0 {
			return false
		}
		dx, dy := x+float32(g.XOffset)/64*scale, y-float32(g.YOffset)/64*scale
		at := func(p opentype.SegmentPoint) (x, y float32) { return p.X*per + dx, -p.Y*per + dy }
		for _, s := range o.Segments {
			ax, ay := at(s.Args[0])
			switch s.Op {
			case opentype.SegmentOpMoveTo:
				l.raster.ClosePath()
				l.raster.MoveTo(ax, ay)
			case opentype.SegmentOpLineTo:
				l.raster.LineTo(ax, ay)
			case opentype.SegmentOpQuadTo:
				bx, by := at(s.Args[1])
				l.curve(ax, ay, bx, by)
			default: // in none of our fonts
				return false
			}
		}
		l.raster.ClosePath()
		x += float32(g.Advance) / 64 * scale
	}
	return true
}

// curve adds a curve to (bx, by), bent towards (ax, ay), as lines that deviate from
// it by at most a fiftieth of a pixel; the rasterizer's own deviate by a sixth, which
// makes small letters thin.
func (l *letters) curve(ax, ay, bx, by float32) {
	x, y := l.raster.Pen()
	bend := math.Hypot(float64(x-2*ax+bx), float64(y-2*ay+by))
	n := 1 + int(math.Sqrt(bend*50/4))
	for i := 1; i <= n; i++ {
		t := float32(i) / float32(n)
		u := 1 - t
		l.raster.LineTo(u*u*x+2*u*t*ax+t*t*bx, u*u*y+2*u*t*ay+t*t*by)
	}
}

func (l *letters) outline(g glyph) (font.GlyphOutline, bool) {
	if o, ok := l.outlines[g]; ok {
		return o, true
	}
	o, ok := g.face.GlyphData(g.id).(font.GlyphOutline)
	if ok {
		if l.outlines == nil || len(l.outlines) >= maxOutlines {
			l.outlines = map[glyph]font.GlyphOutline{}
		}
		l.outlines[g] = o
	}
	return o, ok
}

// ReadFonts reads the fonts of ordinary texts, which takes longer than everything else
// the first picture needs. The first call does so, on any goroutine; all others wait. If
// several goroutines paint, each must call it first.
var ReadFonts = sync.OnceFunc(func() {
	for _, style := range []fyne.TextStyle{{}, {Bold: true}} {
		cachedFontFace(style, theme.FontSource(" ", style), nil)
	}
})

// cachedFontFace and walkString are what Fyne measures and draws texts with: letters appear
// where it measured them, and each font is read once.
//
//go:linkname cachedFontFace fyne.io/fyne/v2/internal/painter.CachedFontFace
func cachedFontFace(fyne.TextStyle, fyne.Resource, fyne.CanvasObject) *struct{ Fonts shaping.Fontmap }

//go:linkname walkString fyne.io/fyne/v2/internal/painter.walkString
func walkString(faces shaping.Fontmap, s string, size fixed.Int26_6, style fyne.TextStyle, advance *float32, scale float32,
	each func(run shaping.Output, x, y float32)) (fyne.Size, float32)

// Measure returns the size at which Fyne draws a text, and its baseline, in units.
//
//go:linkname Measure fyne.io/fyne/v2/internal/painter.RenderedTextSize
func Measure(text string, size float32, style fyne.TextStyle, font fyne.Resource) (whole fyne.Size, baseline float32)

// unpremultiply returns a colour without premultiplied alpha.
func unpremultiply(c color.Color) color.NRGBA {
	if c == nil {
		return color.NRGBA{}
	}
	return color.NRGBAModel.Convert(c).(color.NRGBA)
}
