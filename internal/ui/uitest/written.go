package uitest

import (
	"image"
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"

	"wiebelt/internal/ui/offscreen"
	"wiebelt/internal/ui/theme"
)

// RenderText returns how words look in a window at 100 %: their coverage of every pixel. Size
// is in units. Like every picture, it needs exclusive use of Fyne.
func RenderText(words string, size float32, bold bool) *image.Alpha {
	offscreen.Start(theme.New("light"))
	t := canvas.NewText(words, color.NRGBA{A: 0xFF})
	t.TextSize, t.TextStyle = size, fyne.TextStyle{Bold: bold}
	t.Resize(t.MinSize())
	var s offscreen.Surface
	s.Render(offscreen.Size(t.MinSize().AddWidthHeight(1, 8), 1), 1, color.NRGBA{R: 0xFF, G: 0xFF, B: 0xFF, A: 0xFF}, []fyne.CanvasObject{t}, nil)
	w, h, pix := s.Buffer()
	img, ink := image.NewAlpha(image.Rect(0, 0, w, h)), image.Rectangle{}
	for i := range img.Pix {
		if img.Pix[i] = 0xFF - pix[4*i]; img.Pix[i] > 0 {
			ink = ink.Union(image.Rect(i%w, i/w, i%w+1, i/w+1))
		}
	}
	return img.SubImage(ink).(*image.Alpha)
}
