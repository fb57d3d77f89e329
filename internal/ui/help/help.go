// Package help is the window of the guide: the list of pages at the side, and the chosen
// page with its pictures.
//
// It owns which page is shown and requests nothing from the resident. Everything
// runs on Fyne's thread.
package help

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"wiebelt/internal/guide"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/theme"
	"wiebelt/internal/ui/widgets"
)

const topicsWidth = 232

// window shows the guide: the list of pages at the side, and the chosen page.
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
	for i, p := range w.all {
		switch {
		case i == 0:
			items = append(items, widgets.SideItem{Title: l.T(text.HelpEverybody), Heading: true})
		case p.Admin && !w.all[i-1].Admin:
			items = append(items, widgets.SideItem{Title: l.T(text.HelpAdmins), Heading: true})
		}
		items = append(items, widgets.SideItem{ID: p.ID, Title: p.Title})
	}
	var side fyne.CanvasObject
	w.list, side = widgets.NewSide(w, l.T(text.HelpTitle), items)
	w.scroll = container.NewVScroll(w.pages)
	w.win = host.Window(text.HelpTitle, container.New(widgets.SideLayout(topicsWidth), side, w.scroll), fyne.NewSize(720, 640))
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

// helpPage lays out a page: headings and quotes of our own, the rest as Fyne's rich text.
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
			page.Add(widgets.Boxed(listing(part)))
		default:
			page.Add(rich(part))
		}
	}
	return widgets.OnPage(page)
}

// rich returns running text with bold words, code and lists, without the toolkit's padding,
// so that it aligns with the grid.
func rich(markdown string) fyne.CanvasObject {
	t := widget.NewRichTextFromMarkdown(markdown)
	t.Wrapping = fyne.TextWrapWord
	return widgets.Padded(-8, -8, -8, 0, t)
}

// listing returns text as typed or found in a file.
func listing(part string) fyne.CanvasObject {
	lines := strings.Split(part, "\n")
	for i := range lines {
		lines[i] = strings.TrimPrefix(lines[i], "    ")
	}
	label := widget.NewLabel(strings.Join(lines, "\n"))
	label.TextStyle.Monospace = true
	label.SizeName = theme.SizeHint
	label.Wrapping = fyne.TextWrapWord
	label.Selectable = true
	return widgets.Padded(-8, -8, -8, -8, label)
}
