package widgets

import (
	"sort"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/widget"

	"wiebelt/internal/ui/explore"
)

// TextLine is one line of text that follows the theme and ends in an ellipsis where
// it does not fit. Unlike a label it has no padding of its own, so it stands on
// the grid. Only for the UI thread.
type TextLine struct {
	widget.BaseWidget
	Text   string
	size   fyne.ThemeSizeName
	Colour fyne.ThemeColorName
	Bold   bool
	Align  fyne.TextAlign
	cut    bool // may be narrower than its text
	middle bool // and is cut there, so that its end stays
}

// NewTextLine is a line of words that needs its whole width.
func NewTextLine(text string, size fyne.ThemeSizeName, colour fyne.ThemeColorName, bold bool) *TextLine {
	w := &TextLine{Text: text, size: size, Colour: colour, Bold: bold}
	w.ExtendBaseWidget(w)
	return w
}

// Cutting makes the words fit any width.
func (w *TextLine) Cutting() *TextLine {
	w.cut = true
	return w
}

// CuttingMiddle makes the words fit any width and keeps how they begin and end, for
// names of files.
func (w *TextLine) CuttingMiddle() *TextLine {
	w.cut, w.middle = true, true
	return w
}

// Say changes text and colour, and repaints only if something did change.
func (w *TextLine) Say(text string, colour fyne.ThemeColorName) {
	if w.Text == text && w.Colour == colour {
		return
	}
	w.Text, w.Colour = text, colour
	w.Refresh()
}

// Explore implements explore.Speaker: all of the text, however much is cut.
func (w *TextLine) Explore() explore.Said { return explore.Text(w.Text, explore.LevelOf(w.size)) }

func (w *TextLine) style() fyne.TextStyle { return fyne.TextStyle{Bold: w.Bold} }

// Width is what the whole text needs.
func (w *TextLine) Width() float32 {
	return fyne.MeasureText(w.Text, w.Theme().Size(w.size), w.style()).Width
}

// CreateRenderer implements fyne.Widget.
func (w *TextLine) CreateRenderer() fyne.WidgetRenderer {
	r := &textLineRenderer{w: w, text: canvas.NewText("", nil)}
	r.Refresh()
	return r
}

type textLineRenderer struct {
	w    *TextLine
	text *canvas.Text
}

func (r *textLineRenderer) Destroy()                     {}
func (r *textLineRenderer) Objects() []fyne.CanvasObject { return []fyne.CanvasObject{r.text} }

func (r *textLineRenderer) MinSize() fyne.Size {
	s := fyne.MeasureText(r.w.Text, r.w.Theme().Size(r.w.size), r.w.style())
	if r.w.cut {
		s.Width = 0
	}
	return s
}

func (r *textLineRenderer) Layout(size fyne.Size) {
	r.text.Text = r.w.Text
	if r.w.cut {
		cut := Either(r.w.middle, fitMiddle, fit)
		r.text.Text = cut(r.w.Text, size.Width, func(s string) float32 {
			return fyne.MeasureText(s, r.text.TextSize, r.text.TextStyle).Width
		})
	}
	r.text.Resize(size)
	r.text.Refresh()
}

func (r *textLineRenderer) Refresh() {
	r.text.Color, r.text.TextSize = Colour(r.w.Colour), r.w.Theme().Size(r.w.size)
	r.text.TextStyle = r.w.style()
	r.text.Alignment = r.w.Align
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

// fitMiddle gives as much of the beginning and the end of s as is at most width
// wide, two parts of the first to one of the second, with an ellipsis between.
func fitMiddle(s string, width float32, measure func(string) float32) string {
	if measure(s) <= width+0.5 {
		return s
	}
	runes := []rune(s)
	kept := func(n int) string {
		end := n / 3
		return strings.TrimRight(string(runes[:n-end]), " ") + "…" + strings.TrimLeft(string(runes[len(runes)-end:]), " ")
	}
	n := sort.Search(len(runes), func(n int) bool { return measure(kept(n)) > width }) - 1
	if n <= 0 {
		return ""
	}
	return kept(n)
}
