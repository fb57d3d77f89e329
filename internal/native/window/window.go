// Package window creates native windows and reports their events: cards, small windows that
// never take the keyboard focus by themselves, and ordinary windows with borders. Both show
// pictures and share pointer, keys, clipboard and painting. It draws nothing itself and
// depends on no toolkit. The platforms are x11_*.go and *_windows.go, and for cards only,
// Wayland without an X server: wayland_layers.go and wayland_card.go.
//
// Concurrency: all methods of Display, Card and Frame may be called from any goroutine.
// They return once the request has been sent to the native system. None waits for another
// program, except that Copy and Paste wait briefly for whoever holds the clipboard.
// Callbacks (handlers) are called on one goroutine of the package, in the order of events,
// and must not block.
package window

import (
	"errors"
	"fmt"
	"image"
	"sync"

	"wiebelt/internal/native/screenreader"
)

// Display is the connection to the desktop.
type Display interface {
	// NewCard creates a card that is not shown yet. It has no decoration, is not in the task
	// bar, and never takes the focus by itself.
	NewCard(h CardHandler) (Card, error)
	// Monitors lists the monitors, primary first. The list is never empty.
	Monitors() []Monitor
	// Active returns the index in Monitors of the monitor on which the user is working: that
	// of the focused window, otherwise that of the pointer, otherwise 0.
	Active() int
	// Appearance returns how the desktop wants programs to look.
	Appearance() Appearance
	// FullScreen reports whether a program, such as a film, a presentation or a game, fills
	// the monitor that covers area. It is false if the desktop does not report it.
	FullScreen(area image.Rectangle) bool
	Kind() Kind
	// Hotkey registers a global key combination such as "Ctrl+Alt+W", which then calls
	// pressed on the package's goroutine. does describes its effect, which some desktops
	// show to the user. The error wraps ErrHotkeyTaken or ErrUnsupported, or says what is
	// wrong with keys. If another program decides (Wayland), told is called with the
	// result on that goroutine, whenever it arrives: nil or such an error. release
	// unregisters the keys and may be called twice.
	Hotkey(keys, does string, pressed func(), told func(error)) (release func(), err error)
	// Copy copies text to the clipboard and serves it until another program copies
	// something or the display is closed.
	Copy(text string) error
	// Done returns a channel that is closed when the connection has ended, by Close
	// or because the desktop is gone. After that, every method that can fail
	// returns ErrClosed and no handler is called.
	Done() <-chan struct{}
	// Close closes the connection and all its windows.
	Close() error
}

// Kind is the kind of desktop, by the way it shows windows.
type Kind string

// The kinds. Under XWayland a compositor may report where its panels are, or not.
const (
	Windows        Kind = "windows"
	X11            Kind = "x11"
	XWayland       Kind = "xwayland"
	XWaylandPanels Kind = "panels" // panels at unknown places
	Layers         Kind = "layers" // Wayland without an X server, for cards only
)

// Appearance is how a desktop wants programs to look.
type Appearance struct {
	Dark         bool // it prefers dark programs
	HighContrast bool // it requests high contrast
	LessMotion   bool // it requests as little motion as possible
}

// Monitor describes one screen of the desktop.
type Monitor struct {
	Name string
	// Area is the entire monitor, Work the part without panels, both in pixels of the
	// desktop's coordinates.
	Area, Work image.Rectangle
	// Scale is pixels per unit: 1 at 100 %.
	Scale float32
}

// MonitorOf returns the index of the monitor with the
// largest part of r, or -1 if there is none.
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
	// Show makes pic the window's content and shows the window at r (desktop pixels, same size
	// as pic) above the others, in one step, without taking the focus. A window that is
	// already shown is moved and repainted, but not raised again. Show does not retain pic.
	Show(r image.Rectangle, pic *Picture) error
	// Update replaces the part of the content at p (window pixels)
	// with pic. The window must have been shown.
	Update(p image.Point, pic *Picture) error
	// Hide hides the window. Hiding a hidden window does nothing.
	Hide() error
	// TakeKeyboard gives a shown window the focus and remembers the previous one. Call it only
	// when the user has requested it: nothing else here takes the focus. It returns
	// ErrUnsupported if the desktop cannot do that.
	TakeKeyboard() error
	// GiveKeyboardBack restores the previous focus, as does Hide. It does
	// nothing if the window does not have the focus.
	GiveKeyboardBack() error
	// HideFromCapture hides the window from screen sharing, or shows it again. It returns
	// ErrUnsupported if the desktop cannot do that.
	HideFromCapture(hide bool) error
	// OnScreen reads back from the screen what is actually visible at the
	// window's place, including other windows. It returns ErrUnsupported if the desktop
	// cannot do that.
	OnScreen() (*image.RGBA, error)
	// Sync returns once the native system has processed all requests.
	Sync() error
	// Close destroys the window.
	Close() error
}

