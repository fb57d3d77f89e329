package window

import "image"

// Desktop is a display that shows ordinary windows, too.
type Desktop interface {
	Display
	// NewFrame makes an ordinary window, not shown yet.
	NewFrame(h FrameHandler, o FrameOptions) (Frame, error)
	// Paste gives the text on the clipboard, "" if there is none. It waits at
	// most half a second for the program that owns it.
	Paste() (string, error)
}

// Frame is an ordinary window of the desktop: it has a title and borders, stands
// in the task bar, and takes the keyboard like every other one. The same rules
// of concurrency as for Card.
type Frame interface {
	SetTitle(title string) error
	// SetDark chooses dark or light borders, where the desktop has both.
	SetDark(on bool) error
	// SetLimits sets the least size of the content, in pixels.
	SetLimits(least image.Point) error
	// SetCursor chooses what the pointer looks like over the window.
	SetCursor(c Cursor) error
	// Show brings the window up, or to the front if it is up, and asks for the
	// keyboard.
	Show() error
	// Resize asks for a size of the content; Resized tells what became of it.
	Resize(size image.Point) error
	// Move asks for a place of the content on the desktop.
	Move(p image.Point) error
	// Place is where the content lies on the desktop.
	Place() (image.Rectangle, error)
	// Draw replaces the part of the content at p by pic. What lies outside of
	// the window is left out. pic is not kept.
	Draw(p image.Point, pic *Picture) error
	Close() error
}

// drawable checks what Draw is given.
func drawable(p image.Point, pic *Picture) error {
	if pic == nil || len(pic.Pix) != 4*pic.W*pic.H || pic.W <= 0 || pic.H <= 0 || p.X < 0 || p.Y < 0 {
		return errBroken
	}
	return nil
}

// FrameOptions is what a frame begins with.
type FrameOptions struct {
	Title      string
	Size       image.Point // of the content, in pixels
	Icons      []*image.NRGBA
	Background [3]uint8 // red, green, blue of what is not drawn yet
}

// FrameHandler receives what happens to a frame. Positions are pixels of the
// content. It is called on the package's goroutine and must not block.
type FrameHandler interface {
	FramePointer(p image.Point)
	FrameLeft()
	FrameButton(p image.Point, b Button, down bool, held Modifiers)
	// FrameScrolled has steps of the wheel, parts of one from touch pads;
	// positive is to the left and away from the user.
	FrameScrolled(p image.Point, dx, dy float32)
	FrameKey(e KeyEvent)
	FrameFocus(has bool)
	FrameResized(size image.Point)
	FrameClosing() // the user wants it closed; nothing has happened yet
	// FrameDropped has the paths of files that were dropped.
	FrameDropped(p image.Point, files []string)
	// FrameDisplayChanged tells that monitors, scale, text size or appearance
	// have changed, or that the window came to another monitor.
	FrameDisplayChanged()
}

// Modifiers are keys that are held with others.
type Modifiers uint8

// The modifiers.
const (
	ModShift Modifiers = 1 << iota
	ModCtrl
	ModAlt
	ModSuper
)

// KeyEvent is a key that goes down or up while a frame has the keyboard.
type KeyEvent struct {
	Key  Key // KeyText for keys that write
	Down bool
	// Letter is what a KeyText key is called in a shortcut: the letter of the key
	// alone, in lower case; 0 if it has none.
	Letter rune
	// Text is what the press writes, dead keys and compositions included.
	Text string
	Held Modifiers
}

// Cursor is what the pointer looks like.
type Cursor uint8

// The cursors.
const (
	CursorArrow Cursor = iota
	CursorText
	CursorHand
	cursors
)
