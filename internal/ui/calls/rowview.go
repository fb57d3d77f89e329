package calls

import (
	"image/color"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	base "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"wiebelt/internal/native/screenreader"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/explore"
	"wiebelt/internal/ui/theme"
	"wiebelt/internal/ui/widgets"
)

// Measures of a row, in units.
const (
	rowHeight     = widgets.RowHeight
	rowMaxWidth   = 960 // beyond this, text is too far right to be read with the row
	headingHeight = 32
	resultWidth   = 220
	toolWidth     = 32
	toolSize      = 18
	personIndent  = 20 // indent of people below their call
)

type tool uint8

const (
	toolTick tool = iota
	toolCall
	toolCopy
	toolMore
	toolCount
	toolUndo // instead of the others
	toolName // the name, which opens the file
	toolNone
)

var words = map[tool]text.Key{toolTick: text.CallsMenuTick, toolCall: text.CallsMenuCall, toolCopy: text.CallsMenuCopy}

// rowView shows one call. It handles clicks itself, because its parts form one
// hover target: a button inside would take the pointer from the row, and the
// row would hide it again.
type rowView struct {
	widgets.PointerWidget // at its tools
	calls                 *window
	n                     int  // which call of the list
	row                   row  // what is written
	known                 bool // it has been read
	since                 time.Time
	narrow                bool // its tools are on the first of its lines only

	widgets.Row
	ring  *canvas.Rectangle
	icons [toolCount]*widget.Icon
	undo  *widgets.TextLine
}

var (
	_ fyne.Tappable          = (*rowView)(nil)
	_ fyne.SecondaryTappable = (*rowView)(nil)
)

func newRowView(c *window) *rowView {
	v := &rowView{calls: c, n: -1, Row: widgets.NewRow(), ring: canvas.NewRectangle(nil),
		undo: widgets.NewTextLine(c.host.Lang.T(text.CallsUndo), theme.SizeHint, base.ColorNamePrimary, false)}
	v.undo.Align = fyne.TextAlignTrailing
	v.ring.CornerRadius, v.ring.StrokeWidth = 4, 2
	for i := range v.icons {
		v.icons[i] = widget.NewIcon(nil)
	}
	v.Extend(v, func(p fyne.Position) int { return int(v.tool(p)) })
	return v
}

// set shows another call, or updates the current one.
func (v *rowView) set(n int, r row, known bool) {
	if n == v.n && r == v.row && known == v.known {
		return
	}
	if was := v.row; r.id != was.id || r.person != was.person || r.personContact != was.personContact || r.title != was.title ||
		r.undo != was.undo || r.removedText != was.removedText { // a click was meant for what was here
		v.since = v.calls.host.Now()
	}
	v.n, v.row, v.known = n, r, known
	v.Refresh()
}

func (v *rowView) copied() bool { return v.known && v.calls.copied == v.row.id }

func (v *rowView) has(t tool) bool {
	switch r := v.row; {
	case r.undo, r.person != 0:
		return false
	case t == toolTick:
		return r.open
	case t == toolCall:
		return r.callable && v.calls.state.CallBack
	case t == toolCopy:
		return r.hasNumber
	}
	return t == toolMore
}

func (v *rowView) width() float32 { return min(v.Size().Width, rowMaxWidth) }

func (v *rowView) tool(p fyne.Position) tool {
	right := v.width() - widgets.RowInset
	left := right - float32(toolCount)*toolWidth
	if p.X >= left && p.X < right && (!v.narrow || p.Y < rowHeight/2) {
		if v.row.undo {
			return toolUndo
		}
		if t := tool((p.X - left) / toolWidth); t < toolCount && v.has(t) {
			return t
		}
	}
	at := v.Title.Position()
	if v.row.openable && !v.row.undo && (v.row.person > 0 || p.X >= at.X && p.X < at.X+min(v.Title.Width(), v.Title.Size().Width) && p.Y < at.Y+v.Title.Size().Height) {
		return toolName
	}
	return toolNone
}

