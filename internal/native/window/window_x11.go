//go:build !windows && !darwin

package window

import (
	"errors"
	"fmt"
	"image"
	"io"
	"log"
	"os"
	"sync"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/randr"
	"github.com/jezek/xgb/xproto"
)

// Open connects to the X server of $DISPLAY.
func Open() (Display, error) {
	name := os.Getenv("DISPLAY")
	if name == "" {
		return nil, ErrNoDisplay
	}
	xgb.Logger = log.New(io.Discard, "", 0) // it writes to standard error by itself
	conn, err := xgb.NewConnDisplay(name)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrNoDisplay, name, err)
	}
	d := &x11{conn: conn, windows: map[xproto.Window]*x11Window{}, done: make(chan struct{})}
	if err := d.setUp(); err != nil {
		conn.Close()
		return nil, err
	}
	go d.events()
	return d, nil
}

// x11 is a connection to an X server. Its goroutine, events, reads what the
// server reports; requests may come from anywhere, xgb queues them.
type x11 struct {
	conn   *xgb.Conn
	root   xproto.Window
	screen *xproto.ScreenInfo
	visual xproto.Visualid
	colour xproto.Colormap
	strip  int // bytes of picture that fit into one request
	atoms  atoms
	done   chan struct{}

	mu      sync.Mutex
	windows map[xproto.Window]*x11Window
	desk    *desktop // monitors, scale, appearance; nil: ask again
	clip    clipboard
	lost    bool
}

var errLost = errors.New("the X server has gone")

func (d *x11) setUp() error {
	setup := xproto.Setup(d.conn)
	d.screen = setup.DefaultScreen(d.conn)
	d.root = d.screen.Root
	if setup.ImageByteOrder != xproto.ImageOrderLSBFirst {
		return fmt.Errorf("%w: the X server has another byte order", ErrNoDisplay)
	}
	// A visual of our own, so that screens of 16 or 30 bit show cards as well.
	for _, depth := range d.screen.AllowedDepths {
		for _, v := range depth.Visuals {
			if depth.Depth == 24 && v.Class == xproto.VisualClassTrueColor && v.RedMask == 0xFF0000 && v.BlueMask == 0xFF && d.visual == 0 {
				d.visual = v.VisualId
			}
		}
	}
	if d.visual == 0 {
		return fmt.Errorf("%w: the X server has no 24-bit visual", ErrNoDisplay)
	}
	id, err := xproto.NewColormapId(d.conn)
	if err != nil {
		return err
	}
	d.colour = id
	xproto.CreateColormap(d.conn, xproto.ColormapAllocNone, id, d.root, d.visual)
	d.strip = 4*int(setup.MaximumRequestLength) - 64
	if err := d.atoms.intern(d.conn); err != nil {
		return err
	}
	if randr.Init(d.conn) == nil {
		randr.SelectInput(d.conn, d.root, randr.NotifyMaskScreenChange|randr.NotifyMaskCrtcChange|randr.NotifyMaskOutputChange)
	}
	xproto.ChangeWindowAttributes(d.conn, d.root, xproto.CwEventMask, []uint32{xproto.EventMaskPropertyChange | xproto.EventMaskStructureNotify})
	return d.clip.setUp(d)
}

func (d *x11) New(h Handler) (Window, error) {
	id, err := xproto.NewWindowId(d.conn)
	if err != nil {
		return nil, errLost
	}
	gc, err := xproto.NewGcontextId(d.conn)
	if err != nil {
		return nil, errLost
	}
	// Override-redirect: no window manager decorates, moves or focuses it.
	err = xproto.CreateWindowChecked(d.conn, 24, id, d.root, 0, 0, 1, 1, 0, xproto.WindowClassInputOutput, d.visual,
		xproto.CwBackPixel|xproto.CwBorderPixel|xproto.CwOverrideRedirect|xproto.CwEventMask|xproto.CwColormap,
		[]uint32{0, 0, 1, xproto.EventMaskButtonPress | xproto.EventMaskButtonRelease | xproto.EventMaskPointerMotion |
			xproto.EventMaskEnterWindow | xproto.EventMaskLeaveWindow, uint32(d.colour)}).Check()
	if err != nil {
		return nil, fmt.Errorf("make a window: %w", err)
	}
	xproto.CreateGC(d.conn, gc, xproto.Drawable(id), 0, nil)
	d.name(id)
	w := &x11Window{d: d, id: id, gc: gc, h: h}
	d.mu.Lock()
	d.windows[id] = w
	d.mu.Unlock()
	return w, nil
}

