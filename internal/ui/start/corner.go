package start

import (
	"image/color"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	base "fyne.io/fyne/v2/theme"

	"wiebelt/internal/native/screenreader"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/explore"
	"wiebelt/internal/ui/theme"
	"wiebelt/internal/ui/widgets"
)

// corners are the values of the setting card.corner, in the order of their positions.
var corners = [4]string{"top-left", "top-right", "bottom-left", "bottom-right"}

const (
	screenWidth, screenHeight = 176, 108
	spotWidth, spotHeight     = 52, 32
	spotInset                 = 8
	footHeight                = 12 // of the monitor stand
)

// cornerPicker is a small drawing of the screen to choose a corner from, by pointer or
// arrow keys. Only for the UI thread.
type cornerPicker struct {
	widgets.FocusableSpots
	chosen int    // index of corners
	name   string // for screen readers, like names
	names  [len(corners)]string
	picked func(corner string)
}

var (
	_ fyne.Tappable  = (*cornerPicker)(nil)
	_ fyne.Focusable = (*cornerPicker)(nil)
)

func newCornerPicker(l text.Language, picked func(string)) *cornerPicker {
	p := &cornerPicker{chosen: 3, name: l.T(text.StartCorner), picked: picked}
	for i, c := range corners {
		p.names[i] = l.T(text.SettingsWindowChoice("card.corner", c))
	}
	p.Extend(p, cornerAt)
	return p
}

func (p *cornerPicker) set(corner string, locked bool) {
	if i := slices.Index(corners[:], corner); i >= 0 {
		p.chosen = i
	}
	p.Locked = locked
	p.Refresh()
}

func (p *cornerPicker) pick(i int) {
	if p.Locked {
		return
	}
	p.chosen = i
	p.Refresh()
	p.picked(corners[i])
}

// cornerAt returns the corner at a position; each has a quarter of the drawing.
func cornerAt(pos fyne.Position) int {
	i := 0
	if pos.X >= screenWidth/2 {
		i++
	}
	if pos.Y >= screenHeight/2 {
		i += 2
	}
	return i
}

// Tapped implements fyne.Tappable.
func (p *cornerPicker) Tapped(e *fyne.PointEvent) {
	if e.Position.X <= screenWidth && e.Position.Y <= screenHeight {
		p.pick(cornerAt(e.Position))
	}
}

// TypedKey implements fyne.Focusable.
func (p *cornerPicker) TypedKey(e *fyne.KeyEvent) {
	next := p.chosen
	switch e.Name {
	case fyne.KeyLeft:
		next &^= 1
	case fyne.KeyRight:
		next |= 1
	case fyne.KeyUp:
		next &^= 2
	case fyne.KeyDown:
		next |= 2
	case fyne.KeySpace, fyne.KeyReturn, fyne.KeyEnter: // shows the test card again
	default:
		widgets.PassEscape(p, e)
		return
	}
	p.pick(next)
}

// Describe implements explore.Describer.
func (p *cornerPicker) Describe() explore.Description {
	s := explore.Description{Role: screenreader.Group, State: screenreader.Focusable, Name: p.name, Disabled: p.Locked, Leaf: true}
	for i, name := range p.names {
		c := explore.Description{Role: screenreader.Radio, State: screenreader.Focusable, Name: name, Key: i, Leaf: true, Disabled: p.Locked,
			Focused: p.Focused && i == p.chosen, Press: func() { p.pick(i) }}
		if i == p.chosen {
			c.State |= screenreader.Checked
		}
		x, y := spot(i)
		s.Parts = append(s.Parts, explore.Part{Description: c, At: fyne.NewPos(x, y), Size: fyne.NewSize(spotWidth, spotHeight)})
	}
	return s
}

// CreateRenderer implements fyne.Widget.
func (p *cornerPicker) CreateRenderer() fyne.WidgetRenderer {
	screen, neck, foot, ring := canvas.NewRectangle(nil), canvas.NewRectangle(nil), canvas.NewRectangle(nil), canvas.NewRectangle(nil)
	screen.CornerRadius, screen.StrokeWidth = 6, 2
	foot.CornerRadius = 2
	ring.CornerRadius, ring.StrokeWidth, ring.FillColor = 8, 2, color.Transparent
	parts := []fyne.CanvasObject{ring, neck, foot, screen}
	var spots, strips [len(corners)]*canvas.Rectangle
	for i := range corners {
		spots[i], strips[i] = canvas.NewRectangle(nil), canvas.NewRectangle(nil)
		spots[i].CornerRadius, spots[i].StrokeWidth = 3, 1
		parts = append(parts, spots[i], strips[i])
	}
	put := func(o *canvas.Rectangle, x, y, w, h float32) {
		o.Move(fyne.NewPos(x, y))
		o.Resize(fyne.NewSize(w, h))
	}
	return widgets.Draw(p, widgets.Drawing{Parts: parts,
		Least: func() fyne.Size { return fyne.NewSize(screenWidth, screenHeight+footHeight) },
		Arrange: func(fyne.Size) {
			put(screen, 0, 0, screenWidth, screenHeight)
			put(neck, screenWidth/2-10, screenHeight, 20, footHeight-4)
			put(foot, screenWidth/2-30, screenHeight+footHeight-4, 60, 4)
			put(ring, -4, -4, screenWidth+8, screenHeight+8)
			for i := range corners {
				x, y := spot(i)
				put(spots[i], x, y, spotWidth, spotHeight)
				put(strips[i], x, y, 4, spotHeight)
			}
		},
		Paint: func(colour func(fyne.ThemeColorName) color.Color) {
			quiet, primary := colour(theme.ColorQuiet), colour(base.ColorNamePrimary)
			screen.FillColor, screen.StrokeColor = colour(theme.ColorSoft), quiet
			neck.FillColor, foot.FillColor = quiet, quiet
			ring.StrokeColor, ring.Hidden = primary, !p.Focused
			for i, s := range spots {
				s.FillColor, s.StrokeColor = color.Transparent, quiet
				switch i {
				case p.chosen:
					s.FillColor, s.StrokeColor = colour(base.ColorNameBackground), primary
				case p.HoveredSpot:
					s.FillColor, s.StrokeColor = colour(base.ColorNameHover), primary
				}
				strips[i].FillColor, strips[i].Hidden = primary, i != p.chosen
			}
		}})
}

func spot(i int) (x, y float32) {
	x, y = spotInset, spotInset
	if i&1 != 0 {
		x = screenWidth - spotInset - spotWidth
	}
	if i&2 != 0 {
		y = screenHeight - spotInset - spotHeight
	}
	return x, y
}
