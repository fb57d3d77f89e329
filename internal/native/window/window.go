// Package window makes native windows and reports what happens to them: cards, small
// windows that never take the keyboard by themselves, and ordinary ones with borders.
// Both show pictures and share pointer, keys, clipboard and painting. It draws nothing
// itself and knows no toolkit. The platforms are x11_*.go and *_windows.go, and for
// cards alone Wayland without an X server: wayland_layers.go and wayland_card.go.
//
// Concurrency: all methods of Display, Card and Frame may be called from any
// goroutine and return when the native system has been told; none of them waits
// for another program. Callbacks (handlers) come on one goroutine of the package,
// in the order in which things happened, and must not block.
package window

import (
	"errors"
	"fmt"
	"image"

	"wiebelt/internal/native/screenreader"
)

// Display is the connection to the desktop.
type Display interface {
	// NewCard makes a card, not shown yet, without decoration, in no task bar, that
	// never takes the keyboard by itself.
	NewCard(h CardHandler) (Card, error)
	// Monitors lists the monitors, primary first. Never empty.
	Monitors() []Monitor
	// Active is the index in Monitors of the monitor the user works on: that of
	// the focused window, else that of the pointer, else 0.
	Active() int
	// Dark reports whether the desktop prefers a dark appearance, HighContrast
	// whether it asks for high contrast.
	Dark() bool
	HighContrast() bool
	// LessMotion reports whether it asks for as little movement as can be.
	LessMotion() bool
	// FullScreen reports whether a program fills the monitor that covers area: a film,
	// a presentation, a game; false where the desktop cannot tell.
	FullScreen(area image.Rectangle) bool
	Kind() Kind
	// Hotkey asks the desktop for a key combination such as "Ctrl+Alt+W", which
	// then calls pressed on the package's goroutine wherever the keyboard is.
	// It returns an error that wraps ErrHotkeyTaken, ErrUnsupported or says what
	// is wrong with keys. Where another program has the last word (Wayland) told is
	// called with it on that goroutine, whenever it comes: nil or such an error.
	// release gives the keys back and may be called twice.
	Hotkey(keys string, pressed func(), told func(error)) (release func(), err error)
	// Copy puts text on the clipboard and keeps serving it until somebody else
	// copies something or the display is closed.
	Copy(text string) error
	// Done is closed when the connection has ended: by Close or because the
	// desktop went away. From then on every method that can fail returns
	// ErrClosed and no handler is called.
	Done() <-chan struct{}
	// Close ends the connection and every window of it.
	Close() error
}

// Kind is a kind of desktop, by how windows get onto it.
type Kind string

// The kinds. Under XWayland a compositor may say where its panels stand, or not.
const (
	Windows        Kind = "windows"
	X11            Kind = "x11"
	XWayland       Kind = "xwayland"
	XWaylandPanels Kind = "panels" // it does not say where they stand
	Layers         Kind = "layers" // Wayland without an X server, for cards only
)

// Monitor is one screen.
type Monitor struct {
	Name string
	// Area is the whole monitor, Work the part without panels, both in pixels
	// of the desktop's coordinates.
	Area, Work image.Rectangle
	// Scale is pixels per unit: 1 at 100 %.
	Scale float32
}

// MonitorOf is which of the monitors most of r lies on; -1 if it lies on none.
func MonitorOf(list []Monitor, r image.Rectangle) int {
	best, most := -1, 0
	for i, m := range list {
		if part := r.Intersect(m.Area); part.Dx()*part.Dy() > most {
			best, most = i, part.Dx()*part.Dy()
		}
	}
	return best
}

// Card is a small window that shows one picture.
type Card interface {
	// Show makes pic the window's content and brings the window up at r (desktop
	// pixels, same size as pic) above the others, in one step, without taking
	// the keyboard. On a window that is up it moves and repaints it without
	// raising it again. pic is not kept.
	Show(r image.Rectangle, pic *Picture) error
	// Update replaces the part of the content at p (window pixels) by pic. The
	// window must have been shown.
	Update(p image.Point, pic *Picture) error
	// Hide takes the window away. Hiding a hidden window does nothing.
	Hide() error
	// TakeKeyboard gives a shown window the keyboard and remembers where it was.
	// Only for a user who asked for it: nothing else here takes the keyboard.
	TakeKeyboard() error
	// GiveKeyboardBack puts the keyboard where it was; Hide does so as well. It
	// does nothing when the window does not have it.
	GiveKeyboardBack() error
	// HideFromCapture keeps the window out of screen sharing, or lets it be seen
	// again. ErrUnsupported where the desktop has no such thing.
	HideFromCapture(hide bool) error
	// OnScreen reads back from the screen what is really visible where the
	// window is, other windows included.
	OnScreen() (*image.RGBA, error)
	// Sync returns when the native system has carried out all that was asked.
	Sync() error
	// Close destroys the window.
	Close() error
}

