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
	return container.New(&shrinking{natural: fyne.NewSize(width, width*float32(size.Height)/float32(size.Width))}, newFramed(img))
}

// shrinking gives its one object its natural size, and less where there is less
// room. Like text that wraps it knows its height once it has a width.
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

// dark tells whether the window is in the dark.
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

// withIcon is a line of a list that begins with an icon of the program.
func withIcon(line string) fyne.CanvasObject {
	image, words, _ := strings.Cut(strings.TrimPrefix(line, "- "), ") ")
	name := path.Base(image)
	icon := canvas.NewImageFromResource(nil)
	if b, err := assets.Icons.ReadFile("icons/" + name); err == nil { // a test looks for it
		icon.Resource = fyne.NewStaticResource(name, b)
	}
	icon.FillMode, icon.ScaleMode = canvas.ImageFillContain, canvas.ImageScaleSmooth
	icon.SetMinSize(fyne.NewSquareSize(iconSize))
	return container.New(widgets.Columns(iconSize+12), container.NewVBox(icon), rich(words))
}

const iconSize = 24
