package widgets

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	base "fyne.io/fyne/v2/theme"

	"wiebelt/internal/ui/theme"
)

// RowHeight is the height of a row of a list, with its two lines.
const RowHeight = 48

// narrow is too little for a name beside what became of it.
const narrow = 200

// Row is what a row of a list is made of: when, who or what with a detail below,
// and what became of it behind a mark. A list's own widget holds it, takes the
// clicks and says what is written.
type Row struct {
	Back                                   *canvas.Rectangle // shows where the pointer is
	Shape                                  *Shape
	Time, Day, Title, Detail, Result, More *TextLine
}

// NewRow is a row in which nothing is written.
func NewRow() Row {
	back := canvas.NewRectangle(nil)
	back.CornerRadius = 4
	hint := func() *TextLine { return NewTextLine("", theme.SizeHint, base.ColorNamePlaceHolder, false).Cutting() }
	return Row{
		Back: back, Shape: NewShape(MarkNone),
		Time:   NewTextLine("", base.SizeNameText, base.ColorNameForeground, false),
		Day:    NewTextLine("", base.SizeNameCaptionText, base.ColorNamePlaceHolder, false),
		Title:  NewTextLine("", theme.SizeRow, base.ColorNameForeground, true).Cutting(),
		Detail: hint(), Result: hint(), More: hint(),
	}
}

// Objects are the parts, the background first.
func (r *Row) Objects() []fyne.CanvasObject {
	return []fyne.CanvasObject{r.Back, r.Time, r.Day, r.Title, r.Detail, r.Shape, r.Result, r.More}
}

// Layout places the parts in a row of a size: what became of it begins at middle,
// and nothing reaches beyond right. The detail has the whole line where nothing
// else is written in it. In a narrow window what became of it takes the detail's
// place.
func (r *Row) Layout(size fyne.Size, middle, right float32) {
	r.Back.Move(fyne.NewPos(RowInset, 1))
	r.Back.Resize(fyne.NewSize(size.Width-2*RowInset, size.Height-2))
	// All text of a line is centred in the same height, so that it stands on
	// nearly one base line in every size.
	const first, second, line, mark, gap = 4, 24, 20, 20, 16
	put := func(o fyne.CanvasObject, x, y, width float32) {
		o.Move(fyne.NewPos(x, y))
		o.Resize(fyne.NewSize(width, line))
	}
	left := float32(Edge + TimeWidth)
	put(r.Time, Edge, first, TimeWidth)
	put(r.Day, Edge, second, TimeWidth)
	if middle-left < narrow {
		put(r.Title, left, first, right-left)
		put(r.Shape, left, second, ShapeSize)
		put(r.Result, left+mark, second, right-left-mark)
		put(r.Detail, left, second, 0)
		put(r.More, left, second, 0)
		return
	}
	put(r.Title, left, first, middle-left-gap)
	put(r.Detail, left, second, Either(r.More.Text == "", right-left, middle-left-gap))
	put(r.Shape, middle, first, ShapeSize)
	put(r.Result, middle+mark, first, right-middle-mark)
	put(r.More, middle+mark, second, right-middle-mark)
}

// Said is what is written in the row, first what tells it from others.
func (r *Row) Said() string {
	var all []string
	for _, w := range []*TextLine{r.Title, r.Result, r.More, r.Day, r.Time, r.Detail} {
		if w.Text != "" {
			all = append(all, strings.ReplaceAll(w.Text, " · ", ", "))
		}
	}
	return strings.Join(all, ", ")
}

// Light colours the background that shows where the pointer is, and shows it or not.
func (r *Row) Light(on bool) {
	SetVisible(r.Back, on)
	r.Back.FillColor = Colour(base.ColorNameHover)
	r.Back.Refresh()
}
