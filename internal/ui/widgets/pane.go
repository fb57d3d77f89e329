package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"wiebelt/internal/native/screenreader"
	"wiebelt/internal/ui/explore"
)

// Pane is a scrolling page that is read by keyboard too: while it has the focus, keys scroll it.
type Pane struct {
	widget.BaseWidget
	name   string // for screen readers
	scroll *container.Scroll
}

var _ fyne.Focusable = (*Pane)(nil)

// paneStep is how far an arrow key scrolls, and how much stays in sight when a page is turned.
const paneStep = 40

// NewPane returns a Pane around a scroll.
func NewPane(name string, scroll *container.Scroll) *Pane {
	p := &Pane{name: name, scroll: scroll}
	p.ExtendBaseWidget(p)
	return p
}

// FocusGained implements fyne.Focusable.
func (*Pane) FocusGained() {}

// FocusLost implements fyne.Focusable.
func (*Pane) FocusLost() {}

// TypedRune implements fyne.Focusable.
func (*Pane) TypedRune(rune) {}

// TypedKey implements fyne.Focusable.
func (p *Pane) TypedKey(e *fyne.KeyEvent) {
	y, page := p.scroll.Offset.Y, p.scroll.Size().Height-paneStep
	switch e.Name {
	case fyne.KeyDown:
		y += paneStep
	case fyne.KeyUp:
		y -= paneStep
	case fyne.KeyPageDown, fyne.KeySpace:
		y += page
	case fyne.KeyPageUp:
		y -= page
	case fyne.KeyHome:
		y = 0
	case fyne.KeyEnd:
		y = p.scroll.Content.MinSize().Height
	default:
		PassEscape(p, e)
		return
	}
	ScrollTo(p.scroll, y)
}

// Describe implements explore.Describer.
func (p *Pane) Describe() explore.Description {
	return explore.Description{Role: screenreader.Group, State: screenreader.Focusable, Name: p.name}
}

// CreateRenderer implements fyne.Widget.
func (p *Pane) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(p.scroll) }
