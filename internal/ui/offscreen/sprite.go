package offscreen

import (
	"image"
	"image/color"
	"sync"
	"time"
	_ "unsafe" // for go:linkname

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/software"

	"wiebelt/internal/ui/theme"
)

// Kept is a text that is painted again and again: its picture is kept. Meant for
// words of our own; what is known of people stands in plain texts, of which
// nothing is kept.
type Kept struct{ *canvas.Text }

// sprite is the picture of one object. origin is where the object's position
// lies in it.
type sprite struct {
	img    *image.NRGBA
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
	kept   map[kept]*sprite
	bytes  int
}

// kept tells apart what is kept.
type kept struct {
	looks any
	scale float32
}

const maxKept = 3 << 20 // bytes

// drawn gives the picture of an object of which looks is the key. Those of shapes and
// of Kept texts stay, whoever shows them.
func drawn(o fyne.CanvasObject, looks any, scale float32) *sprite {
	drawing.Lock()
	defer drawing.Unlock()
	stays := false
	switch t := o.(type) {
	case Kept:
		stays, o = true, t.Text
	case *canvas.Rectangle, *canvas.Circle, *canvas.Line:
		stays = true
	}
	if !stays {
		return draw(o, scale)
	}
	k := kept{looks, scale}
	s := drawing.kept[k]
	if s == nil {
		s = draw(o, scale)
		if drawing.bytes += len(s.img.Pix); drawing.bytes > maxKept || drawing.kept == nil {
			drawing.kept, drawing.bytes = map[kept]*sprite{}, len(s.img.Pix)
		}
		drawing.kept[k] = s
	}
	return s
}

// draw has Fyne draw o, unless it has a thin edge, and keeps the part that is not empty.
func draw(o fyne.CanvasObject, scale float32) *sprite {
	if s := thin(o, scale); s != nil {
		return s
	}
	if drawing.canvas == nil {
		drawing.canvas = software.NewTransparentCanvas()
		drawing.canvas.SetPadded(false)
	}
	from := float32(room)
	if t, text := o.(*canvas.Text); text { // fills its place, but for what hangs below
		from = 0
		if t.FontSource == nil {
			copied := *t
			copied.FontSource = theme.Source(t.Text, t.TextStyle)
			o = &copied
		}
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
	at := image.Pt(pixels(from, scale), pixels(from, scale))
	if !ok { // Fyne's software painter has no other kind
		return &sprite{img: image.NewNRGBA(image.Rectangle{})}
	}
	return crop(img, at)
}

// paint is Fyne's software painter. A canvas gives its picture only after laying it,
// pixel by pixel, over an empty one, which takes as long again.
//
//go:linkname paint fyne.io/fyne/v2/internal/painter/software.(*Painter).Paint
func paint(*struct{}, fyne.Canvas) image.Image

// Forget has Fyne drop the texts that it keeps beside their measures, people's
// names and numbers among them. It drops those that it was not asked for in a
// minute, and only when it paints.
func Forget() {
	drawing.Lock()
	defer drawing.Unlock()
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

func crop(img *image.NRGBA, origin image.Point) *sprite {
	var box image.Rectangle
	for y := range img.Rect.Dy() {
		row := img.Pix[y*img.Stride:][:4*img.Rect.Dx()]
		first, last := -1, -1
		for x := 3; x < len(row); x += 4 {
			if row[x] != 0 {
				if first < 0 {
					first = x / 4
				}
				last = x / 4
			}
		}
		if first >= 0 {
			box = box.Union(image.Rect(first, y, last+1, y+1))
		}
	}
	out := image.NewNRGBA(image.Rectangle{Max: box.Size()})
	for y := range box.Dy() {
		copy(out.Pix[y*out.Stride:][:out.Stride], img.Pix[(box.Min.Y+y)*img.Stride+4*box.Min.X:])
	}
	return &sprite{out, origin.Sub(box.Min)}
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
	case Kept:
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
