package widgets

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	base "fyne.io/fyne/v2/theme"

	"wiebelt/internal/ui/theme"
)

// Chooser is a window with a list of pages at its side.
type Chooser interface {
	Choose(id string)
	Chosen() string
}

// SideItem is a page in such a list. Pages of a group stand below its heading.
type SideItem struct{ ID, Title, Group string }

func (i SideItem) heading() bool { return i.ID == "" }

const sideHeight = 28

// NewSide returns the list of pages along the left edge of a window, and the box containing
// it. The name is for screen readers.
func NewSide(w Chooser, name string, pages []SideItem) (*List, fyne.CanvasObject) {
	var items []SideItem // with the headings, which have no ID
	group := ""
	for _, p := range pages {
		if p.Group != group {
			group = p.Group
			items = append(items, SideItem{Title: group})
		}
		items = append(items, p)
	}
	list := NewList(
		func() int { return len(items) },
		func() fyne.CanvasObject { return newSideLine(w) },
		func(i int, o fyne.CanvasObject) { o.(*sideLine).set(items[i]) },
		func(i int) { w.Choose(items[i].ID) }) // by keyboard; the lines handle clicks themselves
	list.Name = name
	list.Skip = func(i int) bool { return items[i].heading() }
	list.Mark = func(i int) bool { return !items[i].heading() && items[i].ID == w.Chosen() }
	for i, it := range items {
		if it.heading() && i > 0 {
			list.SetItemHeight(i, sideHeight+8)
		}
	}
	return list, NewSoftBox(Padded(12, 0, 8, 8, list)).Square()
}

type sideLine struct {
	PointerWidget
	w     Chooser
	item  SideItem
	back  *canvas.Rectangle
	title *TextLine
}

var _ fyne.Tappable = (*sideLine)(nil)

func newSideLine(w Chooser) *sideLine {
	p := &sideLine{w: w, back: canvas.NewRectangle(nil)}
	p.back.CornerRadius = 4
	p.title = NewTextLine("", theme.SizeHint, base.ColorNameForeground, false).Truncate()
	p.Extend(p, nil)
	return p
}

func (p *sideLine) set(it SideItem) {
	p.item, p.Locked = it, it.heading()
	p.Refresh()
}

// Tapped implements fyne.Tappable.
func (p *sideLine) Tapped(*fyne.PointEvent) { p.w.Choose(p.item.ID) }

// CreateRenderer implements fyne.Widget.
func (p *sideLine) CreateRenderer() fyne.WidgetRenderer {
	return Draw(p, Drawing{Parts: []fyne.CanvasObject{p.back, p.title},
		Least: func() fyne.Size { return fyne.NewSize(0, sideHeight) },
		Arrange: func(size fyne.Size) {
			p.back.Resize(size)
			h := p.title.MinSize().Height
			y := (size.Height - h) / 2
			if p.item.heading() {
				y = size.Height - h - 8 // closer to what it introduces
			}
			p.title.Resize(fyne.NewSize(size.Width-2*RowInset, h))
			p.title.Move(fyne.NewPos(RowInset, y))
		},
		Paint: func(colour func(fyne.ThemeColorName) color.Color) {
			chosen := p.item.ID != "" && p.item.ID == p.w.Chosen()
			p.back.Hidden = !chosen && !p.Hover()
			p.back.FillColor = colour(Either(chosen, base.ColorNameBackground, base.ColorNameHover))
			t := p.title
			t.Text, t.size, t.Bold, t.Colour = p.item.Title, theme.SizeHint, chosen, base.ColorNameForeground
			switch {
			case p.item.heading():
				t.size, t.Bold, t.Colour = base.SizeNameCaptionText, true, base.ColorNamePlaceHolder
			case chosen:
				t.Colour = base.ColorNamePrimary
			}
			t.Refresh()
		}})
}
