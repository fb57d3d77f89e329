package offscreen

import (
	"fmt"
	"image"
	"image/color"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/software"
	base "fyne.io/fyne/v2/theme"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	paper = color.NRGBA{0xFE, 0xFD, 0xFC, 0xFF}
	ink   = color.NRGBA{0x1B, 0x27, 0x33, 0xFF}
)

// scene is one of every object.
func scene() *fyne.Container {
	at := func(o fyne.CanvasObject, x, y, w, h float32) fyne.CanvasObject {
		o.Resize(fyne.NewSize(w, h))
		o.Move(fyne.NewPos(x, y))
		return o
	}
	round := canvas.NewRectangle(paper)
	round.StrokeColor, round.StrokeWidth, round.CornerRadius = ink, 2, 4
	dot := canvas.NewCircle(ink)
	line := canvas.NewLine(ink)
	line.StrokeWidth, line.Position1, line.Position2 = 2, fyne.NewPos(90, 70), fyne.NewPos(70, 90)
	words := canvas.NewText("Qgjp Å", ink)
	words.TextSize = 22
	return &fyne.Container{Objects: []fyne.CanvasObject{
		at(canvas.NewRectangle(ink), 0, 0, 100, 10), at(round, 10, 20, 60, 30), at(dot, 80, 20, 12, 12), line,
		at(words, 6, 52, words.MinSize().Width, words.MinSize().Height),
		at(canvas.NewRectangle(ink), 95, 95, 20, 20), // half outside
	}}
}

// TestPaintsAsFyneDoes: object by object gives what Fyne paints in one go.
func TestPaintsAsFyneDoes(t *testing.T) {
	Start(base.DefaultTheme())
	for _, scale := range []float32{1, 1.5, 2, 3} {
		size := fyne.NewSize(100, 100)
		whole := software.NewTransparentCanvas()
		whole.SetPadded(false)
		whole.SetScale(scale)
		whole.SetContent(scene())
		whole.Resize(size)
		want := whole.Capture().(*image.NRGBA)

		var s Surface
		s.Frame(Size(size, scale), scale, paper, []fyne.CanvasObject{scene()}, nil)
		w, h, pix := s.Whole()
		if want.Rect.Dx() != w || want.Rect.Dy() != h {
			t.Fatalf("%v: %d by %d, want %v", scale, w, h, want.Rect)
		}
		bad := 0
		for i := 0; i < len(pix); i += 4 {
			a := int(want.Pix[i+3])
			for j, bg := range []uint8{paper.B, paper.G, paper.R} {
				mix := (int(want.Pix[i+2-j])*a + int(bg)*(255-a) + 127) / 255
				if d := mix - int(pix[i+j]); d > 3 || d < -3 {
					bad++
					break
				}
			}
		}
		if bad > w*h/500 {
			t.Errorf("%v: %d of %d pixels differ", scale, bad, w*h)
		}
	}
}

// TestNothingOfPeopleIsKept: a plain text leaves no picture behind, a Kept one
// does, and all of it together stays small.
func TestNothingOfPeopleIsKept(t *testing.T) {
	Start(base.DefaultTheme())
	count := func() int { drawing.Lock(); defer drawing.Unlock(); return len(drawing.kept) }
	paint := func(o fyne.CanvasObject) {
		o.Resize(fyne.NewSize(200, 30))
		var s Surface
		s.Frame(image.Pt(400, 60), 2, paper, []fyne.CanvasObject{o}, nil)
	}
	before := count()
	paint(canvas.NewText("J. de Vries", ink))
	if count() != before {
		t.Error("the picture of a name is kept")
	}
	paint(Kept{Text: canvas.NewText("Inkomend", ink)})
	if count() != before+1 {
		t.Error("the picture of our own word is not kept")
	}
	for i := range 150 {
		paint(Kept{Text: canvas.NewText(fmt.Sprint("Wij zijn er weer om ", i), ink)})
		drawing.Lock()
		if drawing.bytes > maxKept {
			t.Fatalf("%d bytes are kept", drawing.bytes)
		}
		drawing.Unlock()
	}
}
