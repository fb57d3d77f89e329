package offscreen

import (
	"image"
	"image/color"
	"math/bits"
	"sync"
	"time"
	_ "unsafe" // for go:linkname

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/software"
)

// CachedText is painted again and again, so its picture is kept. Meant for words of our
// own; what is known of people stands in plain texts, of which nothing is kept.
type CachedText struct{ *canvas.Text }

// sprite is the picture of one object: rows of red, green, blue and alpha, or of how
// much there is of one colour. origin is where the object's position lies in it.
type sprite struct {
	pix    []byte
	size   image.Point
	ink    color.NRGBA // of a text, which has one byte a pixel
	text   bool
	kept   bool // in drawing
	origin image.Point
}

// room is what is drawn around an object, in units: edges of shapes, and what
// hangs below a line of text.
const room = 8

// Fyne's painter draws a whole canvas to lay little on it. So each object is drawn
// on a canvas of its own size, and laid into the picture by us; what comes again
// looks the same and is not drawn again.
var drawing struct {
	sync.Mutex
	canvas software.WindowlessCanvas
	letters
	kept  map[kept]*sprite
	bytes int
	spare spare
}

// kept tells apart what is kept.
type kept struct {
	looks any
	scale float32
}

const maxKept = 3 << 20 // bytes

// drawn gives the picture of an object of which looks is the key. Those of shapes and
// of CachedText texts stay, whoever shows them.
func drawn(o fyne.CanvasObject, looks any, scale float32) *sprite {
	drawing.Lock()
	defer drawing.Unlock()
	switch t := o.(type) {
	case CachedText:
		o = t.Text
	case *canvas.Rectangle, *canvas.Circle, *canvas.Line:
	default:
		return draw(o, scale)
	}
	k := kept{looks, scale}
	s := drawing.kept[k]
	if s == nil {
		s = draw(o, scale)
		s.kept = true
		if drawing.bytes += len(s.pix); drawing.bytes > maxKept || drawing.kept == nil {
			drawing.kept, drawing.bytes = map[kept]*sprite{}, len(s.pix)
		}
		drawing.kept[k] = s
	}
	return s
}

// spare is memory of texts that are no longer shown, empty, by the logarithm of its
// size: the next ones take about as much.
type spare [24][][]byte

const maxSpare = 32 // of one size

// take gives n bytes that are zero.
func (s *spare) take(n int) []byte {
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

// give takes back what take gave, for which there is no other use.
func (s *spare) give(b []byte) {
	clear(b)
	if size := bits.Len(uint(len(b))); size < len(s) && cap(b) == 1<<size && len(s[size]) < maxSpare {
		s[size] = append(s[size], b)
	}
}

// free gives the memory of a text's picture to the next one.
func (s *sprite) free() {
	drawing.Lock()
	defer drawing.Unlock()
	drawing.spare.give(s.pix)
	s.pix = nil
}

// draw has Fyne draw o, unless it is a text or has a thin edge, and keeps the part that
// is not empty.
func draw(o fyne.CanvasObject, scale float32) *sprite {
	if s := thin(o, scale); s != nil {
		return s
	}
	from := float32(room)
	if t, text := o.(*canvas.Text); text { // fills its place, but for what hangs below
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
	size := painted(o).AddWidthHeight(2*from+1, from+room)
	drawing.canvas.SetScale(scale)
	drawing.canvas.SetContent(&fyne.Container{Objects: []fyne.CanvasObject{o}})
	drawing.canvas.Resize(size)
	img, ok := paint(nil, drawing.canvas).(*image.NRGBA)
	drawing.canvas.SetContent(nil) // keeps nothing of it
	o.Move(was)
	if !ok { // Fyne's software painter has no other kind
		return &sprite{}
	}
	at := image.Pt(pixels(from, scale), pixels(from, scale))
	return crop(img.Pix, img.Rect.Max, 4, at)
}

// paint is Fyne's software painter. A canvas gives its picture only after laying it,
// pixel by pixel, over an empty one, which takes as long again.
//
//go:linkname paint fyne.io/fyne/v2/internal/painter/software.(*Painter).Paint
func paint(*struct{}, fyne.Canvas) image.Image

// Forget has Fyne drop the texts that it keeps with their measures, people's
// names and numbers among them. It drops those that it was not asked for in a
// minute, and only when it paints.
func Forget() {
	drawing.Lock()
	defer drawing.Unlock()
	drawing.letters, drawing.spare = letters{}, spare{}
	if drawing.canvas != nil {
		drawing.canvas.SetContent(&fyne.Container{})
		drawing.canvas.Resize(fyne.NewSquareSize(1))
		_ = drawing.canvas.Capture()
	}
}

// Keep has Fyne keep the renderers of the widgets in roots, hidden ones too, and
// drop those that were not used in a minute; visit gets every object. Fyne tells
// what is old by a clock that it reads when it looks and at no other time: after a
// quiet minute it would drop what is on screen, unless this is called before the
// first picture.
func Keep(roots []fyne.CanvasObject, visit func(fyne.CanvasObject)) {
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
	Forget()
}

// cacheNow has Fyne read the clock by which its renderers age. Its own drivers do
// so with every picture; there is no public way.
//
//go:linkname cacheNow fyne.io/fyne/v2/internal/cache.refreshNow
func cacheNow() time.Time

// crop copies the part of a picture of n bytes a pixel that is not empty.
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

// What the looks of an object depend on, its place apart.
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

// looks is the key of an object that can be compared, nil of any other.
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