// SetReaderNode sets the node that represents a window, a Card or a Frame, in future trees for
// screen readers. It matters where readers query the window itself (Windows).
func SetReaderNode(w any, n screenreader.ID) {
	if w, ok := w.(interface{ setReaderNode(screenreader.ID) }); ok {
		w.setReaderNode(n)
	}
}

// CardHandler receives a card's pointer and key events. Positions are window pixels. Its
// methods are called on the package's goroutine and must not block.
type CardHandler interface {
	PointerMoved(p image.Point)
	PointerLeft()
	PointerPressed(p image.Point, b Button)
	PointerReleased(p image.Point, b Button)
	Scrolled(p image.Point, steps int) // positive: away from the user
	// KeyPressed is called while the window has the focus. KeyboardGone is called when it has
	// lost it, by GiveKeyboardBack or otherwise.
	KeyPressed(k KeyPress)
	KeyboardGone()
	// DisplayChanged reports that monitors, scale, text size or appearance have changed.
	DisplayChanged()
}

// Button is a pointer button.
type Button uint8

// The buttons that matter.
const (
	Left Button = iota + 1
	Middle
	Right
)

// Picture is an opaque picture in the native order of both platforms: rows from the top, four
// bytes per pixel (blue, green, red, and one unused), no padding.
type Picture struct {
	W, H int
	Pix  []byte // len 4*W*H
}

// NewPicture returns a picture of w by h pixels, reusing the memory of old if it suffices.
// old may be nil and must not be used afterwards.
func NewPicture(w, h int, old *Picture) *Picture {
	n := 4 * w * h
	if old != nil && cap(old.Pix) >= n {
		old.W, old.H, old.Pix = w, h, old.Pix[:n]
		return old
	}
	return &Picture{W: w, H: h, Pix: make([]byte, n)}
}

// put copies another picture to p, clipped to pic.
func (pic *Picture) put(p image.Point, from *Picture) {
	w := min(from.W, pic.W-p.X)
	for y := range min(from.H, pic.H-p.Y) {
		if w > 0 {
			copy(pic.Pix[4*((p.Y+y)*pic.W+p.X):][:4*w], from.Pix[4*y*from.W:])
		}
	}
}

// ErrNoDisplay is returned by Open if there is no desktop to draw on.
var ErrNoDisplay = errors.New("no display")

// ErrWayland is returned by Open on a Wayland desktop without an X server, and by
// OpenCards if that desktop has no layers either, so that programs cannot put a
// window in a corner. It wraps ErrNoDisplay.
var ErrWayland = fmt.Errorf("%w: Wayland without an X server", ErrNoDisplay)

// ErrClosed is returned by all methods of a display or window that was closed
// or whose desktop is gone.
var ErrClosed = errors.New("display closed")

// ended records whether a display's connection has ended; done is closed when it has.
type ended struct{ done chan struct{} }

func (e ended) Done() <-chan struct{} { return e.done }

// errIfClosed returns nil while there is a connection, and then ErrClosed.
func (e ended) errIfClosed() error {
	select {
	case <-e.done:
		return ErrClosed
	default:
		return nil
	}
}

// queue has functions to be called on the goroutine that calls handlers.
type queue struct {
	mu      sync.Mutex
	waiting []func()
}

func (q *queue) add(f func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, f)
}

func (q *queue) run() {
	q.mu.Lock()
	all := q.waiting
	q.waiting = nil
	q.mu.Unlock()
	for _, f := range all {
		f()
	}
}

// errNotShown is returned for requests that require a window that has been shown.
var errNotShown = errors.New("window was never shown")

var errBroken = errors.New("broken picture")

func checkPicture(r image.Rectangle, pic *Picture) error {
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

// partOf returns the part of a window that pic covers at p, if pic is complete. size is
// that of the window, zero if it was never shown.
func partOf(size, p image.Point, pic *Picture) (image.Rectangle, error) {
	if pic == nil {
		return image.Rectangle{}, errBroken
	}
	r := image.Rectangle{Min: p, Max: p.Add(image.Pt(pic.W, pic.H))}
	err := checkPicture(r, pic)
	switch {
	case err != nil:
	case size == image.Point{}:
		err = errNotShown
	case !r.In(image.Rectangle{Max: size}):
		err = errors.New("part lies outside the window")
	}
	return r, err
}

// maxSide is the maximum X11 coordinate; Windows supports more.
const maxSide = 1<<15 - 1

// maxCopy limits a text to be copied, in bytes. It fits into one request
// of X11, and is far more than any card has.
const maxCopy = 200_000

var errTooLong = errors.New("text too long for the clipboard")
