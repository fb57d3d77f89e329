package desk

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
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
