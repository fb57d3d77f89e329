package offscreen

import (
	"image"
	"image/color"
	"math"
	"math/bits"
	"sync"
	"time"
	_ "unsafe" // for go:linkname

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/software"
)

// CachedText is painted often, so its picture is cached. For our own texts; personal data
// is in plain texts, which are never cached.
type CachedText struct{ *canvas.Text }

// sprite is the picture of one object: rows of red, green, blue and alpha, or of the
// coverage of one colour. origin is the object's position in it.
type sprite struct {
	pix    []byte
	size   image.Point
	ink    color.NRGBA // of a text, which has one byte a pixel
	text   bool
	cached bool // cached in drawing
	origin image.Point
}

// margin is the margin drawn around an object, in units: for edges of shapes, and what
// extends below a line of text.
const margin = 8

// Fyne's painter draws a whole canvas even for a small object. So each object is drawn
// on a canvas of its own size and composed into the picture here; what looks the
// same again is not redrawn.
var drawing struct {
	sync.Mutex
	canvas software.WindowlessCanvas
	letters
	kept  map[cacheKey]*sprite
	bytes int
	spare bufferPool
}

type cacheKey struct {
	looks any
	scale float32
}

const maxCached = 3 << 20 // bytes

// cachedSprite returns the picture of an object with key looks. Pictures of shapes and CachedText
// are cached, up to maxCached bytes, and shared by all surfaces.
func cachedSprite(o fyne.CanvasObject, looks any, scale float32) *sprite {
	drawing.Lock()
	defer drawing.Unlock()
	switch t := o.(type) {
	case CachedText:
		o = t.Text
	case *canvas.Rectangle, *canvas.Circle, *canvas.Line:
	default:
		return draw(o, scale)
	}
	k := cacheKey{looks, scale}
	s := drawing.kept[k]
	if s == nil {
		s = draw(o, scale)
		s.cached = true
		if drawing.bytes += len(s.pix); drawing.bytes > maxCached || drawing.kept == nil {
			drawing.kept, drawing.bytes = map[cacheKey]*sprite{}, len(s.pix)
		}
		drawing.kept[k] = s
	}
	return s
}

// bufferPool is zeroed memory of texts no longer shown, by the logarithm of its size: the next
// ones need about as much.
type bufferPool [24][][]byte

const maxPooled = 32 // of one size

// take returns n zero bytes.
func (s *bufferPool) take(n int) []byte {
	size := bits.Len(uint(n))
	if size >= len(s) {
		return make([]byte, n)
	}
	if of := s[size]; len(of) > 0 {
		s[size] = of[:len(of)-1]
		return of[len(of)-1][:n]
	}
	return make([]byte, n, 1<<size)
}

// give takes back memory from take that has no other use.
func (s *bufferPool) give(b []byte) {
	clear(b)
	if size := bits.Len(uint(len(b))); size < len(s) && cap(b) == 1<<size && len(s[size]) < maxPooled {
		s[size] = append(s[size], b)
	}
}

// free returns the memory of a text's picture for the next one.
func (s *sprite) free() {
	drawing.Lock()
	defer drawing.Unlock()
	drawing.spare.give(s.pix)
	s.pix = nil
}

// draw has Fyne draw o, unless it is a text or has a thin edge, and keeps
// the non-empty part.
func draw(o fyne.CanvasObject, scale float32) *sprite {
	if s := thinEdgeSprite(o, scale); s != nil {
		return s
	}
	from := float32(margin)
	if t, text := o.(*canvas.Text); text { // fills its area, except for descenders
		if s := drawing.draw(t, scale); s != nil {
			return s
		}
		from = 0
	}
	if drawing.canvas == nil {
		drawing.canvas = software.NewTransparentCanvas()
		drawing.canvas.SetPadded(false)
	}
	was := o.Position()
	o.Move(fyne.NewSquareOffsetPos(from))
	size := paintedSize(o).AddWidthHeight(2*from+1, from+margin)
	drawing.canvas.SetScale(scale)
	drawing.canvas.SetContent(&fyne.Container{Objects: []fyne.CanvasObject{o}})
	drawing.canvas.Resize(size)
	img, ok := paint(nil, drawing.canvas).(*image.NRGBA)
	drawing.canvas.SetContent(nil) // keep no reference to it
	o.Move(was)
	if !ok { // Fyne's software painter returns no other type
		return &sprite{}
	}
	at := image.Pt(pixels(from, scale), pixels(from, scale))
	return crop(img.Pix, img.Rect.Max, 4, at)
}

