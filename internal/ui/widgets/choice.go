package widgets

import (
	"image/color"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	base "fyne.io/fyne/v2/theme"

	"wiebelt/internal/native/screenreader"
	"wiebelt/internal/ui/explore"
)

const (
	OptionPad    = 12 // of a word on both sides
	ChoiceHeight = 36 // height of a choice, and of a button
)

// Choice is a row of words, or several rows in a narrow window, with one of the words selected
// and underlined. It is changed by click, or by the arrow keys while it has the focus.
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

type wordPlace struct {
	at   fyne.Position
	size fyne.Size
}

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

// places returns the place of each word in a width, and the size of all; 0 is any width.
func (c *Choice) places(width float32) (all []wordPlace, size fyne.Size) {
	var next fyne.Position
	for _, w := range c.words {
		word := fyne.NewSize(w.MinSize().Width+2*OptionPad, ChoiceHeight)
		if next.X > 0 && width > 0 && next.X+word.Width > width+0.5 {
			next = fyne.NewPos(0, next.Y+ChoiceHeight)
		}
		all = append(all, wordPlace{next, word})
		next.X += word.Width
		size = size.Max(fyne.NewSize(next.X, next.Y+ChoiceHeight))
	}
	return all, size
}

// Width returns the width of all words in one row.
func (c *Choice) Width() float32 {
	_, size := c.places(0)
	return size.Width
}

// at returns the word at a position, -1 for none.
func (c *Choice) at(p fyne.Position) int {
	all, _ := c.places(c.Size().Width)
	return slices.IndexFunc(all, func(w wordPlace) bool {
		in := p.Subtract(w.at)
		return in.X >= 0 && in.X < w.size.Width && in.Y >= 0 && in.Y < w.size.Height
	})
}

func (c *Choice) choose(i int) {
	if i >= 0 && i < len(c.words) && i != c.selected {
		c.onChosen(i)
	}
}

// Cursor implements desktop.Cursorable.
func (c *Choice) Cursor() desktop.Cursor {
	return Either[desktop.Cursor](c.Hover(), desktop.PointerCursor, desktop.DefaultCursor)
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
	all, _ := c.places(c.Size().Width)
	for i, w := range c.words {
		t := explore.Description{Role: screenreader.Tab, State: screenreader.Focusable, Name: w.Text, Key: i, Leaf: true,
			Press: func() { c.choose(i) }, Focused: c.Focused && i == c.selected, Position: [2]int{i + 1, len(c.words)}}
		if i == c.selected {
			t.State |= screenreader.Selected
		}
		s.Parts = append(s.Parts, explore.Part{Description: t, At: all[i].at, Size: all[i].size})
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

// minSize returns the width of the widest word, and the height of all in the present width.
func (c *Choice) minSize() fyne.Size {
	all, size := c.places(c.Size().Width)
	size.Width = 0
	for _, w := range all {
		size.Width = max(size.Width, w.size.Width)
	}
	return size.Max(fyne.NewSize(0, ChoiceHeight))
}

func (c *Choice) arrange(size fyne.Size) {
	all, whole := c.places(size.Width)
	for i, w := range c.words {
		at, width := all[i].at.AddXY(OptionPad, 0), w.MinSize().Width
		w.Move(at.AddXY(0, (ChoiceHeight-20)/2))
		w.Resize(fyne.NewSize(width, 20))
		if i == c.selected {
			c.line.Move(at.AddXY(0, ChoiceHeight-4))
			c.line.Resize(fyne.NewSize(width, 2))
		}
	}
	c.ring.Resize(whole)
}
