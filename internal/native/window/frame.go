package window

import "image"

// Desktop is a display that also shows ordinary windows.
type Desktop interface {
	Display
	// NewFrame creates an ordinary window, which is not shown yet.
	NewFrame(h FrameHandler, o FrameOptions) (Frame, error)
	// Paste returns the text on the clipboard, or "" if there is none. It waits at most
	// half a second for the program that owns it.
	Paste() (string, error)
}

// Frame is an ordinary window of the desktop: it has a title and borders, is in the task
// bar, and takes the focus like any other. The concurrency rules of Card apply.
type Frame interface {
	SetTitle(title string) error
	// SetDark chooses dark or light borders, if the desktop supports it.
	SetDark(on bool) error
	// SetLimits sets the minimum size of the content, in pixels.
	SetLimits(least image.Point) error
	// SetCursor sets the pointer's shape over the window.
	SetCursor(c Cursor) error
	// Show shows the window, or brings it to the front, and requests the focus.
	Show() error
	// Resize requests a size for the content; FrameResized reports the actual one.
	Resize(size image.Point) error
	// Move requests a position for the content on the desktop.
	Move(p image.Point) error
	// Place returns the content's rectangle on the desktop.
	Place() (image.Rectangle, error)
	// Scale returns the scale for the content: that of the monitor to which the system assigns
	// the window, which need not be the one with its largest part.
	Scale() (float32, error)
	// Draw replaces the part of the content at p with pic,
	// clipped to the window. It does not retain pic.
	Draw(p image.Point, pic *Picture) error
	Close() error
}

func checkDraw(p image.Point, pic *Picture) error {
	if pic == nil || len(pic.Pix) != 4*pic.W*pic.H || pic.W <= 0 || pic.H <= 0 || p.X < 0 || p.Y < 0 {
		return errBroken
	}
	return nil
}

// FrameOptions are the initial properties of a frame.
type FrameOptions struct {
	Title      string
	Size       image.Point // of the content, in pixels
	Icons      []*image.NRGBA
	Background [3]uint8 // red, green, blue of what is not drawn yet
}

// FrameHandler receives the events of a frame. Positions are pixels of the content. Its
// methods are called on the package's goroutine and must not block.
type FrameHandler interface {
	FramePointer(p image.Point)
	FrameLeft()
	FrameButton(p image.Point, b Button, down bool, held Modifiers)
	// FrameScrolled reports steps of the wheel, fractional from touch pads; positive is to
	// the left and away from the user.
	FrameScrolled(p image.Point, dx, dy float32)
	FrameKey(e KeyEvent)
	FrameFocus(has bool)
	FrameResized(size image.Point)
	FrameClosing() // the user wants to close the frame; nothing has happened yet
	// FrameDropped reports the paths of dropped files.
	FrameDropped(p image.Point, files []string)
	// FrameDisplayChanged reports that monitors, scale, text size or appearance have
	// changed, or that the window was moved to another monitor.
	FrameDisplayChanged()
}

// Cursor is the pointer's shape.
type Cursor uint8

// The cursors.
const (
	CursorArrow Cursor = iota
	CursorText
	CursorHand
	cursors
)
