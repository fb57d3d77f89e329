package calls

import (
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	base "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"wiebelt/internal/text"
	"wiebelt/internal/ui/kit"
)

// Measures of a row, in units.
const (
	rowHeight     = kit.RowHeight
	rowLeast      = 600 // its least width
	headingHeight = 36
	resultWidth   = 220
	toolWidth     = 32
	toolSize      = 18
)

// tool is what can be done with a row at its end.
type tool uint8

const (
	toolCall tool = iota
	toolCopy
	toolMore
	tools
	toolNone = tools
)

// rowView shows one call. It takes clicks itself, because its parts are one thing
// to point at: a button inside would take the pointer from the row, and the row
// would hide it again.
type rowView struct {
	widget.BaseWidget
	calls *window
	n     int  // which call of the list
	row   row  // what is written
	known bool // it has been read
	since time.Time
	hover bool
	over  tool // what the pointer is over

	kit.Row
	ring  *canvas.Rectangle
	icons [tools]*widget.Icon
}

var (
	_ fyne.Tappable          = (*rowView)(nil)
	_ fyne.SecondaryTappable = (*rowView)(nil)
	_ desktop.Hoverable      = (*rowView)(nil)
	_ desktop.Cursorable     = (*rowView)(nil)
)

func newRowView(c *window) *rowView {
	v := &rowView{calls: c, n: -1, over: toolNone, Row: kit.NewRow(), ring: canvas.NewRectangle(nil)}
	v.ring.CornerRadius, v.ring.StrokeWidth = 4, 2
	for i := range v.icons {
		v.icons[i] = widget.NewIcon(nil)
	}
	v.ExtendBaseWidget(v)
	return v
}

// set shows another call, or the same one anew.
func (v *rowView) set(n int, r row, known bool) {
	if n == v.n && r == v.row && known == v.known {
		return
	}
	if r.id != v.row.id {
		v.since = v.calls.d.Now()
	}
	v.n, v.row, v.known = n, r, known
	v.Refresh()
}

func (v *rowView) copied() bool { return v.known && v.calls.copied == v.row.id }

// has tells whether the row offers a tool.
func (v *rowView) has(t tool) bool {
	switch t {
	case toolCall:
		return v.row.dial && v.calls.state.CallBack
	case toolCopy:
		return v.row.number
	}
	return t == toolMore
}

// tool is the tool at a position.
func (v *rowView) tool(p fyne.Position) tool {
	left := v.Size().Width - kit.RowInset - float32(tools)*toolWidth
	if p.X < left || p.X >= v.Size().Width-kit.RowInset {
		return toolNone
	}
	if t := tool((p.X - left) / toolWidth); t < tools && v.has(t) {
		return t
	}
	return toolNone
}

// Tapped implements fyne.Tappable.
func (v *rowView) Tapped(e *fyne.PointEvent) {
	if !v.known || v.calls.d.Now().Sub(v.since) < kit.Settle {
		return
	}
	switch v.tool(e.Position) {
	case toolCall:
		v.calls.callBack(v.row)
	case toolCopy:
		v.calls.copy(v.row)
	case toolMore:
		v.calls.pick(v.n)
		v.calls.menu(v.row, e.AbsolutePosition)
	default:
		v.calls.open(v.row)
	}
}

// TappedSecondary implements fyne.SecondaryTappable.
func (v *rowView) TappedSecondary(e *fyne.PointEvent) {
	if v.known {
		v.calls.pick(v.n)
		v.calls.menu(v.row, e.AbsolutePosition)
	}
}

// MouseIn implements desktop.Hoverable.
func (v *rowView) MouseIn(e *desktop.MouseEvent) {
	v.hover, v.over = true, v.tool(e.Position)
	v.Refresh()
}

// MouseMoved implements desktop.Hoverable.
func (v *rowView) MouseMoved(e *desktop.MouseEvent) {
	if over := v.tool(e.Position); over != v.over {
		v.over = over
		v.Refresh()
	}
}

// MouseOut implements desktop.Hoverable.
func (v *rowView) MouseOut() {
	v.hover, v.over = false, toolNone
	v.Refresh()
}

