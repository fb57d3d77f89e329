//go:build linux

package window

import (
	"image"
	"sync"
	"sync/atomic"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"
)

// x11Window is one of our windows: a card or an ordinary one.
type x11Window interface {
	base() *x11Base
	event(ev xgb.Event) // handles an event; events goroutine only
}

// x11Base is what all windows have in common.
type x11Base struct {
	d       *x11
	id      xproto.Window
	handler FrameHandler

	mu     sync.Mutex    // guards requests for this window
	pixmap atomic.Uint32 // its picture, 0 while it has none
	shown  atomic.Bool
	gone   bool
	fault  error // reported by the server, until Sync; guarded by d.mu

	compose composer // events goroutine only
}

func (b *x11Base) base() *x11Base { return b }

// x11Options are the properties of a new window.
type x11Options struct {
	size       image.Point
	background uint32
	unmanaged  bool // ignored by the window manager
	events     uint32
	kind       xproto.Atom // _NET_WM_WINDOW_TYPE
}

// create creates a window that is not shown yet.
func (d *x11) create(w x11Window, h FrameHandler, o x11Options) error {
	if err := d.errIfClosed(); err != nil {
		return err
	}
	id, err := xproto.NewWindowId(d.conn)
	if err != nil {
		return d.requestError(err)
	}
	b := w.base()
	b.d, b.id, b.handler, b.compose = d, id, h, composer{rules: systemCompose}
	d.mu.Lock()
	d.windows[id] = w
	d.mu.Unlock()
	unmanaged := uint32(0)
	if o.unmanaged {
		unmanaged = 1
	}
	// The border pixel is required if our visual is not the root's. Bit gravity keeps the
	// content in place during resizing. Values are in the order of their bits.
	err = xproto.CreateWindowChecked(d.conn, d.format.depth, id, d.root, 0, 0, uint16(o.size.X), uint16(o.size.Y), 0,
		xproto.WindowClassInputOutput, d.visual,
		xproto.CwBackPixel|xproto.CwBorderPixel|xproto.CwBitGravity|xproto.CwOverrideRedirect|xproto.CwEventMask|xproto.CwColormap,
		[]uint32{o.background, 0, xproto.GravityNorthWest, unmanaged, o.events, uint32(d.colors)}).Check()
	if err != nil {
		d.forget(id)
		return d.requestError(err)
	}
	d.setText(id, xproto.AtomWmClass, xproto.AtomString, "wiebelt\x00Wiebelt\x00")
	d.setNumbers(id, d.atoms.windowType, xproto.AtomAtom, uint32(o.kind))
	return nil
}

func (d *x11) setText(id xproto.Window, property, kind xproto.Atom, v string) {
	xproto.ChangeProperty(d.conn, xproto.PropModeReplace, id, property, kind, 8, uint32(len(v)), []byte(v))
}

func (d *x11) forget(id xproto.Window) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.windows, id)
}

// message sends a message about a window to another; with a mask of 0, the
// program that created the latter receives it.
func (d *x11) message(to xproto.Window, mask uint32, about xproto.Window, kind xproto.Atom, v ...uint32) {
	e := xproto.ClientMessageEvent{Format: 32, Window: about, Type: kind,
		Data: xproto.ClientMessageDataUnionData32New(append(v, make([]uint32, 5-len(v))...))}
	xproto.SendEvent(d.conn, false, to, mask, string(e.Bytes()))
}

// do runs f while the window exists.
func (b *x11Base) do(f func() error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.gone {
		return ErrClosed
	}
	if err := b.d.errIfClosed(); err != nil {
		return err
	}
	if err := f(); err != nil {
		return b.d.requestError(err)
	}
	return b.d.errIfClosed()
}

// setTitle sets the window's title. b.mu must be held, or not needed yet.
func (b *x11Base) setTitle(title string) {
	b.d.setText(b.id, xproto.AtomWmName, xproto.AtomString, latin1(title))
	b.d.setText(b.id, b.d.atoms.netName, b.d.atoms.utf8, title)
}

func (b *x11Base) newPixmap(size image.Point) (xproto.Pixmap, error) {
	px, err := xproto.NewPixmapId(b.d.conn)
	if err == nil {
		xproto.CreatePixmap(b.d.conn, b.d.format.depth, px, xproto.Drawable(b.d.root), uint16(size.X), uint16(size.Y))
		b.pixmap.Store(uint32(px))
	}
	return px, err
}

func (b *x11Base) Sync() error {
	if err := b.do(func() error { return nil }); err != nil {
		return err
	}
	if _, err := xproto.GetInputFocus(b.d.conn).Reply(); err != nil {
		return b.d.requestError(err)
	}
	b.d.mu.Lock()
	defer b.d.mu.Unlock()
	err := b.fault
	b.fault = nil
	return err
}

// close destroys the window, after calling before.
func (b *x11Base) close(before func()) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.gone {
		return nil
	}
	before()
	b.gone = true
	b.d.forget(b.id)
	xproto.DestroyWindow(b.d.conn, b.id)
	if px := b.pixmap.Load(); px != 0 {
		xproto.FreePixmap(b.d.conn, xproto.Pixmap(px))
	}
	return nil
}

func (b *x11Base) event(ev xgb.Event) {
	switch e := ev.(type) {
	case xproto.MotionNotifyEvent:
		b.handler.FramePointer(pointAt(e.EventX, e.EventY))
	case xproto.EnterNotifyEvent:
		b.handler.FramePointer(pointAt(e.EventX, e.EventY))
	case xproto.LeaveNotifyEvent:
		b.handler.FrameLeft()
	case xproto.ButtonPressEvent:
		b.button(pointAt(e.EventX, e.EventY), e.Detail, e.State, true)
	case xproto.ButtonReleaseEvent:
		b.button(pointAt(e.EventX, e.EventY), e.Detail, e.State, false)
	case xproto.KeyPressEvent:
		b.key(byte(e.Detail), e.State, true)
	case xproto.KeyReleaseEvent:
		b.key(byte(e.Detail), e.State, false)
	}
}

// button handles a button. X numbers the wheel 4 to 7; higher buttons are ignored. With Shift
// the wheel scrolls sideways, as is usual.
func (b *x11Base) button(p image.Point, n xproto.Button, state uint16, down bool) {
	held := b.d.modifiers(state)
	if n >= 1 && n <= 3 {
		b.handler.FrameButton(p, Button(n), down, held)
	} else if down && n >= 4 && n <= 7 {
		dx, dy := float32(0), float32(1)
		if n == 5 || n == 7 {
			dy = -1
		}
		if n >= 6 || held&ModShift != 0 {
			dx, dy = dy, 0
		}
		b.handler.FrameScrolled(p, dx, dy)
	}
}

func (b *x11Base) key(code byte, state uint16, down bool) {
	b.d.keyboard.Lock()
	e, s := b.d.keymap.event(code, state)
	b.d.keyboard.Unlock()
	e.Down = down
	if down {
		switch {
		case e.Key.IsModifier(): // held for the next key
		case e.Held&(ModCtrl|ModAlt|ModSuper) == 0 && (e.Key == KeyText || e.Key == KeySpace):
			e.Text = b.compose.feed(s, e.Text)
		default: // Backspace or an arrow key cancels the sequence
			b.compose.reset()
		}
	} else {
		e.Text = ""
	}
	b.handler.FrameKey(e)
}
