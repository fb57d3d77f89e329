//go:build linux

package window

import (
	"image"
	"os"
	"sync/atomic"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"
)

const frameEvents = baseEvents | xproto.EventMaskKeyPress | xproto.EventMaskKeyRelease | xproto.EventMaskStructureNotify |
	xproto.EventMaskExposure

// x11Frame is an ordinary window. Its picture is in a pixmap, from which the events
// goroutine paints any part that becomes visible.
type x11Frame struct {
	x11Base
	// Guarded by mu.
	gc           xproto.Gcontext // its foreground is the window's background
	pixmapSize   image.Point     // size of the pixmap
	minSize      image.Point
	requestedPos *image.Point // where it is to appear

	resizing atomic.Bool // a size was requested, and the window manager has not answered

	// Used only by the events goroutine.
	size    image.Point
	drop    drop
	monitor int
}

func (d *x11) NewFrame(h FrameHandler, o FrameOptions) (Frame, error) {
	f := &x11Frame{size: o.Size}
	background := scale(o.Background[0], d.format.red) | scale(o.Background[1], d.format.green) | scale(o.Background[2], d.format.blue)
	err := d.create(f, h, x11Options{size: o.Size, background: background, events: frameEvents, kind: d.atoms.normal})
	if err != nil {
		return nil, err
	}
	id := f.id
	if f.gc, err = xproto.NewGcontextId(d.conn); err != nil {
		d.forget(id)
		return nil, d.requestError(err)
	}
	xproto.CreateGC(d.conn, f.gc, xproto.Drawable(id), xproto.GcForeground|xproto.GcGraphicsExposures, []uint32{background, 0})
	a := &d.atoms
	d.setNumbers(id, a.protocols, xproto.AtomAtom, uint32(a.deleteWindow), uint32(a.ping))
	d.setNumbers(id, a.pid, xproto.AtomCardinal, uint32(os.Getpid()))
	d.setNumbers(id, a.dndAware, xproto.AtomAtom, dndVersion)
	// It accepts the focus from the window manager.
	const inputHint = 1
	d.setNumbers(id, xproto.AtomWmHints, xproto.AtomWmHints, inputHint, 1, 0, 0, 0, 0, 0, 0, 0)
	if host, err := os.Hostname(); err == nil {
		d.setText(id, xproto.AtomWmClientMachine, xproto.AtomString, host)
	}
	if len(o.Icons) > 0 {
		d.setNumbers(id, a.icon, xproto.AtomCardinal, iconNumbers(o.Icons)...)
	}
	f.setTitle(o.Title)
	f.hints()
	return f, d.errIfClosed()
}

// iconNumbers encodes icons for _NET_WM_ICON: width, height and pixels of each.
func iconNumbers(icons []*image.NRGBA) []uint32 {
	var v []uint32
	for _, i := range icons {
		w, h := i.Rect.Dx(), i.Rect.Dy()
		v = append(v, uint32(w), uint32(h))
		for y := range h {
			for x := range w {
				p := i.Pix[i.PixOffset(i.Rect.Min.X+x, i.Rect.Min.Y+y):]
				v = append(v, uint32(p[3])<<24|uint32(p[0])<<16|uint32(p[1])<<8|uint32(p[2]))
			}
		}
	}
	return v
}

// doRequest runs g, which only sends requests to the server, while the window exists.
func (f *x11Frame) doRequest(g func()) error {
	return f.do(func() error { g(); return nil })
}

func (f *x11Frame) SetTitle(title string) error { return f.doRequest(func() { f.setTitle(title) }) }

func (f *x11Frame) SetDark(on bool) error {
	return f.doRequest(func() {
		variant := "light"
		if on {
			variant = "dark"
		}
		f.d.setText(f.id, f.d.atoms.variant, f.d.atoms.utf8, variant)
	})
}

func (f *x11Frame) SetLimits(least image.Point) error {
	return f.doRequest(func() {
		f.minSize = least
		f.hints()
	})
}