// Tapped implements fyne.Tappable: any click chooses its row.
func (v *rowView) Tapped(e *fyne.PointEvent) {
	if !v.known || v.calls.host.Now().Sub(v.since) < widgets.SettleTime {
		return
	}
	r := v.row // choosing it may change the row displayed here
	t := v.tool(e.Position)
	v.calls.focusByPointer(v.n)
	switch t {
	case toolTick:
		v.calls.tick(r, v.calls.callsOf(r))
	case toolCall:
		v.calls.callBack(r)
	case toolCopy:
		v.calls.copy(r)
	case toolMore:
		v.calls.menu(r, e.AbsolutePosition)
	case toolUndo, toolName:
		v.calls.act(r)
	default:
		if r.several && !r.undo {
			v.calls.act(r)
		}
	}
}

// TappedSecondary implements fyne.SecondaryTappable.
func (v *rowView) TappedSecondary(e *fyne.PointEvent) {
	if v.known {
		r := v.row
		v.calls.focusByPointer(v.n)
		v.calls.menu(r, e.AbsolutePosition)
	}
}

func (v *rowView) isHovered(t tool) bool { return v.HoveredSpot == int(t) }

// Cursor implements desktop.Cursorable.
func (v *rowView) Cursor() desktop.Cursor {
	if v.known && (v.Hover() && !v.isHovered(toolNone) || v.row.several) {
		return desktop.PointerCursor
	}
	return desktop.DefaultCursor
}

// Describe implements explore.Describer.
func (v *rowView) Describe() explore.Description {
	l := v.calls.list
	s := explore.Description{Role: screenreader.Item, State: screenreader.Focusable, Leaf: true, Name: v.SpokenText(),
		Key:      rowKey{v.row.id, v.row.person},
		Position: [2]int{v.n + 1, v.calls.listLayout.total()}, Focused: l.focused && v.n == v.calls.focusIndex, Disabled: !v.known}
	if !v.known {
		s.Key = v.n
	}
	if v.row.undo {
		s.Help = v.undo.Text
	}
	if v.row.several {
		s.State |= screenreader.Expandable | widgets.Either(v.calls.people.Entry == v.row.id, screenreader.Expanded, 0)
	}
	if r := v.row; v.known {
		s.Press = func() { v.calls.act(r) }
	}
	return s
}

// CreateRenderer implements fyne.Widget.
func (v *rowView) CreateRenderer() fyne.WidgetRenderer {
	return widgets.Draw(v, widgets.Drawing{Parts: append(v.Row.Objects(), v.ring, v.icons[0], v.icons[1], v.icons[2], v.icons[3], v.undo),
		Least:   func() fyne.Size { return fyne.NewSize(widgets.RowMinWidth, rowHeight) },
		Arrange: v.arrange, Paint: v.paint})
}

func (v *rowView) arrange(size fyne.Size) {
	size.Width = min(size.Width, rowMaxWidth)
	end := size.Width - widgets.RowInset
	right := end - float32(toolCount)*toolWidth
	v.Indent = widgets.Either[float32](v.row.person == 0, 0, personIndent) // people are below the call's name
	v.narrow = v.Row.Layout(size, right-resultWidth, right)
	middle := widgets.Either[float32](v.narrow, v.Title.Position().Y+v.Title.Size().Height/2, size.Height/2)
	v.ring.Move(v.Back.Position())
	v.ring.Resize(v.Back.Size())
	for i, icon := range v.icons {
		icon.Move(fyne.NewPos(right+float32(i)*toolWidth+(toolWidth-toolSize)/2, middle-toolSize/2))
		icon.Resize(fyne.NewSquareSize(toolSize))
	}
	v.undo.Move(fyne.NewPos(right, middle-10))
	v.undo.Resize(fyne.NewSize(end-right-widgets.RowInset, 20))
}

