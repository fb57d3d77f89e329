package desk

import (
	"strconv"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	base "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"wiebelt/internal/text"
	"wiebelt/internal/ui/theme"
)

// Measures of a row, in units.
const (
	rowHeight     = 52
	headingHeight = 36
	rowInset      = 12 // of the hover background, from the window's border
	timeWidth     = 80
	resultWidth   = 248
	copyWidth     = 40
	// settle is how long a click counts for the row that was there before.
	settle = 300 * time.Millisecond
)

// rowView shows one row, heading or call. It takes clicks itself, because the
// part that copies and the part that opens are one thing to point at: a button
// inside would take the pointer from the row, and the row would hide it again.
type rowView struct {
	widget.BaseWidget
	calls    *callsWindow
	row      row
	since    time.Time // since when it shows that row
	hover    bool
	overCopy bool

	back                                *canvas.Rectangle
	copy                                *widget.Icon
	shape                               *shape
	time, day, title, detail, res, long *words
}

var (
	_ fyne.Tappable      = (*rowView)(nil)
	_ desktop.Hoverable  = (*rowView)(nil)
	_ desktop.Cursorable = (*rowView)(nil)
)

func newRowView(c *callsWindow) *rowView {
	v := &rowView{calls: c, back: canvas.NewRectangle(nil), shape: newShape(markNone), copy: widget.NewIcon(nil)}
	muted := base.ColorNamePlaceHolder
	v.back.CornerRadius = 4
	v.time = newWords("", base.SizeNameText, base.ColorNameForeground, false)
	v.day = newWords("", base.SizeNameCaptionText, muted, false)
	v.title = newWords("", theme.SizeRow, base.ColorNameForeground, true).cutting()
	v.detail = newWords("", theme.SizeHint, muted, false).cutting()
	v.res = newWords("", theme.SizeHint, muted, false).cutting()
	v.long = newWords("", theme.SizeHint, muted, false)
	v.ExtendBaseWidget(v)
	return v
}

// set shows another row, or the same one anew.
func (v *rowView) set(r row) {
	if r.id != v.row.id || r.heading != v.row.heading {
		v.since = v.calls.d.now()
	}
	v.row = r
	v.Refresh()
}

func (v *rowView) copied() bool { return !v.row.heading && v.calls.copied == v.row.id }

// inCopy tells whether a position is over the part that copies the number.
func (v *rowView) inCopy(p fyne.Position) bool {
	right := v.Size().Width - rowInset
	return v.row.number != "" && p.X >= right-copyWidth && p.X < right
}

// Tapped implements fyne.Tappable.
func (v *rowView) Tapped(e *fyne.PointEvent) {
	switch {
	case v.row.heading || v.calls.d.now().Sub(v.since) < settle:
	case v.inCopy(e.Position):
		v.calls.copy(v.row)
	default:
		v.calls.open(v.row)
	}
}

// MouseIn implements desktop.Hoverable.
func (v *rowView) MouseIn(e *desktop.MouseEvent) {
	v.hover, v.overCopy = true, v.inCopy(e.Position)
	v.Refresh()
}

// MouseMoved implements desktop.Hoverable.
func (v *rowView) MouseMoved(e *desktop.MouseEvent) {
	if over := v.inCopy(e.Position); over != v.overCopy {
		v.overCopy = over
		v.Refresh()
	}
}

// MouseOut implements desktop.Hoverable.
func (v *rowView) MouseOut() {
	v.hover, v.overCopy = false, false
	v.Refresh()
}

// Cursor implements desktop.Cursorable.
func (v *rowView) Cursor() desktop.Cursor {
	if v.overCopy || v.row.openable && !v.row.heading {
		return desktop.PointerCursor
	}
	return desktop.DefaultCursor
}

// CreateRenderer implements fyne.Widget.
func (v *rowView) CreateRenderer() fyne.WidgetRenderer {
	r := &rowRenderer{v}
	r.Refresh()
	return r
}

type rowRenderer struct{ v *rowView }

func (r *rowRenderer) Destroy() {}

func (r *rowRenderer) MinSize() fyne.Size { return fyne.NewSize(440, rowHeight) }

