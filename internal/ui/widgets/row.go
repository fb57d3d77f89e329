package widgets

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	base "fyne.io/fyne/v2/theme"

	"wiebelt/internal/ui/theme"
)

// RowHeight is the height of a list row with two lines.
const RowHeight = 48

const (
	RowMinWidth = 320 // of a list row
	narrow      = 240 // the width below which a name does not fit beside the result
	numberWidth = 140 // fits the telephone number that a detail begins with
)

// Row holds the parts of a list row: the time, who or what with a detail below,
// and the result after a mark. The list's own widget contains it, handles
// clicks and sets the texts.
type Row struct {
	Back                                   *canvas.Rectangle // highlights the row under the pointer
	Shape                                  *Shape
	Time, Day, Title, Detail, Result, More *TextLine
	Indent                                 float32 // of all but time and day
	Describes                              bool    // more describes an action, which begins at right
}

// NewRow returns an empty row.
func NewRow() Row {
	back := canvas.NewRectangle(nil)
	back.CornerRadius = 4
	hint := func() *TextLine { return NewTextLine("", theme.SizeHint, base.ColorNamePlaceHolder, false).Truncate() }
	return Row{
		Back: back, Shape: NewShape(MarkNone),
		Time:   NewTextLine("", base.SizeNameText, base.ColorNameForeground, false),
		Day:    NewTextLine("", base.SizeNameCaptionText, base.ColorNamePlaceHolder, false),
		Title:  NewTextLine("", theme.SizeRow, base.ColorNameForeground, true).Truncate(),
		Detail: hint(), Result: hint(), More: hint(),
	}
}

// Objects returns the parts, background first.
func (r *Row) Objects() []fyne.CanvasObject {
	return []fyne.CanvasObject{r.Back, r.Time, r.Day, r.Title, r.Detail, r.Shape, r.Result, r.More}
}

// Layout places the parts in a row: the result starts at middle, and no text extends beyond
// right. The detail gets the whole line if it has no other text. In a narrow window the name
// ends at right too, or before what describes an action; below it the result, the detail and
// more share the line up to the window's edge, and at least the number that the detail begins
// with stays.
func (r *Row) Layout(size fyne.Size, middle, right float32) (narrowed bool) {
	r.Back.Move(fyne.NewPos(RowInset, 1))
	r.Back.Resize(fyne.NewSize(size.Width-2*RowInset, size.Height-2))
	// All texts of a line are centred in the same height, so that their baselines
	// nearly match in every size.
	const first, second, line, mark, gap = 4, 24, 20, 20, 16
	put := func(o fyne.CanvasObject, x, y, width float32) {
		o.Move(fyne.NewPos(x, y))
		o.Resize(fyne.NewSize(width, line))
	}
	left := Edge + TimeWidth + r.Indent
	put(r.Time, Edge, first, TimeWidth)
	put(r.Day, Edge, second, TimeWidth)
	if middle-Edge-TimeWidth < narrow {
		end := right
		if r.Describes {
			end -= r.More.Width() + 1
			put(r.More, end, first, right-end)
			end -= gap
		}
		put(r.Title, left, first, end-left)
		put(r.Shape, left, second, ShapeSize)
		x := left + Either[float32](r.Shape.mark == MarkNone, 0, mark)
		r.shareLine(x, size.Width-Edge, gap, func(t *TextLine, x, width float32) { put(t, x, second, width) })
		return true
	}
	put(r.Title, left, first, middle-left-gap)
	put(r.Detail, left, second, Either(r.More.Text == "", right-left, middle-left-gap))
	put(r.Shape, middle, first, ShapeSize)
	put(r.Result, middle+mark, first, right-middle-mark)
	put(r.More, middle+mark, second, right-middle-mark)
	return false
}

// shareLine puts the result, the detail and more beside each other from x to end, and keeps
// the number that the detail begins with.
func (r *Row) shareLine(x, end, gap float32, put func(t *TextLine, x, width float32)) {
	const least = 40 // less cannot be read
	whole := func(t *TextLine) float32 { return Either(t.Text == "", 0, t.Width()+1) }
	// place puts a text at x and leaves room for what follows it.
	place := func(t *TextLine, after float32) {
		width := min(whole(t), end-x-Either(after == 0, 0, after+gap))
		if width < min(whole(t), least) {
			width = 0
		}
		put(t, x, width)
		if width > 0 {
			x += width + gap
		}
	}
	number, _, longer := strings.Cut(r.Detail.Text, separator)
	kept := min(whole(r.Detail), numberWidth, r.Detail.measure(number+Either(longer, "…", "")).Width+1)
	place(r.Result, kept)
	if r.Describes {
		place(r.Detail, 0)
		return
	}
	place(r.Detail, max(0, min(whole(r.More), end-x-kept-gap)))
	place(r.More, 0)
}

// SpokenText returns the row's text for screen readers, most distinctive part first.
func (r *Row) SpokenText() string {
	var all []string
	for _, w := range []*TextLine{r.Title, r.Result, r.More, r.Day, r.Time, r.Detail} {
		if w.Text != "" {
			all = append(all, strings.ReplaceAll(w.Text, " · ", ", "))
		}
	}
	return strings.Join(all, ", ")
}

// Highlight shows or hides the highlight of the row under the pointer.
func (r *Row) Highlight(on bool) {
	SetVisible(r.Back, on)
	r.Back.FillColor = Colour(base.ColorNameHover)
	r.Back.Refresh()
}
