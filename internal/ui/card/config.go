package card

import (
	"image"
	"log/slog"
	"time"

	"wiebelt/internal/core/engine"
	"wiebelt/internal/native/screenreader"
	"wiebelt/internal/text"
)

// Engine is what the cards need of the engine.
type Engine interface {
	Watch() <-chan struct{}
	Snapshot() *engine.Snapshot
	Do(engine.Action)
}

// Appearance says when cards are dark.
type Appearance string

// The values of the setting ui.theme.
const (
	System Appearance = "system"
	Light  Appearance = "light"
	Dark   Appearance = "dark"
)

// Config is how the cards look and where they stand.
type Config struct {
	Language   text.Language
	Appearance Appearance
	FileWord   string
	Support    string
	// Fields are the fields of a contact in their order; nil is all of them, an
	// empty list none but name, number and link.
	Fields  []string
	Privacy Privacy
	Speech  Speech
	// Hidden shows nothing at all: the session is locked, or is to be quiet. Cards
	// that are still alive come up when it ends.
	Hidden bool
	// HideFromCapture keeps the cards out of screen sharing.
	HideFromCapture bool

	Corner  Corner
	Monitor string // "active", "primary" or a monitor's name
	// Corners are the corners of monitors that have one of their own.
	Corners map[string]Corner
	// Hotkey hands the keyboard to the newest card, or the one under the
	// pointer. HotkeyOpen opens the contact of that card, HotkeyHear has a screen
	// reader say it again, HotkeyClose takes it away. "" and "off" are none.
	Hotkey, HotkeyOpen, HotkeyHear, HotkeyClose string
	// UnderFullScreen holds cards back while a program fills the monitor they
	// would stand on.
	UnderFullScreen bool

	Log *slog.Logger
	Events
}

// Events are what the cards tell, where set. They are called on the cards'
// goroutine and must not block.
type Events struct {
	// Moved: the user dragged the cards to another corner.
	Moved func(monitor string, to Corner)
	// HotkeyResult: keys were tried, or the desktop has decided; nil, or an error that
	// wraps window.ErrHotkeyTaken, window.ErrUnsupported or says what is wrong.
	HotkeyResult func(h Hotkey, keys string, err error)
	// Held: holding back under a full screen begins or ends.
	Held func(bool)
	// Explored: what screen readers find on screen has changed. It is nil as long as
	// there is none: then nothing is made for them.
	Explored func(screenreader.Tree)
	// Rested: no card has been up for a while, and what the last ones were about is
	// forgotten.
	Rested func()
	// Painted: a card came on screen; the screen has the picture.
	Painted func(Painted)
}

// Painted says that a state of a card is on screen.
type Painted struct {
	Card engine.Card
	At   time.Time
	Rect image.Rectangle // desktop pixels
	// OnScreen reads back what is visible there; Wanted is what should be.
	OnScreen func() (*image.RGBA, error)
	Wanted   func() *image.RGBA
}