// name tells task bars, accessibility tools and screen recorders what it is.
func (d *x11) name(id xproto.Window) {
	set := func(p, t xproto.Atom, format byte, n int, data []byte) {
		xproto.ChangeProperty(d.conn, xproto.PropModeReplace, id, p, t, format, uint32(n), data)
	}
	title, class := []byte("Wiebelt"), []byte("wiebelt\x00Wiebelt\x00")
	set(xproto.AtomWmName, xproto.AtomString, 8, len(title), title)
	set(xproto.AtomWmClass, xproto.AtomString, 8, len(class), class)
	set(d.atoms.netWmName, d.atoms.utf8, 8, len(title), title)
	kind := make([]byte, 4)
	xgb.Put32(kind, uint32(d.atoms.notification))
	set(d.atoms.windowType, xproto.AtomAtom, 32, 1, kind)
}

func (d *x11) Close() error {
	d.mu.Lock()
	lost := d.lost
	d.lost = true
	d.mu.Unlock()
	if !lost {
		d.conn.Close()
	}
	<-d.done
	return nil
}

func (d *x11) gone() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.lost
}

// x11Window is one window. Its picture lies in a pixmap that is the window's
// background, so that the server repaints it without asking.
type x11Window struct {
	d  *x11
	id xproto.Window
	gc xproto.Gcontext
	h  Handler

	mu     sync.Mutex
	pixmap xproto.Pixmap
	rect   image.Rectangle
	up     bool
}

