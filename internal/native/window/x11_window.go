//go:build linux

package window

import (
	"errors"
	"image"
	"sync"
	"sync/atomic"

	"github.com/jezek/xgb/xproto"
)

// x11Window is one override-redirect window. Its picture lies in a pixmap that
// is the window's background, so that the server paints it again by itself
// whenever a part comes to light.
type x11Window struct {
	d       *x11
	id      xproto.Window
	handler Handler

	mu     sync.Mutex // guards what is asked of the server for this window
	pixmap atomic.Uint32
	rect   image.Rectangle // empty before the first Show
	up     bool
	gone   bool

	inside bool // events goroutine only
}

func (d *x11) New(h Handler) (Window, error) {
	if err := d.alive(); err != nil {
		return nil, err
	}
	id, err := xproto.NewWindowId(d.conn)
	if err != nil {
		return nil, d.lost(err)
	}
	w := &x11Window{d: d, id: id, handler: h}
	d.mu.Lock()
	d.windows[id] = w
	d.mu.Unlock()
	// The border pixel must be given where our visual is not the root's. Bit
	// gravity keeps what is shown in place while the size changes. Values come
	// in the order of their bits.
	err = xproto.CreateWindowChecked(d.conn, d.format.depth, id, d.root, 0, 0, 1, 1, 0,
		xproto.WindowClassInputOutput, d.visual,
		xproto.CwBorderPixel|xproto.CwBitGravity|xproto.CwOverrideRedirect|xproto.CwEventMask|xproto.CwColormap,
		[]uint32{
			0,
			xproto.GravityNorthWest,
			1,
			restingEvents,
			uint32(d.colors),
		}).Check()
	if err != nil {
		d.forget(id)
		return nil, d.lost(err)
	}
	// Window managers do not manage it; compositors and screen readers look.
	// The name says nothing of the call: every program may read it.
	d.setText(id, xproto.AtomWmName, xproto.AtomString, "Wiebelt")
	d.setText(id, d.atoms.netName, d.atoms.utf8, "Wiebelt")
	d.setText(id, xproto.AtomWmClass, xproto.AtomString, "wiebelt\x00Wiebelt\x00")
	kind := make([]byte, 4)
	put32(kind, uint32(d.atoms.notification))
	xproto.ChangeProperty(d.conn, xproto.PropModeReplace, id, d.atoms.windowType, xproto.AtomAtom, 32, 1, kind)
	return w, nil
}

func (d *x11) setText(id xproto.Window, property, kind xproto.Atom, v string) {
	xproto.ChangeProperty(d.conn, xproto.PropModeReplace, id, property, kind, 8, uint32(len(v)), []byte(v))
}

func (d *x11) forget(id xproto.Window) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.windows, id)
	delete(d.faults, uint32(id))
}

// usable is nil while the window can be used; w.mu is held.
func (w *x11Window) usable() error {
	if w.gone {
		return ErrClosed
	}
	return w.d.alive()
}

func (w *x11Window) Show(r image.Rectangle, pic *Picture) error {
	if err := fits(r, pic); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.usable(); err != nil {
		return err
	}
	c := w.d.conn
	px, old := xproto.Pixmap(w.pixmap.Load()), xproto.Pixmap(0)
	if px == 0 || r.Size() != w.rect.Size() {
		id, err := xproto.NewPixmapId(c)
		if err != nil {
			return w.d.lost(err)
		}
		px, old = id, px
		xproto.CreatePixmap(c, w.d.format.depth, px, xproto.Drawable(w.d.root), uint16(r.Dx()), uint16(r.Dy()))
		w.pixmap.Store(uint32(px))
	}
	w.d.put(px, image.Point{}, pic)
	// Set anew each time: a server may have copied the pixmap when it became
	// the background.
	xproto.ChangeWindowAttributes(c, w.id, xproto.CwBackPixmap, []uint32{uint32(px)})
	if old != 0 {
		xproto.FreePixmap(c, old)
	}
	mask := uint16(xproto.ConfigWindowX | xproto.ConfigWindowY | xproto.ConfigWindowWidth | xproto.ConfigWindowHeight)
	place := []uint32{uint32(int32(r.Min.X)), uint32(int32(r.Min.Y)), uint32(r.Dx()), uint32(r.Dy())}
	switch {
	case !w.up:
		// Raised before it is mapped and never again while it is up: xfwm4
		// would leave it below what was opened meanwhile, and re-raising on
		// being covered would fight a screen locker.
		xproto.ConfigureWindow(c, w.id, mask|xproto.ConfigWindowStackMode, append(place, xproto.StackModeAbove))
		xproto.MapWindow(c, w.id)
	case r != w.rect:
		xproto.ConfigureWindow(c, w.id, mask, place)
		fallthrough
	default:
		xproto.ClearArea(c, false, w.id, 0, 0, 0, 0)
	}
	w.rect, w.up = r, true
	return w.d.alive()
}