// Explored says which node stands for a window, a Card or a Frame, in the trees that
// screen readers get from now on. It matters where they ask the window itself (Windows).
func Explored(w any, n screenreader.ID) {
	if w, ok := w.(interface{ explored(screenreader.ID) }); ok {
		w.explored(n)
	}
}

// CardHandler receives what the pointer does over a card. Positions are window
// pixels. It is called on the package's goroutine and must not block.
type CardHandler interface {
	PointerMoved(p image.Point)
	PointerLeft()
	PointerPressed(p image.Point, b Button)
	PointerReleased(p image.Point, b Button)
	Scrolled(p image.Point, steps int) // positive: away from the user
	// KeyPressed is called while the window has the keyboard, KeyboardGone when
	// it has lost it, by GiveKeyboardBack or otherwise.
	KeyPressed(k KeyPress)
	KeyboardGone()
	// DisplayChanged tells that monitors, scale, text size or
	// appearance have changed.
	DisplayChanged()
}

// Button is a button of the pointer.
type Button uint8

// The buttons that matter.
const (
	Left Button = iota + 1
	Middle
	Right
)

// Picture is an opaque picture in the native order of both platforms: rows from
// the top, four bytes a pixel, blue green red and one unused, no padding.
type Picture struct {
	W, H int
	Pix  []byte // len 4*W*H
}

// NewPicture makes a picture of w by h pixels, reusing the memory of old where
// it suffices. old may be nil and must not be used afterwards.
func NewPicture(w, h int, old *Picture) *Picture {
	n := 4 * w * h
	if old != nil && cap(old.Pix) >= n {
		old.W, old.H, old.Pix = w, h, old.Pix[:n]
		return old
	}
	return &Picture{W: w, H: h, Pix: make([]byte, n)}
}

// put copies another picture to p, as far as there is room.
func (pic *Picture) put(p image.Point, from *Picture) {
	w := min(from.W, pic.W-p.X)
	for y := range min(from.H, pic.H-p.Y) {
		if w > 0 {
			copy(pic.Pix[4*((p.Y+y)*pic.W+p.X):][:4*w], from.Pix[4*y*from.W:])
		}
	}
}

// ErrNoDisplay is returned by Open where there is no desktop to draw on.
var ErrNoDisplay = errors.New("no display")

// ErrWayland is returned by Open on a Wayland desktop that has no X server, and by
// OpenCards where that has no layers either: no program may put a window in a corner
// there. It wraps ErrNoDisplay.
var ErrWayland = fmt.Errorf("%w: Wayland without an X server", ErrNoDisplay)

// ErrClosed is returned by everything asked of a display or window that was
// closed or whose desktop went away.
var ErrClosed = errors.New("display closed")

// ended tells that the connection of a display has: done is closed then.
type ended struct{ done chan struct{} }

func (e ended) Done() <-chan struct{} { return e.done }

// alive is nil while there is a connection.
func (e ended) alive() error {
	select {
	case <-e.done:
		return ErrClosed
	default:
		return nil
	}
}

// errNotShown is the answer to what only a shown window can do.
var errNotShown = errors.New("window was never shown")

var (
	errBroken  = errors.New("broken picture")
	errOutside = errors.New("part lies outside the window")
)

// fits checks that pic is whole and as large as r.
func fits(r image.Rectangle, pic *Picture) error {
	switch {
	case pic == nil || pic.W <= 0 || pic.H <= 0 || len(pic.Pix) != 4*pic.W*pic.H:
		return errBroken
	case r.Dx() != pic.W || r.Dy() != pic.H:
		return errors.New("picture and place differ in size")
	case pic.W > maxSide || pic.H > maxSide || r.Min.X < -maxSide || r.Min.Y < -maxSide || r.Max.X > maxSide || r.Max.Y > maxSide:
		return errors.New("place beyond what a desktop can have")
	}
	return nil
}

// partOf is the part of a window that pic goes to at p, if pic is whole.
func partOf(p image.Point, pic *Picture) (image.Rectangle, error) {
	if pic == nil {
		return image.Rectangle{}, errBroken
	}
	r := image.Rectangle{Min: p, Max: p.Add(image.Pt(pic.W, pic.H))}
	return r, fits(r, pic)
}

// maxSide is the largest coordinate X11 can express; Windows has more.
const maxSide = 1<<15 - 1
