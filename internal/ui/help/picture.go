package help

import (
	"bytes"
	"image/png"
	"path"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"

	"wiebelt/assets"
	"wiebelt/internal/ui/kit"
	"wiebelt/internal/ui/theme"
)

// shotWidth is how wide a picture of the guide may be beside the list of pages.
const shotWidth = 420

// picture is one of the guide from its line of Markdown. The files are twice as
// large as what they show.
func picture(line string) fyne.CanvasObject {
	_, rest, _ := strings.Cut(line, "](")
	name := path.Base(strings.TrimSuffix(strings.TrimSpace(rest), ")"))
	if dark() { // of each there is one for either appearance
		stem, rest, _ := strings.Cut(name, ".")
		name = stem + "-dark." + rest
	}
	b, err := assets.Shots.ReadFile("guide/shots/" + name)
	if err != nil {
		return container.NewWithoutLayout() // a test looks for it
	}
	size, err := png.DecodeConfig(bytes.NewReader(b))
	if err != nil {
		return container.NewWithoutLayout()
	}
	img := canvas.NewImageFromResource(fyne.NewStaticResource(name, b))
	img.FillMode = canvas.ImageFillContain
	img.ScaleMode = canvas.ImageScaleSmooth
	width := min(float32(size.Width)/2, shotWidth)
	img.SetMinSize(fyne.NewSize(width, width*float32(size.Height)/float32(size.Width)))
	return container.NewHBox(newFramed(img))
}

// dark tells whether the window is in the dark.
func dark() bool {
	s := fyne.CurrentApp().Settings()
	th, ok := s.Theme().(theme.Fyne)
	return ok && th.Dark(s.ThemeVariant())
}

// newFramed draws a thin line around a picture, so that a window does not run into
// a page of the same colour.
func newFramed(o fyne.CanvasObject) fyne.CanvasObject {
	return kit.NewSoftBox(container.New(outlined{}, o)).Square()
}

// outlined leaves the width of a line around its one object.
type outlined struct{}

func (outlined) MinSize(o []fyne.CanvasObject) fyne.Size { return o[0].MinSize().AddWidthHeight(2, 2) }

func (outlined) Layout(o []fyne.CanvasObject, size fyne.Size) {
	o[0].Move(fyne.NewPos(1, 1))
	o[0].Resize(size.SubtractWidthHeight(2, 2))
}