func (r *rowRenderer) Objects() []fyne.CanvasObject {
	v := r.v
	return []fyne.CanvasObject{v.back, v.time, v.day, v.title, v.detail, v.shape, v.res, v.long, v.copy}
}

func (r *rowRenderer) Layout(size fyne.Size) {
	v := r.v
	if v.row.heading {
		y := size.Height - 24
		v.title.Move(fyne.NewPos(edge, y))
		v.title.Resize(fyne.NewSize(v.title.width()+1, 18))
		v.detail.Move(fyne.NewPos(edge+v.title.width()+8, y))
		v.detail.Resize(fyne.NewSize(80, 18))
		return
	}
	v.back.Move(fyne.NewPos(rowInset, 0))
	v.back.Resize(fyne.NewSize(size.Width-2*rowInset, size.Height))
	// All text of a line is centred in the same height, so that it stands on
	// nearly one base line in every size.
	const first, second, line = 5, 27, 20
	left := float32(edge + timeWidth)
	right := size.Width - rowInset - copyWidth
	middle := right - resultWidth
	put := func(o fyne.CanvasObject, x, y, width float32) {
		o.Move(fyne.NewPos(x, y))
		o.Resize(fyne.NewSize(width, line))
	}
	put(v.time, edge, first, timeWidth)
	put(v.day, edge, second, timeWidth)
	put(v.title, left, first, middle-left-16)
	put(v.detail, left, second, middle-left-16)
	put(v.shape, middle, first, shapeSize)
	put(v.res, middle+20, first, resultWidth-20)
	put(v.long, middle+20, second, resultWidth-20)
	v.copy.Move(fyne.NewPos(right+(copyWidth-18)/2, (size.Height-18)/2))
	v.copy.Resize(fyne.NewSquareSize(18))
}

func (r *rowRenderer) Refresh() {
	v := r.v
	th, variant := v.Theme(), fyne.CurrentApp().Settings().ThemeVariant()
	call := !v.row.heading
	for _, o := range []fyne.CanvasObject{v.time, v.day, v.shape, v.res, v.long} {
		visible(o, call)
	}
	visible(v.back, call && v.hover)
	visible(v.copy, call && (v.copied() || v.hover && v.row.number != ""))
	if !call {
		v.title.size = base.SizeNameCaptionText
		v.detail.size = base.SizeNameCaptionText
		v.title.say(v.row.title, base.ColorNameForeground)
		v.detail.say(strconv.Itoa(v.row.count), base.ColorNamePlaceHolder)
		r.Layout(v.Size())
		return
	}
	v.title.size, v.detail.size = theme.SizeRow, theme.SizeHint
	active := v.hover && v.row.openable && !v.overCopy
	v.back.FillColor = th.Color(base.ColorNameHover, variant)
	v.back.Refresh()
	v.time.say(v.row.time, base.ColorNameForeground)
	v.day.say(v.row.day, base.ColorNamePlaceHolder)
	v.title.say(v.row.title, pick(active, base.ColorNamePrimary, base.ColorNameForeground))
	v.detail.say(v.row.detail, base.ColorNamePlaceHolder)
	v.shape.set(v.row.mark)
	v.res.say(v.row.result, colourOf(v.row.mark))
	v.long.say(v.row.length, base.ColorNamePlaceHolder)
	if v.copied() {
		v.detail.say(v.calls.d.lang.T(text.DeskCallsCopied), base.ColorNameSuccess)
		v.copy.SetResource(base.NewColoredResource(base.ConfirmIcon(), base.ColorNameSuccess))
	} else if v.hover {
		v.copy.SetResource(base.NewColoredResource(base.ContentCopyIcon(),
			pick(v.overCopy, base.ColorNamePrimary, base.ColorNamePlaceHolder)))
	}
	r.Layout(v.Size())
}

func visible(o fyne.CanvasObject, yes bool) {
	if yes {
		o.Show()
	} else {
		o.Hide()
	}
}

func pick(first bool, a, b fyne.ThemeColorName) fyne.ThemeColorName {
	if first {
		return a
	}
	return b
}
