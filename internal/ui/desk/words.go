package desk

import (
	"image/color"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	base "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// words is one line of text that follows the theme and ends in an ellipsis where
// it does not fit. Unlike a label it has no padding of its own, so it stands on
// the grid. Only for the UI thread.
type words struct {
	widget.BaseWidget
	text   string
	size   fyne.ThemeSizeName
	colour fyne.ThemeColorName
	bold   bool
	align  fyne.TextAlign
	cut    bool // may be narrower than its text
}

func newWords(text string, size fyne.ThemeSizeName, colour fyne.ThemeColorName, bold bool) *words {
	w := &words{text: text, size: size, colour: colour, bold: bold}
	w.ExtendBaseWidget(w)
	return w
}

// cutting makes the words fit any width.
func (w *words) cutting() *words {
	w.cut = true
	return w
}

// say changes text and colour, and repaints only if something did change.
func (w *words) say(text string, colour fyne.ThemeColorName) {
	if w.text == text && w.colour == colour {
		return
	}
	w.text, w.colour = text, colour
	w.Refresh()
}

func (w *words) style() fyne.TextStyle { return fyne.TextStyle{Bold: w.bold} }

// width is what the whole text needs.
func (w *words) width() float32 {
	return fyne.MeasureText(w.text, w.Theme().Size(w.size), w.style()).Width
}

// CreateRenderer implements fyne.Widget.
func (w *words) CreateRenderer() fyne.WidgetRenderer {
	r := &wordsRenderer{w: w, text: canvas.NewText("", nil)}
	r.Refresh()
	return r
}

type wordsRenderer struct {
	w    *words
	text *canvas.Text
}

func (r *wordsRenderer) Destroy()                     {}
func (r *wordsRenderer) Objects() []fyne.CanvasObject { return []fyne.CanvasObject{r.text} }

func (r *wordsRenderer) MinSize() fyne.Size {
	s := fyne.MeasureText(r.w.text, r.w.Theme().Size(r.w.size), r.w.style())
	if r.w.cut {
		s.Width = 0
	}
	return s
}

func (r *wordsRenderer) Layout(size fyne.Size) {
	r.text.Text = r.w.text
	if r.w.cut {
		r.text.Text = fit(r.w.text, size.Width, func(s string) float32 {
			return fyne.MeasureText(s, r.text.TextSize, r.text.TextStyle).Width
		})
	}
	r.text.Resize(size)
	r.text.Refresh()
}

func (r *wordsRenderer) Refresh() {
	th := r.w.Theme()
	r.text.Color = th.Color(r.w.colour, fyne.CurrentApp().Settings().ThemeVariant())
	r.text.TextSize = th.Size(r.w.size)
	r.text.TextStyle = r.w.style()
	r.text.Alignment = r.w.align
	r.Layout(r.w.Size())
}

// fit gives the longest beginning of s that is at most width wide, with an
// ellipsis if it is not all of it.
func fit(s string, width float32, measure func(string) float32) string {
	if measure(s) <= width+0.5 {
		return s
	}
	runes := []rune(s)
	low, high := 0, len(runes)-1
	for low < high {
		if middle := (low + high + 1) / 2; measure(string(runes[:middle])+"…") <= width {
			low = middle
		} else {
			high = middle - 1
		}
	}
	if low == 0 {
		return ""
	}
	return strings.TrimRight(string(runes[:low]), " ·") + "…"
}

// shape draws a mark in a square of 10 units.
type shape struct {
	widget.BaseWidget
	mark mark
}

const shapeSize = 10

func newShape(m mark) *shape {
	s := &shape{mark: m}
	s.ExtendBaseWidget(s)
	return s
}

func (s *shape) set(m mark) {
	if s.mark != m {
		s.mark = m
		s.Refresh()
	}
}

// colourOf is the colour in which a mark and its word are written.
func colourOf(m mark) fyne.ThemeColorName {
	switch m {
	case markRing:
		return base.ColorNamePrimary
	case markDot:
		return base.ColorNameSuccess
	case markTrouble:
		return base.ColorNameWarning
	}
	return base.ColorNamePlaceHolder
}

// CreateRenderer implements fyne.Widget.
func (s *shape) CreateRenderer() fyne.WidgetRenderer {
	r := &shapeRenderer{s: s, outer: canvas.NewCircle(nil), inner: canvas.NewCircle(nil), dash: canvas.NewRectangle(nil)}
	r.dash.CornerRadius = 1
	r.Refresh()
	return r
}

type shapeRenderer struct {
	s            *shape
	outer, inner *canvas.Circle
	dash         *canvas.Rectangle
}

func (r *shapeRenderer) Destroy()           {}
func (r *shapeRenderer) MinSize() fyne.Size { return fyne.NewSquareSize(shapeSize) }
func (r *shapeRenderer) Objects() []fyne.CanvasObject {
	return []fyne.CanvasObject{r.outer, r.inner, r.dash}
}

func (r *shapeRenderer) Layout(size fyne.Size) {
	x, y := (size.Width-shapeSize)/2, (size.Height-shapeSize)/2
	r.outer.Resize(fyne.NewSquareSize(shapeSize))
	r.outer.Move(fyne.NewPos(x, y))
	r.inner.Resize(fyne.NewSquareSize(4))
	r.inner.Move(fyne.NewPos(x+3, y+3))
	r.dash.Resize(fyne.NewSize(shapeSize, 2))
	r.dash.Move(fyne.NewPos(x, y+4))
}

func (r *shapeRenderer) Refresh() {
	m := r.s.mark
	c := r.s.Theme().Color(colourOf(m), fyne.CurrentApp().Settings().ThemeVariant())
	r.outer.Hidden = m == markNone || m == markDash
	r.inner.Hidden = m != markTarget
	r.dash.Hidden = m != markDash
	r.outer.StrokeColor, r.outer.StrokeWidth, r.outer.FillColor = c, 2, color.Transparent
	if m == markDot {
		r.outer.FillColor = c
	}
	r.inner.FillColor, r.dash.FillColor = c, c
	r.Layout(r.s.Size())
	r.outer.Refresh()
	r.inner.Refresh()
	r.dash.Refresh()
}