func (v *rowView) paint(colour func(fyne.ThemeColorName) color.Color) {
	list := v.calls.list
	chosen := v.n == v.calls.focusIndex && list != nil && list.focused
	v.Highlight(v.known && (v.Hover() || chosen))
	widgets.SetVisible(v.ring, v.known && chosen && list.keyboardUsed)
	v.ring.StrokeColor = colour(base.ColorNamePrimary)
	v.showCall()
	v.showResult()
	for i, icon := range v.icons {
		t := tool(i)
		shown := v.known && v.has(t) && (v.Hover() || chosen || v.row.open && t <= toolCall) || t == toolCopy && v.copied()
		widgets.SetVisible(icon, shown)
		if shown {
			icon.SetResource(v.icon(t))
		}
	}
	widgets.SetVisible(v.undo, v.known && v.row.undo)
}

// showCall displays when the call was, who called and on which line.
func (v *rowView) showCall() {
	v.Time.SetText(widgets.Either(v.row.person == 0, v.row.time, ""), base.ColorNameForeground)
	v.Day.SetText(widgets.Either(v.row.person == 0, v.row.day, ""), base.ColorNamePlaceHolder)
	title := base.ColorNameForeground
	switch {
	case v.row.removedText != "":
		title = base.ColorNamePlaceHolder
	case v.isHovered(toolName), v.row.several && v.isHovered(toolNone):
		title = base.ColorNamePrimary
	}
	v.Title.SetText(v.row.title, title)
	switch {
	case v.copied():
		v.Detail.SetText(v.calls.host.Lang.T(text.WindowCallsCopied), base.ColorNameSuccess)
	case v.known && v.row.person == 0 && v.calls.lookupEntry.ID == v.row.id:
		v.Detail.SetText(v.calls.host.Lang.T(text.CallsLooking), base.ColorNamePlaceHolder)
	default:
		v.Detail.SetText(v.row.detail, base.ColorNamePlaceHolder)
	}
}

// showResult displays the result of the call, or the description of the tool under the pointer.
func (v *rowView) showResult() {
	result, mark, more := v.row.result, v.row.mark, v.row.more
	if v.row.removedText != "" {
		result, mark, more = v.row.removedText, widgets.MarkQuiet, ""
	}
	t := tool(v.HoveredSpot)
	if v.Describes = v.Hover() && words[t] != "" && v.has(t); v.Describes {
		more = v.calls.host.Lang.T(words[t])
	}
	v.Shape.Set(mark)
	if bold := v.row.open; v.Result.Bold != bold {
		v.Result.Bold = bold
		v.Result.Refresh()
	}
	v.Result.SetText(result, widgets.ColourOf(mark))
	v.More.SetText(more, base.ColorNamePlaceHolder)
}

func (v *rowView) icon(t tool) fyne.Resource {
	colour := widgets.Either(v.isHovered(t), base.ColorNamePrimary, base.ColorNamePlaceHolder)
	switch {
	case t == toolTick:
		return base.NewColoredResource(base.ConfirmIcon(), colour)
	case t == toolCall:
		return base.NewColoredResource(handset, colour)
	case t == toolMore:
		return base.NewColoredResource(base.MoreVerticalIcon(), colour)
	case v.copied():
		return base.NewColoredResource(base.ConfirmIcon(), base.ColorNameSuccess)
	}
	return base.NewColoredResource(base.ContentCopyIcon(), colour)
}

var handset = fyne.NewStaticResource("handset.svg", []byte(`<svg xmlns="http://www.w3.org/2000/svg" width="24" height="24" viewBox="0 0 24 24">`+
	`<path fill="#000000" d="M5.2 3 L8.6 3 Q9.6 3 9.8 4 L10.5 7.4 Q10.7 8.3 10 8.9 L8.2 10.5 Q10 13.9 13.5 15.8 L15.1 14 Q15.7 13.3 16.6 13.5 L20 14.2 Q21 14.4 21 15.4 `+
	`L21 18.8 Q21 21 18.8 21 Q12.2 20.4 7.9 16.1 Q3.6 11.8 3 5.2 Q3 3 5.2 3 Z"/></svg>`))