// Cursor implements desktop.Cursorable.
func (v *rowView) Cursor() desktop.Cursor {
	if v.known && (v.over != toolNone || v.row.openable) {
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

func (r *rowRenderer) MinSize() fyne.Size { return fyne.NewSize(rowLeast, rowHeight) }

func (r *rowRenderer) Objects() []fyne.CanvasObject {
	v := r.v
	return append(v.Row.Objects(), v.ring, v.icons[0], v.icons[1], v.icons[2])
}

func (r *rowRenderer) Layout(size fyne.Size) {
	v := r.v
	right := size.Width - kit.RowInset - float32(tools)*toolWidth
	v.Row.Layout(size, right-resultWidth, right)
	v.ring.Move(v.Back.Position())
	v.ring.Resize(v.Back.Size())
	for i, icon := range v.icons {
		icon.Move(fyne.NewPos(right+float32(i)*toolWidth+(toolWidth-toolSize)/2, (size.Height-toolSize)/2))
		icon.Resize(fyne.NewSquareSize(toolSize))
	}
}

func (r *rowRenderer) Refresh() {
	v := r.v
	th, variant := v.Theme(), fyne.CurrentApp().Settings().ThemeVariant()
	chosen := v.n == v.calls.chosen && v.calls.list != nil && v.calls.list.focused
	v.Light(v.known && (v.hover || chosen))
	kit.Visible(v.ring, v.known && chosen)
	v.ring.StrokeColor = th.Color(base.ColorNamePrimary, variant)
	v.ring.Refresh()
	active := v.hover && v.row.openable && v.over == toolNone
	v.Time.Say(v.row.time, base.ColorNameForeground)
	v.Day.Say(v.row.day, base.ColorNamePlaceHolder)
	v.Title.Say(v.row.title, kit.Either(active, base.ColorNamePrimary, base.ColorNameForeground))
	switch {
	case v.copied():
		v.Detail.Say(v.calls.d.Lang.T(text.DeskCallsCopied), base.ColorNameSuccess)
	case v.known && v.calls.looking == v.row.id:
		v.Detail.Say(v.calls.d.Lang.T(text.CallsLooking), base.ColorNamePlaceHolder)
	default:
		v.Detail.Say(v.row.detail, base.ColorNamePlaceHolder)
	}
	v.Shape.Set(v.row.mark)
	if v.Result.Bold != v.row.open {
		v.Result.Bold = v.row.open
		v.Result.Refresh()
	}
	v.Result.Say(v.row.result, kit.ColourOf(v.row.mark))
	v.More.Say(v.row.more, base.ColorNamePlaceHolder)
	for i, icon := range v.icons {
		t := tool(i)
		shown := v.known && (v.hover || chosen) && v.has(t) || t == toolCopy && v.copied()
		kit.Visible(icon, shown)
		if shown {
			icon.SetResource(v.icon(t))
		}
	}
	r.Layout(v.Size())
}

// icon is the picture of a tool as it looks now.
func (v *rowView) icon(t tool) fyne.Resource {
	colour := kit.Either(v.over == t, base.ColorNamePrimary, base.ColorNamePlaceHolder)
	switch {
	case t == toolCall:
		return base.NewColoredResource(handset, colour)
	case t == toolMore:
		return base.NewColoredResource(base.MoreVerticalIcon(), colour)
	case v.copied():
		return base.NewColoredResource(base.ConfirmIcon(), base.ColorNameSuccess)
	}
	return base.NewColoredResource(base.ContentCopyIcon(), colour)
}

// handset is the receiver of a telephone.
var handset = fyne.NewStaticResource("handset.svg", []byte(`<svg xmlns="http://www.w3.org/2000/svg" width="24" height="24" viewBox="0 0 24 24">`+
	`<path fill="#000000" d="M5.2 3 L8.6 3 Q9.6 3 9.8 4 L10.5 7.4 Q10.7 8.3 10 8.9 L8.2 10.5 Q10 13.9 13.5 15.8 L15.1 14 Q15.7 13.3 16.6 13.5 L20 14.2 Q21 14.4 21 15.4 `+
	`L21 18.8 Q21 21 18.8 21 Q12.2 20.4 7.9 16.1 Q3.6 11.8 3 5.2 Q3 3 5.2 3 Z"/></svg>`))