// hints sets the window manager's size and position
// hints. f.mu must be held, or not needed yet.
func (f *x11Frame) hints() {
	const programPosition, minSize = 1 << 2, 1 << 4
	v := make([]uint32, 18)
	v[0] = minSize
	v[5], v[6] = uint32(max(f.minSize.X, 1)), uint32(max(f.minSize.Y, 1))
	if f.requestedPos != nil {
		v[0] |= programPosition
		v[1], v[2] = uint32(int32(f.requestedPos.X)), uint32(int32(f.requestedPos.Y))
	}
	f.d.setNumbers(f.id, xproto.AtomWmNormalHints, xproto.AtomWmSizeHints, v...)
}

func (f *x11Frame) SetCursor(c Cursor) error {
	return f.doRequest(func() {
		xproto.ChangeWindowAttributes(f.d.conn, f.id, xproto.CwCursor, []uint32{uint32(f.d.cursor(c))})
	})
}

// LetForward does nothing: every program may bring its windows to the front.
func LetForward() {}

func (f *x11Frame) Show() error {
	return f.doRequest(func() {
		if f.shown.CompareAndSwap(false, true) {
			xproto.MapWindow(f.d.conn, f.id)
			return
		}
		// Like a pager: a program that asks on its own behalf may be refused, but the user
		// has just requested this window elsewhere.
		const pager = 2
		f.d.message(f.d.root, toManager, f.id, f.d.atoms.activate, pager)
	})
}

// toManager is the mask of messages to the window manager.
const toManager = xproto.EventMaskSubstructureRedirect | xproto.EventMaskSubstructureNotify

func (f *x11Frame) Resize(size image.Point) error {
	return f.doRequest(func() {
		f.resizing.Store(true)
		xproto.ConfigureWindow(f.d.conn, f.id, xproto.ConfigWindowWidth|xproto.ConfigWindowHeight,
			[]uint32{uint32(min(max(size.X, 1), maxSide)), uint32(min(max(size.Y, 1), maxSide))})
	})
}

func (f *x11Frame) Move(p image.Point) error {
	return f.doRequest(func() {
		f.requestedPos = &p
		f.hints()
		xproto.ConfigureWindow(f.d.conn, f.id, xproto.ConfigWindowX|xproto.ConfigWindowY, []uint32{uint32(int32(p.X)), uint32(int32(p.Y))})
	})
}

func (f *x11Frame) Place() (r image.Rectangle, err error) {
	err = f.do(func() error {
		geometry := xproto.GetGeometry(f.d.conn, xproto.Drawable(f.id))
		at, e := xproto.TranslateCoordinates(f.d.conn, f.id, f.d.root, 0, 0).Reply()
		g, e2 := geometry.Reply()
		if e != nil || e2 != nil {
			return ErrClosed
		}
		r = rectAt(at.DstX, at.DstY, g.Width, g.Height)
		return nil
	})
	return r, err
}

// Scale returns the same for every monitor.
func (f *x11Frame) Scale() (float32, error) { return f.d.settings.Load().scale, nil }

func (f *x11Frame) Draw(p image.Point, pic *Picture) error {
	if err := checkDraw(p, pic); err != nil {
		return err
	}
	return f.doRequest(func() {
		f.growPixmap(p.Add(image.Pt(pic.W, pic.H)))
		f.d.drawPixmap(xproto.Pixmap(f.pixmap.Load()), p, pic)
		f.copy(image.Rect(p.X, p.Y, p.X+pic.W, p.Y+pic.H))
	})
}

// growPixmap enlarges the pixmap to at least size, keeping its contents.
func (f *x11Frame) growPixmap(size image.Point) {
	if size.X <= f.pixmapSize.X && size.Y <= f.pixmapSize.Y {
		return
	}
	// In steps, since otherwise dragging a window's
	// corner would create a pixmap for every pixel.
	step := func(v int) int { return min((v+127)&^127, maxSide) }
	to := image.Pt(step(max(size.X, f.pixmapSize.X)), step(max(size.Y, f.pixmapSize.Y)))
	old := xproto.Pixmap(f.pixmap.Load())
	px, err := f.newPixmap(to)
	if err != nil {
		return // the connection is gone, which the next request will report
	}
	// Parts that are not drawn yet may become visible first.
	xproto.PolyFillRectangle(f.d.conn, xproto.Drawable(px), f.gc, []xproto.Rectangle{{Width: uint16(to.X), Height: uint16(to.Y)}})
	if old != 0 {
		xproto.CopyArea(f.d.conn, xproto.Drawable(old), xproto.Drawable(px), f.gc, 0, 0, 0, 0, uint16(f.pixmapSize.X), uint16(f.pixmapSize.Y))
		xproto.FreePixmap(f.d.conn, old)
	}
	f.pixmapSize = to
}

