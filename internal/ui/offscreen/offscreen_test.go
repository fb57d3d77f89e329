package offscreen

import (
	"image"
	"image/color"
	"slices"
	"testing"
	"unicode"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/software"
	base "fyne.io/fyne/v2/theme"
	"github.com/go-text/typesetting/shaping"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"wiebelt/internal/ui/theme"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	paper = color.NRGBA{0xFE, 0xFD, 0xFC, 0xFF}
	ink   = color.NRGBA{0x1B, 0x27, 0x33, 0xFF}
)

// scene returns one object of every kind.
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

// TestPaintsAsFyneDoes checks that painting object by object
// gives the same result as Fyne painting everything at once.
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
		s.Render(Size(size, scale), scale, paper, []fyne.CanvasObject{scene()}, nil)
		w, h, pix := s.Buffer()
		if want.Rect.Dx() != w || want.Rect.Dy() != h {
			t.Fatalf("%v: %d by %d, want %v", scale, w, h, want.Rect)
		}
		bad := 0
		for i := 0; i < len(pix); i += 4 {
			a := int(want.Pix[i+3])
			for j, bg := range []uint8{paper.B, paper.G, paper.R} {
				mix := (int(want.Pix[i+2-j])*a + int(bg)*(255-a) + 127) / 255
				if d := mix - int(pix[i+j]); d > 9 || d < -9 { // Fyne rounds every point to 1/64
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

// TestNothingOfPeopleIsKept: the picture of a text that is no longer shown
// does not stay in memory, and its memory is reused for the next one.
func TestNothingOfPeopleIsKept(t *testing.T) {
	Start(base.DefaultTheme())
	text := canvas.NewText("J. de Vries", ink)
	text.Resize(fyne.NewSize(200, 30))
	var s Surface
	frame := func() { s.Render(image.Pt(400, 60), 2, paper, []fyne.CanvasObject{text}, nil) }
	frame()
	kept := s.parts[0].sprite.pix
	text.Text = "Nobody"
	frame()
	if slices.ContainsFunc(kept, func(b byte) bool { return b != 0 }) {
		t.Error("the picture of a name is kept")
	}
	text.Text = "J. de Vries"
	frame()
	if &s.parts[0].sprite.pix[0] != &kept[0] {
		t.Error("its memory is not used again")
	}
	words := CachedText{Text: canvas.NewText("Inkomend", ink)}
	words.Resize(words.MinSize())
	pictures := len(drawing.kept)
	s.Render(image.Pt(400, 60), 2, paper, []fyne.CanvasObject{words}, nil)
	word := s.parts[0].sprite.pix
	frame()
	if len(drawing.kept) != pictures+1 || !slices.ContainsFunc(word, func(b byte) bool { return b != 0 }) {
		t.Error("the picture of our own word is not kept")
	}
	ForgetTexts()
	if drawing.outlines != nil || drawing.whole.Pix != nil {
		t.Error("letters and the last text are kept at rest")
	}
}

// TestFirstLetterIsWhole checks that the part of a letter left of the text's edge is painted.
func TestFirstLetterIsWhole(t *testing.T) {
	Start(base.DefaultTheme())
	name := canvas.NewText("J. de Vries", ink)
	name.TextSize, name.TextStyle.Bold = 22, true
	name.Resize(name.MinSize())
	name.Move(fyne.NewPos(20, 0))
	var s Surface
	s.Render(image.Pt(200, 60), 1, paper, []fyne.CanvasObject{name}, nil)
	for y := range 60 {
		if s.Image().RGBAAt(19, y) != color.RGBA(paper) {
			return
		}
	}
	t.Error("the J is cut on the left")
}

// TestLatinIsSetAsMeasured: texts shaped without searching
// for runs have the glyphs and positions that Fyne measured.
func TestLatinIsSetAsMeasured(t *testing.T) {
	Start(base.DefaultTheme())
	var l letters
	rapid.Check(t, func(t *rapid.T) {
		text := canvas.NewText(rapid.StringOfN(rapid.RuneFrom(nil, &unicode.RangeTable{R16: []unicode.Range16{{Lo: ' ', Hi: 0x24F, Stride: 1}}, LatinOffset: 1}), 1, 30, -1).Draw(t, "text"), ink)
		text.TextStyle.Bold = rapid.Bool().Draw(t, "bold")
		faces := cachedFontFace(text.TextStyle, theme.FontSource(text.Text, text.TextStyle), text).Fonts
		got, _ := l.latin(text, faces.ResolveFace(' '))
		var want []shaping.Glyph
		walkString(faces, text.Text, points(text), text.TextStyle, new(float32), 1, func(run shaping.Output, x, _ float32) {
			want = append(want, run.Glyphs...)
		})
		if len(got.Glyphs) != len(want) {
			t.Fatalf("%d letters, want %d", len(got.Glyphs), len(want))
		}
		for i, w := range want {
			if g := got.Glyphs[i]; g.GlyphID != w.GlyphID || g.Advance != w.Advance || g.XOffset != w.XOffset || g.YOffset != w.YOffset {
				t.Errorf("letter %d: %+v, want %+v", i, g, w)
			}
		}
	})
}
