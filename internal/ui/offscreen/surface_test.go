package offscreen

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"math/rand/v2"
	"testing"
	"time"
	_ "unsafe" // for go:linkname

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/test"
	base "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// TestRenderFollows changes a window in random ways: painting only what has changed gives
// the same picture as painting everything, and without changes nothing is painted.
func TestRenderFollows(t *testing.T) {
	Start(base.DefaultTheme())
	rnd := rand.New(rand.NewPCG(7, 7))
	colors := []color.NRGBA{ink, {0x0B, 0x6B, 0xCB, 0xFF}, {0x1B, 0x7F, 0x4B, 0x80}}
	bars := container.NewWithoutLayout()
	for i := range 12 {
		r := canvas.NewRectangle(colors[i%3])
		r.CornerRadius = float32(i % 4)
		bars.Add(r)
	}
	words := container.NewVBox()
	for i := range 30 {
		words.Add(canvas.NewText(fmt.Sprint("Regel ", i), ink))
	}
	scroll := container.NewVScroll(words)
	label := widget.NewLabel("Oproepen")
	root := container.NewBorder(label, nil, nil, bars, scroll)
	over := canvas.NewRectangle(color.NRGBA{0x80, 0x80, 0x80, 0x60})
	over.Resize(fyne.NewSize(80, 40))
	over.Hide()

	size := image.Pt(200, 150)
	root.Resize(fyne.NewSize(200, 150))
	var s Surface
	roots := []fyne.CanvasObject{root, over}
	steps := 0
	for range 100 {
		switch rnd.IntN(8) {
		case 0:
			scroll.ScrollToOffset(fyne.NewPos(0, rnd.Float32()*300))
		case 1:
			label.SetText(fmt.Sprint("Oproepen ", rnd.IntN(5)))
		case 2:
			words.Objects[rnd.IntN(30)].(*canvas.Text).Color = colors[rnd.IntN(3)]
		case 3:
			i, j := rnd.IntN(12), rnd.IntN(12)
			bars.Objects[i], bars.Objects[j] = bars.Objects[j], bars.Objects[i]
		case 4:
			o := bars.Objects[rnd.IntN(12)]
			if o.Visible() {
				o.Hide()
			} else {
				o.Show()
			}
		case 5:
			over.Hidden = !over.Hidden
		case 6:
			over.Move(fyne.NewPos(rnd.Float32()*200, rnd.Float32()*150))
		case 7:
			o := bars.Objects[rnd.IntN(12)]
			o.Resize(fyne.NewSize(rnd.Float32()*60, rnd.Float32()*60))
			o.Move(fyne.NewPos(-rnd.Float32()*100, rnd.Float32()*100))
		}
		s.Render(size, 1, paper, roots, nil)
		var whole Surface
		whole.Render(size, 1, paper, roots, nil)
		if !bytes.Equal(s.pix, whole.pix) {
			t.Fatalf("after %d steps the parts are not the whole", steps)
		}
		if again := s.Render(size, 1, paper, roots, nil); len(again) > 0 {
			t.Fatalf("%v is painted though nothing changed", again)
		}
		steps++
	}
}

// TestRenderIsFrugal: if a word changes, only that word is painted;
// what is no longer on screen is not kept, since it may contain names.
func TestRenderIsFrugal(t *testing.T) {
	Start(base.DefaultTheme())
	name, other := canvas.NewText("J. de Vries", ink), canvas.NewText("Inkomend", ink)
	hover := canvas.NewRectangle(color.Transparent)
	hover.SetMinSize(fyne.NewSquareSize(1))
	box := container.NewVBox(name, other, hover)
	box.Resize(fyne.NewSize(200, 100))
	var s Surface
	roots := []fyne.CanvasObject{box}
	s.Render(image.Pt(200, 100), 2, paper, roots, nil)
	name.Text = "Onbekend"
	damage := s.Render(image.Pt(200, 100), 2, paper, roots, nil)
	if len(damage) != 1 || damage[0].Empty() || damage[0].Max.Y > 2*int(other.Position().Y)+2*margin {
		t.Errorf("painted: %v", damage)
	}
	if len(s.sprites) != 2 {
		t.Errorf("%d pictures are kept, want those of two texts", len(s.sprites))
	}
	hover.StrokeColor, hover.StrokeWidth = ink, 1
	if d := s.Render(image.Pt(200, 100), 2, paper, roots, nil); len(d) != 1 {
		t.Errorf("a rectangle that gets an edge: %v", d)
	}
	hover.Hide()
	picture := canvas.NewImageFromImage(image.NewNRGBA(image.Rect(0, 0, 4, 4)))
	picture.SetMinSize(fyne.NewSize(4, 4))
	box.Add(picture)
	s.Render(image.Pt(200, 100), 2, paper, roots, nil)
	picture.Image.(*image.NRGBA).Set(1, 1, color.Black)
	if d := s.Render(image.Pt(200, 100), 2, paper, roots, nil); len(d) > 0 {
		t.Errorf("painted: %v", d)
	}
	s.Changed(picture)
	if d := s.Render(image.Pt(200, 100), 2, paper, roots, nil); len(d) != 1 {
		t.Errorf("a picture that was said to have changed: %v", d)
	}
}