func (f *x11Frame) copy(r image.Rectangle) {
	if r = r.Intersect(image.Rectangle{Max: f.pixmapSize}); r.Empty() {
		return
	}
	xproto.CopyArea(f.d.conn, xproto.Drawable(f.pixmap.Load()), xproto.Drawable(f.id), f.gc,
		int16(r.Min.X), int16(r.Min.Y), int16(r.Min.X), int16(r.Min.Y), uint16(r.Dx()), uint16(r.Dy()))
}

func (f *x11Frame) Close() error { return f.close(func() { xproto.FreeGC(f.d.conn, f.gc) }) }

func (f *x11Frame) event(ev xgb.Event) {
	switch e := ev.(type) {
	case xproto.LeaveNotifyEvent:
		if e.Mode == xproto.NotifyModeNormal {
			f.handler.FrameLeft()
		}
	case xproto.FocusInEvent:
		f.focus(e.Mode, e.Detail, true)
	case xproto.FocusOutEvent:
		f.focus(e.Mode, e.Detail, false)
	case xproto.ConfigureNotifyEvent:
		// A window manager that refuses a size reports the present one.
		answer := f.resizing.Swap(false)
		if size := image.Pt(int(e.Width), int(e.Height)); size != f.size || answer {
			f.size = size
			f.handler.FrameResized(size)
		}
		f.moved()
	case xproto.ExposeEvent:
		_ = f.doRequest(func() { // a closed frame needs no picture
			f.copy(image.Rect(int(e.X), int(e.Y), int(e.X)+int(e.Width), int(e.Y)+int(e.Height)))
		})
	case xproto.ClientMessageEvent:
		f.handleMessage(e)
	case xproto.SelectionNotifyEvent:
		f.drop.handleFiles(f, e)
	default:
		f.x11Base.event(ev)
	}
}

// moved reports if the window has moved to another monitor.
func (f *x11Frame) moved() {
	_, list := f.d.areas()
	if len(list) < 2 {
		return
	}
	r, err := f.Place()
	if err != nil {
		return
	}
	if i := MonitorOf(list, r); i >= 0 && i != f.monitor {
		f.monitor = i
		f.handler.FrameDisplayChanged()
	}
}

func (f *x11Frame) focus(mode, detail byte, has bool) {
	if !isTemporaryFocus(mode, detail) {
		f.compose.reset()
		f.handler.FrameFocus(has)
	}
}

// handleMessage handles requests of the window manager or of a program that drags something.
func (f *x11Frame) handleMessage(e xproto.ClientMessageEvent) {
	a, data := &f.d.atoms, e.Data.Data32
	if e.Format != 32 {
		return
	}
	switch e.Type {
	case a.protocols:
		switch xproto.Atom(data[0]) {
		case a.deleteWindow:
			f.handler.FrameClosing()
		case a.ping:
			f.d.message(f.d.root, toManager, f.d.root, a.protocols, data...)
		}
	default:
		f.drop.message(f, e.Type, data)
	}
}

// cursor returns the server's cursor of a kind, which is created on first use.
func (d *x11) cursor(c Cursor) xproto.Cursor {
	glyph, ok := map[Cursor]uint16{CursorText: 152, CursorHand: 60}[c]
	if !ok {
		return 0 // the desktop's default
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.pointers[c] != 0 {
		return d.pointers[c]
	}
	font, err := xproto.NewFontId(d.conn)
	if err != nil {
		return 0
	}
	id, err := xproto.NewCursorId(d.conn)
	if err != nil {
		return 0
	}
	const name = "cursor"
	xproto.OpenFont(d.conn, font, uint16(len(name)), name)
	xproto.CreateGlyphCursor(d.conn, id, font, font, glyph, glyph+1, 0, 0, 0, 0xffff, 0xffff, 0xffff)
	xproto.CloseFont(d.conn, font)
	d.pointers[c] = id
	return id
}
