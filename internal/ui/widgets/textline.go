package widgets

import (
	"image/color"
	"sort"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/widget"

	"wiebelt/internal/ui/explore"
)

// TextLine is one line of text that follows the theme and ends in an ellipsis if it
// does not fit. Unlike a label it has no padding, so that it aligns with the grid.
// Only for the UI thread.
type TextLine struct {
	widget.BaseWidget
	Text   string
	size   fyne.ThemeSizeName
	Colour fyne.ThemeColorName
	Bold   bool
	Align  fyne.TextAlign
	cut    bool // may be narrower than its text
	middle bool // cut in the middle, keeping the end
}

// NewTextLine returns a line of text that needs its full width.
func NewTextLine(text string, size fyne.ThemeSizeName, colour fyne.ThemeColorName, bold bool) *TextLine {
	w := &TextLine{Text: text, size: size, Colour: colour, Bold: bold}
	w.ExtendBaseWidget(w)
	return w
}

// Truncate lets the text be cut to any width.
func (w *TextLine) Truncate() *TextLine {
	w.cut = true
	return w
}

// TruncateMiddle lets the text be cut to any width, keeping start and end, for file names.
func (w *TextLine) TruncateMiddle() *TextLine {
	w.cut, w.middle = true, true
	return w
}

// SetText changes text and colour, and repaints only if they differ.
func (w *TextLine) SetText(text string, colour fyne.ThemeColorName) {
	if w.Text == text && w.Colour == colour {
		return
	}
	w.Text, w.Colour = text, colour
	w.Refresh()
}

// Describe implements explore.Describer: the full text, even if it is cut.
func (w *TextLine) Describe() explore.Description {
	return explore.Text(w.Text, explore.LevelOf(w.size))
}

func (w *TextLine) style() fyne.TextStyle { return fyne.TextStyle{Bold: w.Bold} }

func (w *TextLine) measure(s string) fyne.Size {
	return fyne.MeasureText(s, w.Theme().Size(w.size), w.style())
}

// Width returns the width of the full text.
func (w *TextLine) Width() float32 { return w.measure(w.Text).Width }

// CreateRenderer implements fyne.Widget.
func (w *TextLine) CreateRenderer() fyne.WidgetRenderer {
	text := canvas.NewText("", nil)
	return Draw(w, Drawing{Parts: []fyne.CanvasObject{text},
		Least: func() fyne.Size {
			s := w.measure(w.Text)
			if w.cut {
				s.Width = 0
			}
			return s
		},
		Arrange: func(size fyne.Size) {
			text.Text = w.Text
			if w.cut {
				text.Text = fit(w.Text, size.Width, w.middle, func(s string) float32 { return w.measure(s).Width })
			}
			text.Resize(size)
			text.Refresh()
		},
		Paint: func(colour func(fyne.ThemeColorName) color.Color) {
			text.Color, text.TextSize = colour(w.Colour), w.Theme().Size(w.size)
			text.TextStyle, text.Alignment = w.style(), w.Align
		}})
}

// fit cuts s to at most width, with an ellipsis for what is left out: it keeps the start,
// or with middle, two parts of the start to one of the end.
func fit(s string, width float32, middle bool, measure func(string) float32) string {
	if measure(s) <= width+0.5 {
		return s
	}
	runes := []rune(s)
	kept := func(n int) string {
		end := 0
		if middle {
			end = n / 3
		}
		first, last := string(runes[:n-end]), string(runes[len(runes)-end:])
		return strings.TrimRight(first, " ·") + "…" + strings.TrimLeft(last, " ")
	}
	n := sort.Search(len(runes), func(n int) bool { return measure(kept(n)) > width }) - 1
	if n <= 0 {
		return ""
	}
	return kept(n)
}
