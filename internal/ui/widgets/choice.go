package widgets

import (
	"image/color"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	base "fyne.io/fyne/v2/theme"

	"wiebelt/internal/native/screenreader"
	"wiebelt/internal/ui/explore"
)

const (
	OptionPad    = 12 // of a word on both sides
	ChoiceHeight = 36 // height of a choice, and of a button
)

// Choice is a row of words, one of them selected and underlined. It is changed by click, or
// by the arrow keys while it has the focus.
type Choice struct {
	FocusableSpots
	Name     string // for screen readers
	onChosen func(int)
	words    []*TextLine
	selected int
	line     *canvas.Rectangle
	ring     *canvas.Rectangle
}

var (
	_ fyne.Focusable = (*Choice)(nil)
	_ fyne.Tappable  = (*Choice)(nil)
)

// NewChoice returns a choice without words; chosen receives the index that was clicked.
func NewChoice(chosen func(int)) *Choice {
	c := &Choice{onChosen: chosen, line: canvas.NewRectangle(nil), ring: canvas.NewRectangle(nil)}
	c.ring.StrokeWidth, c.ring.CornerRadius = 2, 4
	c.Extend(c, c.at)
	return c
}

// Set sets the words and the selected one.
func (c *Choice) Set(names []string, now int) {
	if now == c.selected && slices.EqualFunc(c.words, names, func(w *TextLine, name string) bool { return w.Text == name }) {
		return
	}
	c.words, c.selected = nil, now
	for _, n := range names {
		c.words = append(c.words, NewTextLine(n, base.SizeNameText, base.ColorNamePlaceHolder, false))
	}
	c.Refresh()
}

// at returns the word at a position.
func (c *Choice) at(p fyne.Position) int {
	x := float32(0)
	for i, w := range c.words {
		if x += w.MinSize().Width + 2*OptionPad; p.X < x {
			return i
		}
	}
	return len(c.words) - 1
}

func (c *Choice) choose(i int) {
	if i >= 0 && i < len(c.words) && i != c.selected {
		c.onChosen(i)
	}
}

// Tapped implements fyne.Tappable.
func (c *Choice) Tapped(e *fyne.PointEvent) { c.choose(c.at(e.Position)) }

// TypedKey implements fyne.Focusable.
func (c *Choice) TypedKey(e *fyne.KeyEvent) {
	switch e.Name {
	case fyne.KeyLeft:
		c.choose(c.selected - 1)
	case fyne.KeyRight:
		c.choose(c.selected + 1)
	default:
		PassEscape(c, e)
	}
}

// Describe implements explore.Describer.
func (c *Choice) Describe() explore.Description {
	s := explore.Description{Role: screenreader.TabList, State: screenreader.Focusable, Leaf: true, Name: c.Name}
	x := float32(0)
	for i, w := range c.words {
		width := w.MinSize().Width + 2*OptionPad
		t := explore.Description{Role: screenreader.Tab, State: screenreader.Focusable, Name: w.Text, Key: i, Leaf: true,
			Press: func() { c.choose(i) }, Focused: c.Focused && i == c.selected, Position: [2]int{i + 1, len(c.words)}}
		if i == c.selected {
			t.State |= screenreader.Selected
		}
		s.Parts = append(s.Parts, explore.Part{Description: t, At: fyne.NewPos(x, 0), Size: fyne.NewSize(width, c.Size().Height)})
		x += width
	}
	return s
}

// CreateRenderer implements fyne.Widget.
func (c *Choice) CreateRenderer() fyne.WidgetRenderer {
	var d *Drawing
	paint := func(colour func(fyne.ThemeColorName) color.Color) {
		c.line.FillColor, c.ring.StrokeColor = colour(base.ColorNamePrimary), colour(base.ColorNamePrimary)
		SetVisible(c.ring, c.Focused)
		parts := []fyne.CanvasObject{c.ring, c.line}
		for i, w := range c.words {
			w.SetText(w.Text, Either(i == c.selected || i == c.HoveredSpot, base.ColorNameForeground, base.ColorNamePlaceHolder))
			parts = append(parts, w)
		}
		d.Parts = parts
	}
	d = &Drawing{Least: c.minSize, Arrange: c.arrange, Paint: paint, of: c}
	d.Refresh()
	return d
}

func (c *Choice) minSize() fyne.Size {
	s := fyne.NewSize(0, ChoiceHeight)
	for _, w := range c.words {
		s.Width += w.MinSize().Width + 2*OptionPad
	}
	return s
}

func (c *Choice) arrange(size fyne.Size) {
	x := float32(0)
	for i, w := range c.words {
		width := w.MinSize().Width
		w.Move(fyne.NewPos(x+OptionPad, (size.Height-20)/2))
		w.Resize(fyne.NewSize(width, 20))
		if i == c.selected {
			c.line.Move(fyne.NewPos(x+OptionPad, size.Height-4))
			c.line.Resize(fyne.NewSize(width, 2))
		}
		x += width + 2*OptionPad
	}
	c.ring.Resize(size)
}
