// Package help is the window of the guide: the list of pages at the side, and the chosen
// page with its pictures.
//
// It owns which page is shown and requests nothing from the resident. Everything
// runs on Fyne's thread.
package help

import (
	"bytes"
	"image/png"
	"path"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"wiebelt/assets"
	"wiebelt/internal/guide"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/theme"
	"wiebelt/internal/ui/widgets"
)

const (
	topicsWidth = 232
	shotWidth   = 420 // maximum width of a picture of the guide beside the list of pages
	iconSize    = 24
)

type window struct {
	host   *widgets.Host
	win    fyne.Window
	all    []guide.HelpPage
	list   *widgets.List
	shown  string
	pages  *fyne.Container
	scroll *container.Scroll
}

// Open opens the window at the guide's first page.
func Open(host *widgets.Host) widgets.Page {
	w := &window{host: host, all: guide.Help(host.Lang), pages: container.NewStack()}
	l := host.Lang
	var items []widgets.SideItem
	for _, p := range w.all {
		items = append(items, widgets.SideItem{ID: p.ID, Title: p.Title, Group: l.T(widgets.Either(p.Admin, text.HelpAdmins, text.HelpEverybody))})
	}
	var side fyne.CanvasObject
	w.list, side = widgets.NewSide(w, l.T(text.HelpTitle), items)
	w.scroll = container.NewVScroll(w.pages)
	w.win = host.Window(text.HelpTitle, container.New(widgets.SideLayout(topicsWidth), side, widgets.NewPane(l.T(text.HelpTitle), w.scroll)), fyne.NewSize(720, 640))
	first := w.all[0].ID
	if old, ok := host.Page(windowapi.WindowHelp).(*window); ok { // the same in another language
		first = old.shown
	}
	w.Choose(first)
	return w
}

// Window implements widgets.Page.
func (w *window) Window() fyne.Window { return w.win }

// Chosen implements widgets.Chooser.
func (w *window) Chosen() string { return w.shown }

// ShowAt shows a page of the guide.
func (w *window) ShowAt(id string) { w.Choose(id) }

// Choose shows another page.
func (w *window) Choose(id string) {
	for _, p := range w.all {
		if p.ID != id {
			continue
		}
		w.shown = id
		widgets.Fill(w.pages, helpPage(p))
		w.scroll.ScrollToTop()
		w.list.Refresh()
	}
}

// helpPage lays out a page from the part of Markdown that the guide uses.
func helpPage(p guide.HelpPage) fyne.CanvasObject {
	page := widgets.Column(12, widgets.Title(p.Title))
	for _, part := range strings.Split(p.Text, "\n\n") {
		switch {
		case strings.HasPrefix(part, "## "):
			page.Add(widgets.Padded(8, -4, 0, 0, widgets.Subtitle(strings.TrimPrefix(part, "## "))))
		case strings.HasPrefix(part, "- !["):
			for _, line := range strings.Split(part, "\n") {
				page.Add(withIcon(line))
			}
		case strings.HasPrefix(part, "!["):
			page.Add(picture(part))
		case strings.HasPrefix(part, "> "):
			page.Add(widgets.Boxed(rich(strings.TrimPrefix(part, "> "))))
		case strings.HasPrefix(part, "    "):
			page.Add(widgets.Listing(strings.TrimPrefix(strings.ReplaceAll(part, "\n    ", "\n"), "    ")))
		default:
			page.Add(rich(part))
		}
	}
	return widgets.OnPage(page)
}

// rich returns running text or a list, without the toolkit's padding, so that it aligns with
// the grid.
func rich(markdown string) fyne.CanvasObject {
	t := widget.NewRichText(styled(markdown)...)
	if numbered := strings.HasPrefix(markdown, "1. "); numbered || strings.HasPrefix(markdown, "- ") {
		list := &widget.ListSegment{Ordered: numbered}
		for line := range strings.SplitSeq(markdown, "\n") {
			_, item, _ := strings.Cut(line, " ")
			list.Items = append(list.Items, &widget.ParagraphSegment{Texts: styled(item)})
		}
		t.Segments = []widget.RichTextSegment{list}
	}
	t.Wrapping = fyne.TextWrapWord
	return widgets.Padded(-8, -8, -8, 0, t)
}

// styled returns the parts of a line with **bold** and *italic* words and `code`.
func styled(line string) (parts []widget.RichTextSegment) {
	var bold, italic bool
	add := func(s string, style widget.RichTextStyle) {
		if style.TextStyle.Bold, style.TextStyle.Italic = bold, italic; s != "" {
			parts = append(parts, &widget.TextSegment{Text: s, Style: style})
		}
	}
	for i, s := range strings.Split(line, "`") {
		if i%2 == 1 {
			add(s, widget.RichTextStyleCodeInline)
			continue
		}
		for j, s := range strings.Split(s, "**") {
			bold = bold != (j > 0)
			for k, s := range strings.Split(s, "*") {
				italic = italic != (k > 0)
				add(s, widget.RichTextStyleInline)
			}
		}
	}
	return parts
}

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
	framed := widgets.NewSoftBox(widgets.Padded(1, 1, 1, 1, img)).Square() // a thin line: the window may have the page's colour
	return container.New(&shrinkLayout{natural: fyne.NewSize(width, width*float32(size.Height)/float32(size.Width))}, framed)
}

// shrinkLayout gives its single object its natural size, or less if there is less room. Like
// wrapping text, it knows its height once it has a width.
type shrinkLayout struct {
	natural fyne.Size
	width   float32
}

func (s *shrinkLayout) size() fyne.Size {
	if s.width <= 0 || s.width > s.natural.Width {
		return s.natural
	}
	return fyne.NewSize(s.width, s.natural.Height*s.width/s.natural.Width)
}

func (s *shrinkLayout) MinSize([]fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(1, s.size().Height)
}

func (s *shrinkLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	s.width = size.Width
	o[0].Resize(s.size())
	o[0].Move(fyne.NewPos(0, 0))
}

func dark() bool {
	s := fyne.CurrentApp().Settings()
	th, ok := s.Theme().(theme.Fyne)
	return ok && th.Dark(s.ThemeVariant())
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