// TestDamage checks that the damage covers every added rectangle, without overlaps.
func TestDamage(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		var d damage
		var all []image.Rectangle
		for range rnd.IntN(20) {
			x, y := rnd.IntN(500), rnd.IntN(500)
			r := image.Rect(x, y, x+rnd.IntN(80), y+rnd.IntN(80))
			d.add(r)
			all = append(all, r)
		}
		if len(d) > maxDamage {
			t.Fatalf("%d rectangles", len(d))
		}
		for i, a := range d {
			for _, b := range d[:i] {
				if a.Overlaps(b) {
					t.Fatalf("%v and %v overlap", a, b)
				}
			}
		}
		for _, r := range all {
			in := r.Empty()
			for _, a := range d {
				in = in || r.In(a)
			}
			if !in {
				t.Fatalf("%v is not covered by %v", r, d)
			}
		}
	}
}

// cacheClock is the clock by which Fyne drops old cache entries.
//
//go:linkname cacheClock fyne.io/fyne/v2/internal/cache.timeNow
var cacheClock func() time.Time

// TestKeepRenderers: the first picture after a quiet hour does not drop the renderers of what
// is on screen; those of removed objects are dropped, with their change counters.
func TestKeepRenderers(t *testing.T) {
	Start(base.DefaultTheme())
	label, gone := widget.NewLabel("before"), widget.NewLabel("gone")
	root := container.NewStack(label)
	root.Resize(fyne.NewSize(100, 40))
	var s Surface
	frame := func() {
		s.Render(image.Pt(100, 40), 1, color.NRGBA{A: 0xFF}, []fyne.CanvasObject{root}, nil)
	}
	stays, goes := test.WidgetRenderer(label), test.WidgetRenderer(gone)
	s.Changed(gone)
	frame()
	t.Cleanup(func() { cacheClock = time.Now })
	cacheClock = func() time.Time { return time.Now().Add(time.Hour) }
	KeepRenderers([]fyne.CanvasObject{root}, func(fyne.CanvasObject) {})
	label.SetText("after")
	frame()
	if test.WidgetRenderer(label) != stays {
		t.Error("the renderer of what is on screen was dropped")
	}
	if test.WidgetRenderer(gone) == goes {
		t.Error("the renderer of what has gone is kept")
	}
	if len(s.versions) != 0 {
		t.Errorf("%d objects are remembered", len(s.versions))
	}
}

// TestThinEdge: an edge one pixel wide is one pixel in its colour, not two at half strength.
func TestThinEdge(t *testing.T) {
	Start(base.DefaultTheme())
	white, fill, edge := color.NRGBA{0xFF, 0xFF, 0xFF, 0xFF}, color.NRGBA{0xF4, 0xF6, 0xF8, 0xFF}, color.NRGBA{0x5B, 0x6B, 0x7B, 0xFF}
	r := &canvas.Rectangle{FillColor: fill, StrokeColor: edge, StrokeWidth: 1, CornerRadius: 4}
	r.Resize(fyne.NewSize(30, 20))
	r.Move(fyne.NewPos(5, 5))
	var s Surface
	s.Render(image.Pt(40, 30), 1, white, []fyne.CanvasObject{r}, nil)
	img := s.Image()
	for x, want := range map[int]color.NRGBA{4: white, 5: edge, 6: fill, 33: fill, 34: edge, 35: white} {
		if got := color.NRGBAModel.Convert(img.At(x, 15)); got != want {
			t.Errorf("at %d: %v, want %v", x, got, want)
		}
	}
	if got := color.NRGBAModel.Convert(img.At(5, 5)); got != white {
		t.Errorf("the corner: %v", got)
	}
	for y := range 20 {
		for x := range 30 {
			if a, b, c := img.At(5+x, 5+y), img.At(34-x, 5+y), img.At(5+x, 24-y); a != b || a != c {
				t.Fatalf("%d, %d: %v, %v on the other side, %v below", x, y, a, b, c)
			}
		}
	}
}
