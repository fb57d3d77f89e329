package card

import (
	"image"
	"log/slog"
	"time"

	"wiebelt/internal/core/engine"
	"wiebelt/internal/native/screenreader"
	"wiebelt/internal/text"
)

// Engine is the part of the engine that the cards use.
type Engine interface {
	Watch() <-chan struct{}
	Snapshot() *engine.Snapshot
	Do(engine.Action)
}

// Config is the appearance and placement of the cards.
type Config struct {
	Language   text.Language
	Appearance string // the setting ui.theme
	FileWord   string
	Support    string
	// Fields lists the fields of a contact in order; nil means all, an empty list only
	// name, number and link.
	Fields  []string
	Privacy Privacy
	Speech  Speech
	// Hidden hides all cards, while the session is locked or
	// set to quiet. Those still active appear afterwards.
	Hidden bool
	// HideFromCapture excludes the cards from screen sharing.
	HideFromCapture bool

	Corner  Corner
	Monitor string // "active", "primary" or a monitor's name
	// Corners are the corners of monitors with their own setting.
	Corners map[string]Corner
	Hotkeys map[Hotkey]string // their keys; "" and "off" mean none
	// UnderFullScreen holds cards back while a program fills their monitor.
	UnderFullScreen bool

	Log *slog.Logger
	Events
}

// Events are the callbacks of the cards, where set. They are called on the cards'
// goroutine and must not block.
type Events struct {
	// Moved: the user dragged the cards to another corner.
	Moved func(monitor string, to Corner)
	// HotkeyResult: the result of trying keys, or the desktop's decision; nil, or an error
	// that wraps window.ErrHotkeyTaken, window.ErrUnsupported or describes what is wrong.
	HotkeyResult func(h Hotkey, keys string, err error)
	// HeldBack: holding back behind a full-screen program begins or ends.
	HeldBack func(bool)
	// TreeChanged: what screen readers find on screen has changed. Nil while there is no
	// screen reader: then nothing is prepared for them.
	TreeChanged func(screenreader.Tree)
	// WentIdle: no card has been up for a while, and the data of the last ones was dropped.
	WentIdle func()
	// Painted: a card was presented on screen.
	Painted func(Painted)
}

// Painted reports that a state of a card is on screen.
type Painted struct {
	Card engine.Card
	At   time.Time
	Rect image.Rectangle // desktop pixels
	// OnScreen reads back what is visible there; Expected returns what should be.
	OnScreen func() (*image.RGBA, error)
	Expected func() *image.RGBA
}