func (w *x11Window) Update(p image.Point, pic *Picture) error {
	if pic == nil {
		return errBroken
	}
	r := image.Rectangle{Min: p, Max: p.Add(image.Pt(pic.W, pic.H))}
	if err := fits(r, pic); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.usable(); err != nil {
		return err
	}
	if w.pixmap.Load() == 0 {
		return errNotShown
	}
	if !r.In(image.Rectangle{Max: w.rect.Size()}) {
		return errors.New("part lies outside the window")
	}
	px := xproto.Pixmap(w.pixmap.Load())
	w.d.put(px, p, pic)
	xproto.ChangeWindowAttributes(w.d.conn, w.id, xproto.CwBackPixmap, []uint32{uint32(px)})
	if w.up {
		xproto.ClearArea(w.d.conn, false, w.id, int16(p.X), int16(p.Y), uint16(pic.W), uint16(pic.H))
	}
	return w.d.alive()
}

func (w *x11Window) Hide() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.usable(); err != nil {
		return err
	}
	if w.up {
		// First, or the server would give the keyboard to whoever is under the
		// pointer.
		err := w.giveBack()
		xproto.UnmapWindow(w.d.conn, w.id)
		w.up = false
		if err != nil {
			return err
		}
	}
	return w.d.alive()
}

func (w *x11Window) Sync() error {
	w.mu.Lock()
	err := w.usable()
	w.mu.Unlock()
	if err != nil {
		return err
	}
	if _, err := xproto.GetInputFocus(w.d.conn).Reply(); err != nil {
		return w.d.lost(err)
	}
	return w.d.fault(w.id)
}

func (w *x11Window) OnScreen() (*image.RGBA, error) {
	w.mu.Lock()
	r, err := w.rect, w.usable()
	w.mu.Unlock()
	if err != nil {
		return nil, err
	}
	if r.Empty() {
		return nil, errNotShown
	}
	img := image.NewRGBA(image.Rectangle{Max: r.Size()})
	// The screen may have another size than at the start.
	g, err := xproto.GetGeometry(w.d.conn, xproto.Drawable(w.d.root)).Reply()
	if err != nil {
		return nil, w.d.lost(err)
	}
	part := r.Intersect(image.Rect(0, 0, int(g.Width), int(g.Height)))
	if part.Empty() {
		return img, nil
	}
	rep, err := xproto.GetImage(w.d.conn, xproto.ImageFormatZPixmap, xproto.Drawable(w.d.root),
		int16(part.Min.X), int16(part.Min.Y), uint16(part.Dx()), uint16(part.Dy()), ^uint32(0)).Reply()
	if err != nil {
		return nil, w.d.lost(err)
	}
	return img, w.d.rooted.decode(img, part.Sub(r.Min), rep.Data)
}

func (w *x11Window) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.gone {
		return nil
	}
	_ = w.giveBack()
	w.gone = true
	w.d.forget(w.id)
	xproto.DestroyWindow(w.d.conn, w.id)
	if px := w.pixmap.Load(); px != 0 {
		xproto.FreePixmap(w.d.conn, xproto.Pixmap(px))
	}
	return nil
}

func (w *x11Window) moved(p image.Point) {
	w.inside = true
	w.handler.PointerMoved(p)
}

// left is told once, however many leave events a grab makes.
func (w *x11Window) left() {
	if w.inside {
		w.inside = false
		w.handler.PointerLeft()
	}
}

// button numbers are those of X: 4 and 5 are the wheel, more are left alone.
func (w *x11Window) button(p image.Point, n xproto.Button, down bool) {
	switch {
	case n >= 1 && n <= 3 && down:
		w.handler.PointerPressed(p, Button(n))
	case n >= 1 && n <= 3:
		w.handler.PointerReleased(p, Button(n))
	case n == 4 && down:
		w.handler.Scrolled(p, 1)
	case n == 5 && down:
		w.handler.Scrolled(p, -1)
	}
}