// thinEdgeSprite draws a rectangle with an edge one pixel wide, inside its area. Fyne's software
// painter puts half of the edge outside, which half-covers two pixels. It returns
// nil for anything else.
func thinEdgeSprite(o fyne.CanvasObject, scale float32) *sprite {
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
	fill, edge := unpremultiply(r.FillColor), unpremultiply(r.StrokeColor)
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

// paint is Fyne's software painter. A canvas returns its picture only after drawing it,
// pixel by pixel, over an empty one, which takes as long again.
//
//go:linkname paint fyne.io/fyne/v2/internal/painter/software.(*Painter).Paint
func paint(*struct{}, fyne.Canvas) image.Image

// ForgetTexts has Fyne drop the texts it caches with their measurements, including people's
// names and numbers. Fyne drops those unused for a minute, and only when it paints.
func ForgetTexts() {
	drawing.Lock()
	defer drawing.Unlock()
	drawing.letters, drawing.spare = letters{}, bufferPool{}
	if drawing.canvas != nil {
		drawing.canvas.SetContent(&fyne.Container{})
		drawing.canvas.Resize(fyne.NewSquareSize(1))
		_ = drawing.canvas.Capture()
	}
}

// KeepRenderers has Fyne keep the renderers of the widgets in roots, hidden ones too, and drop those
// unused for a minute; visit receives every object. Fyne judges age by a clock it reads
// only when it checks: after a quiet minute it would drop what is on screen, unless this is
// called before the first picture.
func KeepRenderers(roots []fyne.CanvasObject, visit func(fyne.CanvasObject)) {
	cacheNow()
	var walk func(fyne.CanvasObject)
	walk = func(o fyne.CanvasObject) {
		if o == nil {
			return
		}
		visit(o)
		in, _ := Children(o)
		for _, c := range in {
			walk(c)
		}
	}
	for _, o := range roots {
		walk(o)
	}
	ForgetTexts()
}

// cacheNow has Fyne read the clock that ages its renderers. Its own drivers do so with
// every picture; there is no public API.
//
//go:linkname cacheNow fyne.io/fyne/v2/internal/cache.refreshNow
func cacheNow() time.Time

// crop copies the non-empty part of a picture of n bytes per pixel.
func crop(pix []byte, size image.Point, n int, origin image.Point) *sprite {
	var box image.Rectangle
	for y := range size.Y {
		row := pix[y*n*size.X:][:n*size.X]
		first, last := -1, -1
		for x := n - 1; x < len(row); x += n {
			if row[x] != 0 {
				if first < 0 {
					first = x / n
				}
				last = x / n
			}
		}
		if first >= 0 {
			box = box.Union(image.Rect(first, y, last+1, y+1))
		}
	}
	w, h := box.Dx(), box.Dy()
	out := drawing.spare.take(n * w * h)
	for y := range h {
		copy(out[y*n*w:][:n*w], pix[n*((box.Min.Y+y)*size.X+box.Min.X):])
	}
	return &sprite{pix: out, size: box.Size(), text: n == 1, origin: origin.Sub(box.Min)}
}

// What an object's looks depend on, apart from its position.
type (
	textLooks struct {
		words  string
		height float32
		style  fyne.TextStyle
		font   fyne.Resource
		color  color.Color
		align  fyne.TextAlign
		size   fyne.Size
	}
	boxLooks struct {
		size         fyne.Size
		fill, stroke color.Color
		width        float32
		corners      [5]float32
		aspect       float32
		shadow       canvas.Shadow
	}
	circleLooks struct {
		size         fyne.Size
		fill, stroke color.Color
		width        float32
		shadow       canvas.Shadow
	}
	lineLooks struct {
		along, at fyne.Position
		color     color.Color
		width     float32
	}
)

// looks returns the comparable key of an object, nil if it has none.
func looks(o fyne.CanvasObject) any {
	switch o := o.(type) {
	case CachedText:
		return looks(o.Text)
	case *canvas.Text:
		return textLooks{o.Text, o.TextSize, o.TextStyle, o.FontSource, o.Color, o.Alignment, o.Size()}
	case *canvas.Rectangle:
		return boxLooks{o.Size(), o.FillColor, o.StrokeColor, o.StrokeWidth, [...]float32{o.CornerRadius, o.TopLeftCornerRadius,
			o.TopRightCornerRadius, o.BottomLeftCornerRadius, o.BottomRightCornerRadius}, o.Aspect, o.Shadow}
	case *canvas.Circle:
		return circleLooks{o.Size(), o.FillColor, o.StrokeColor, o.StrokeWidth, o.Shadow}
	case *canvas.Line:
		p := o.Position()
		return lineLooks{o.Position2.Subtract(o.Position1), o.Position1.Subtract(p), o.StrokeColor, o.StrokeWidth}
	case *canvas.LinearGradient:
		return *o
	case *canvas.RadialGradient:
		return *o
	}
	return nil
}
