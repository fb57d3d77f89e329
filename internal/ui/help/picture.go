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
	"wiebelt/internal/ui/theme"
	"wiebelt/internal/ui/widgets"
)

// shotWidth is the maximum width of a picture of the guide beside the list of pages.
const shotWidth = 420

// picture returns a picture of the guide from its line of Markdown. The files
// have twice the resolution.
func picture(line string) fyne.CanvasObject {
	_, rest, _ := strings.Cut(line, "](")
	name := path.Base(strings.TrimSuffix(strings.TrimSpace(rest), ")"))
	if dark() { // each exists for both appearances
		stem, rest, _ := strings.Cut(name, ".")
		name = stem + "-dark." + rest
	}
	b, err := assets.Shots.ReadFile("guide/shots/" + name)
	if err != nil {
		return container.NewWithoutLayout() // a test checks for this
	}
	size, err := png.DecodeConfig(bytes.NewReader(b))
	if err != nil {
		return container.NewWithoutLayout()
	}
	img := canvas.NewImageFromResource(fyne.NewStaticResource(name, b))
	img.FillMode = canvas.ImageFillContain
	img.ScaleMode = canvas.ImageScaleSmooth
	width := min(float32(size.Width)/2, shotWidth)
	return container.New(&shrinking{natural: fyne.NewSize(width, width*float32(size.Height)/float32(size.Width))}, newFramed(img))
}

// shrinking gives its single object its natural size, or less if there is less room. Like
// wrapping text, it knows its height once it has a width.
type shrinking struct {
	natural fyne.Size
	width   float32
}

func (s *shrinking) size() fyne.Size {
	if s.width <= 0 || s.width > s.natural.Width {
		return s.natural
	}
	return fyne.NewSize(s.width, s.natural.Height*s.width/s.natural.Width)
}

func (s *shrinking) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(1, s.size().Height) }

func (s *shrinking) Layout(o []fyne.CanvasObject, size fyne.Size) {
	s.width = size.Width
	o[0].Resize(s.size())
	o[0].Move(fyne.NewPos(0, 0))
}

// dark reports whether the appearance is dark.
func dark() bool {
	s := fyne.CurrentApp().Settings()
	th, ok := s.Theme().(theme.Fyne)
	return ok && th.Dark(s.ThemeVariant())
}

// newFramed draws a thin line around a picture, so that a window does not run into
// a page of the same colour.
func newFramed(o fyne.CanvasObject) fyne.CanvasObject {
	return widgets.NewSoftBox(widgets.Padded(1, 1, 1, 1, o)).Square()
}

// withIcon returns a line of a list that starts with an icon of the program.
func withIcon(line string) fyne.CanvasObject {
	image, words, _ := strings.Cut(strings.TrimPrefix(line, "- "), ") ")
	name := path.Base(image)
	icon := canvas.NewImageFromResource(nil)
	if b, err := assets.Icons.ReadFile("icons/" + name); err == nil { // a test checks for this
		icon.Resource = fyne.NewStaticResource(name, b)
	}
	icon.FillMode, icon.ScaleMode = canvas.ImageFillContain, canvas.ImageScaleSmooth
	icon.SetMinSize(fyne.NewSquareSize(iconSize))
	return container.New(widgets.Columns(iconSize+12), container.NewVBox(icon), rich(words))
}

const iconSize = 24