func (w *x11Window) Show(r image.Rectangle, pic *Picture) error {
	if w.d.gone() {
		return errLost
	}
	if r.Dx() != pic.W || r.Dy() != pic.H || r.Empty() {
		return fmt.Errorf("picture of %d×%d for a place of %d×%d", pic.W, pic.H, r.Dx(), r.Dy())
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.d.conn
	old := w.pixmap
	if old == 0 || r.Size() != w.rect.Size() {
		id, err := xproto.NewPixmapId(c)
		if err != nil {
			return errLost
		}
		xproto.CreatePixmap(c, 24, id, xproto.Drawable(w.id), uint16(pic.W), uint16(pic.H))
		w.pixmap = id
	}
	w.draw(image.Point{}, pic)
	xproto.ChangeWindowAttributes(c, w.id, xproto.CwBackPixmap, []uint32{uint32(w.pixmap)})
	geometry := []uint32{uint32(int32(r.Min.X)), uint32(int32(r.Min.Y)), uint32(pic.W), uint32(pic.H)}
	const place = xproto.ConfigWindowX | xproto.ConfigWindowY | xproto.ConfigWindowWidth | xproto.ConfigWindowHeight
	switch {
	case !w.up:
		// Some window managers leave a window that comes back where it was in the
		// stack: raised in the same batch, once, and never in answer to being covered.
		xproto.ConfigureWindow(c, w.id, place|xproto.ConfigWindowStackMode, append(geometry, xproto.StackModeAbove))
		xproto.MapWindow(c, w.id)
	case r != w.rect:
		xproto.ConfigureWindow(c, w.id, place, geometry)
		xproto.ClearArea(c, false, w.id, 0, 0, 0, 0)
	default:
		xproto.ClearArea(c, false, w.id, 0, 0, 0, 0)
	}
	if old != 0 && old != w.pixmap {
		xproto.FreePixmap(c, old)
	}
	w.rect, w.up = r, true
	return nil
}

func (w *x11Window) Update(p image.Point, pic *Picture) error {
	if w.d.gone() {
		return errLost
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.up {
		return nil
	}
	w.draw(p, pic)
	c := w.d.conn
	xproto.ChangeWindowAttributes(c, w.id, xproto.CwBackPixmap, []uint32{uint32(w.pixmap)})
	xproto.ClearArea(c, false, w.id, int16(p.X), int16(p.Y), uint16(pic.W), uint16(pic.H))
	return nil
}

// draw puts a picture into the pixmap, in strips that fit into a request.
func (w *x11Window) draw(at image.Point, pic *Picture) {
	row := 4 * pic.W
	rows := max(1, w.d.strip/max(row, 1))
	for y := 0; y < pic.H; y += rows {
		n := min(rows, pic.H-y)
		xproto.PutImage(w.d.conn, xproto.ImageFormatZPixmap, xproto.Drawable(w.pixmap), w.gc,
			uint16(pic.W), uint16(n), int16(at.X), int16(at.Y+y), 0, 24, pic.Pix[y*row:(y+n)*row])
	}
}

func (w *x11Window) Hide() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.up && !w.d.gone() {
		xproto.UnmapWindow(w.d.conn, w.id)
	}
	w.up = false
	return nil
}

func (w *x11Window) Sync() error {
	if w.d.gone() {
		return errLost
	}
	if _, err := xproto.GetInputFocus(w.d.conn).Reply(); err != nil {
		return errLost
	}
	return nil
}

func (w *x11Window) OnScreen() (*image.RGBA, error) {
	w.mu.Lock()
	r := w.rect
	w.mu.Unlock()
	return w.d.grab(r)
}

// grab reads what is visible in a rectangle of the desktop.
func (d *x11) grab(r image.Rectangle) (*image.RGBA, error) {
	r = r.Intersect(image.Rect(0, 0, int(d.screen.WidthInPixels), int(d.screen.HeightInPixels)))
	img := image.NewRGBA(image.Rect(0, 0, r.Dx(), r.Dy()))
	if r.Empty() {
		return img, nil
	}
	got, err := xproto.GetImage(d.conn, xproto.ImageFormatZPixmap, xproto.Drawable(d.root), int16(r.Min.X), int16(r.Min.Y), uint16(r.Dx()), uint16(r.Dy()), 0xFFFFFFFF).Reply()
	if err != nil {
		return nil, fmt.Errorf("read the screen: %w", err)
	}
	n := r.Dx() * r.Dy()
	switch {
	case len(got.Data) >= 4*n:
		for i := range n {
			s, p := got.Data[4*i:], img.Pix[4*i:4*i+4]
			p[0], p[1], p[2], p[3] = s[2], s[1], s[0], 255
		}
	case len(got.Data) >= 2*n: // a screen of 16 bit; rows are padded to 4 bytes
		stride := (2*r.Dx() + 3) &^ 3
		for y := range r.Dy() {
			for x := range r.Dx() {
				v := uint16(got.Data[y*stride+2*x]) | uint16(got.Data[y*stride+2*x+1])<<8
				p := img.Pix[img.PixOffset(x, y):]
				p[0], p[1], p[2], p[3] = uint8(v>>11)<<3, uint8(v>>5)<<2, uint8(v)<<3, 255
			}
		}
	default:
		return nil, errors.New("read the screen: a format that is not known")
	}
	return img, nil
}

func (w *x11Window) Close() error {
	w.d.mu.Lock()
	delete(w.d.windows, w.id)
	lost := w.d.lost
	w.d.mu.Unlock()
	if !lost {
		xproto.DestroyWindow(w.d.conn, w.id)
		if w.pixmap != 0 {
			xproto.FreePixmap(w.d.conn, w.pixmap)
		}
		xproto.FreeGC(w.d.conn, w.gc)
	}
	return nil
}
