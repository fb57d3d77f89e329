//go:build linux

package window

import (
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"maps"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/randr"
	"github.com/jezek/xgb/xproto"

	"wiebelt/internal/native/xconn"
)

// openTimeout limits how long an X server may take to respond: one that hangs must not keep
// the program from starting without cards.
const openTimeout = 10 * time.Second

// x11 is a connection to an X server. One goroutine (events) reads the server's events,
// calls the handlers and serves the clipboard; it ends with the connection.
type x11 struct {
	x11Server
	x11Keys
	x11Focus
	x11Drawing

	settings  atomic.Pointer[settings]
	manager   xproto.Window // owner of XSETTINGS; events goroutine only
	clipboard clipboard
	wayland   waylandClipboard // if xwayland
	pasting   sync.Mutex       // one paste at a time
	pointers  [cursors]xproto.Cursor
	portal    *portal

	mu      sync.Mutex
	windows map[xproto.Window]x11Window
	names   map[xproto.Atom]string
	posted  queue

	ended
}

// x11Server describes the server; immutable once the connection is open.
type x11Server struct {
	conn       *xgb.Conn
	screen     *xproto.ScreenInfo
	root       xproto.Window
	atoms      atoms
	format     format // of our windows
	rootFormat format // of the root window, for OnScreen
	visual     xproto.Visualid
	colors     xproto.Colormap
	randr      bool // RandR 1.5 or later
	// xwayland means that the server runs on a Wayland desktop, and knows neither its
	// foreground windows nor where the pointer is over them.
	xwayland bool
}

// x11Keys has the meaning of the user's keys, and the hotkeys.
type x11Keys struct {
	keyboard sync.Mutex // guards keymap and hotkeys
	keymap   *keymap
	hotkeys  []*x11Hotkey
	stale    bool // the keyboard map has changed; events goroutine only
}

// x11Focus records which card has the focus.
type x11Focus struct {
	focusing      sync.Mutex // guards the following fields
	holder        *x11Card   // the card that was given the focus
	previousFocus focus
}

// x11Drawing has what sending pictures requires.
type x11Drawing struct {
	drawing sync.Mutex // guards gc's use and strip
	gc      xproto.Gcontext
	strip   []byte
}

// Open connects to the X server named by DISPLAY. It returns an error that wraps ErrNoDisplay
// if there is none, or ErrWayland if only WAYLAND_DISPLAY is set.
func Open() (Desktop, error) {
	if os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") != "" {
		return nil, ErrWayland
	}
	ctx, cancel := context.WithTimeout(context.Background(), openTimeout)
	defer cancel()
	conn, err := xconn.Open(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoDisplay, err)
	}
	d := &x11{
		x11Server: x11Server{conn: conn},
		windows:   map[xproto.Window]x11Window{},
		names:     map[xproto.Atom]string{},
		ended:     ended{make(chan struct{})},
	}
	if err := d.prepare(); err != nil {
		conn.Close()
		return nil, fmt.Errorf("%w: %w", ErrNoDisplay, err)
	}
	d.portal = startPortal(d.post, d.notifyChanged)
	go d.events()
	return d, nil
}

// rootEvents are the events of the root window: PropertyChange for resources
// and the work area, StructureNotify because a new settings manager
// announces itself to programs that listen for it.
const rootEvents = xproto.EventMaskPropertyChange | xproto.EventMaskStructureNotify

func (d *x11) prepare() error {
	setup := xproto.Setup(d.conn)
	if d.conn.DefaultScreen >= len(setup.Roots) {
		return errors.New("DISPLAY names a screen that is not there")
	}
	d.screen = setup.DefaultScreen(d.conn)
	d.root = d.screen.Root
	var err error
	if err := d.atoms.intern(d.conn); err != nil {
		return err
	}
	if d.format, d.rootFormat, d.visual, err = formats(setup, d.screen); err != nil {
		return err
	}
	if d.visual == d.screen.RootVisual {
		d.colors = d.screen.DefaultColormap
	} else {
		if d.colors, err = xproto.NewColormapId(d.conn); err != nil {
			return err
		}
		xproto.CreateColormap(d.conn, xproto.ColormapAllocNone, d.colors, d.root, d.visual)
	}
	if err := d.makeGC(); err != nil {
		return err
	}
	// The maximum request size, but no more than a quarter
	// of a megabyte: such strips cost nothing.
	d.strip = make([]byte, min(int(setup.MaximumRequestLength)*4, 262140))

	if d.conn.Extensions[xconn.RandR] != 0 {
		v, err := randr.QueryVersion(d.conn, 1, 5).Reply()
		d.randr = err == nil && (v.MajorVersion > 1 || v.MinorVersion >= 5)
		if err == nil {
			randr.SelectInput(d.conn, d.root, randr.NotifyMaskScreenChange|randr.NotifyMaskCrtcChange|randr.NotifyMaskOutputChange)
		}
	}
	xproto.ChangeWindowAttributes(d.conn, d.root, xproto.CwEventMask, []uint32{rootEvents})
	if err := d.prepareClipboard(); err != nil {
		return err
	}
	d.readSettings()
	useKeyboard(d.conn)
	if err := d.readKeys(); err != nil {
		return err
	}
	if d.xwayland = d.onWayland(); d.xwayland {
		xproto.ChangeWindowAttributes(d.conn, d.root, xproto.CwEventMask, []uint32{rootEvents | xproto.EventMaskSubstructureNotify})
	}
	_, err = xproto.GetInputFocus(d.conn).Reply()
	return err
}

// makeGC creates the graphics context for pictures. It needs a drawable of the right depth;
// the one-pixel pixmap exists only for that.
func (d *x11) makeGC() error {
	gc, err := xproto.NewGcontextId(d.conn)
	if err != nil {
		return err
	}
	px, err := xproto.NewPixmapId(d.conn)
	if err != nil {
		return err
	}
	d.gc = gc
	xproto.CreatePixmap(d.conn, d.format.depth, px, xproto.Drawable(d.root), 1, 1)
	xproto.CreateGC(d.conn, gc, xproto.Drawable(px), xproto.GcGraphicsExposures, []uint32{0})
	xproto.FreePixmap(d.conn, px)
	return nil
}

func (d *x11) Close() error {
	d.conn.Close()
	return nil
}

// requestError converts a request's error to ErrClosed if the connection is gone.
func (d *x11) requestError(err error) error {
	if err == nil {
		return nil
	}
	if d.errIfClosed() != nil || errors.Is(err, io.EOF) {
		return ErrClosed
	}
	return err
}

// events is the goroutine that reads the server's events. It handles only the last of several
// motions in a row, and several changes of the display as one.
func (d *x11) events() {
	defer func() {
		d.portal.stop()
		d.wayland.close()
		close(d.done)
	}()
	for {
		ev, fault := d.conn.WaitForEvent()
		if ev == nil && fault == nil {
			return
		}
		changed := false
		var moved *xproto.MotionNotifyEvent
		flush := func() {
			if moved != nil {
				if w := d.window(moved.Event); w != nil {
					w.event(*moved)
				}
				moved = nil
			}
		}
		for ; ev != nil || fault != nil; ev, fault = d.conn.PollForEvent() {
			if fault != nil {
				d.recordError(fault)
				continue
			}
			if m, ok := ev.(xproto.MotionNotifyEvent); ok {
				if moved != nil && moved.Event != m.Event {
					flush()
				}
				moved = &m
				continue
			}
			flush()
			changed = d.event(ev) || changed
		}
		flush()
		d.followKeys()
		if changed {
			d.notifyChanged()
		}
	}
}

func (d *x11) notifyChanged() {
	d.mu.Lock()
	all := slices.Collect(maps.Values(d.windows))
	d.mu.Unlock()
	for _, w := range all {
		w.base().handler.FrameDisplayChanged()
	}
}

// followKeys reads the keyboard map after a change, which arrives as
// many events, before anything depends on it.
func (d *x11) followKeys() {
	if d.stale {
		d.stale = false
		_ = d.readKeys() // a server that does not answer is gone
	}
}

// post makes the events goroutine, on which all handlers are called, call f. A
// message to one of our own windows wakes it.
func (d *x11) post(f func()) {
	d.posted.add(f)
	d.message(d.clipboard.window, 0, d.clipboard.window, d.atoms.ticket)
}

// event handles everything but motion and reports whether the display has changed.
func (d *x11) event(ev xgb.Event) bool {
	id := windowOf(ev)
	switch e := ev.(type) {
	case xproto.KeyPressEvent:
		d.followKeys()
		if d.hotkey(e) {
			return false
		}
		if id == d.root { // nothing else receives it while a hotkey is held down
			id = d.focusedCard()
		}
	case xproto.KeyReleaseEvent:
		d.handleKeyRelease(byte(e.Detail))
	case xproto.ConfigureNotifyEvent:
		if e.Event == d.root {
			d.restackCards(e.Window, e.OverrideRedirect)
			return false
		}
	case xproto.MapNotifyEvent:
		d.restackCards(e.Window, e.OverrideRedirect)
	}
	if w := d.window(id); w != nil {
		w.event(ev)
		return false
	}
	switch e := ev.(type) {
	case xconn.KeyboardEvent:
		d.stale = true
	case xproto.MappingNotifyEvent:
		d.stale = d.stale || e.Request != xproto.MappingPointer
	case xproto.SelectionRequestEvent:
		d.serve(e)
	case xproto.SelectionClearEvent:
		d.clipboard.drop()
	case xproto.SelectionNotifyEvent:
		d.pastedNotify(e)
	case xproto.PropertyNotifyEvent:
		return d.property(e)
	case xproto.ClientMessageEvent:
		return d.clientMessage(e)
	case xproto.DestroyNotifyEvent:
		if e.Window == d.manager {
			return d.readSettings()
		}
	case randr.ScreenChangeNotifyEvent, randr.NotifyEvent:
		return true
	}
	return false
}

func (d *x11) clientMessage(e xproto.ClientMessageEvent) bool {
	if e.Type == d.atoms.ticket {
		d.posted.run()
	}
	// A new settings manager announces itself.
	return e.Type == d.atoms.manager && e.Format == 32 && xproto.Atom(e.Data.Data32[1]) == d.atoms.xsettingsOwner && d.readSettings()
}

func (d *x11) property(e xproto.PropertyNotifyEvent) bool {
	switch {
	case e.Window == d.clipboard.window && e.Atom == d.atoms.pasted:
		if e.State == xproto.PropertyNewValue {
			d.pastedPart()
		}
	case e.Window == d.clipboard.window:
		d.clipboard.stamp(e.Time)
	case e.Window == d.root && e.Atom == xproto.AtomResourceManager,
		e.Window == d.manager && e.Atom == d.atoms.xsettings:
		return d.readSettings()
	case e.Window == d.root && (e.Atom == d.atoms.workArea || e.Atom == d.atoms.workAreas):
		return true
	}
	return false
}

// windowOf returns the window that an event is about, or 0
// for events not delivered to our windows.
func windowOf(ev xgb.Event) xproto.Window {
	switch e := ev.(type) {
	case xproto.EnterNotifyEvent:
		return e.Event
	case xproto.LeaveNotifyEvent:
		return e.Event
	case xproto.ButtonPressEvent:
		return e.Event
	case xproto.ButtonReleaseEvent:
		return e.Event
	case xproto.KeyPressEvent:
		return e.Event
	case xproto.KeyReleaseEvent:
		return e.Event
	case xproto.FocusInEvent:
		return e.Event
	case xproto.FocusOutEvent:
		return e.Event
	case xproto.ConfigureNotifyEvent:
		return e.Window
	case xproto.ExposeEvent:
		return e.Window
	case xproto.ClientMessageEvent:
		return e.Window
	case xproto.SelectionNotifyEvent:
		return e.Requestor
	}
	return 0
}

func pointAt(x, y int16) image.Point { return image.Pt(int(x), int(y)) }

func rectAt(x, y int16, w, h uint16) image.Rectangle {
	return image.Rect(int(x), int(y), int(x)+int(w), int(y)+int(h))
}

// window returns one of our windows, or nil if it no longer exists.
func (d *x11) window(id xproto.Window) x11Window {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.windows[id]
}

// recordError records an asynchronous error about one of our windows or its pixmap. It ignores errors
// about other programs' windows, which may disappear at any time.
func (d *x11) recordError(fault xgb.Error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, w := range d.windows {
		if b := w.base(); fault.BadId() == uint32(b.id) || fault.BadId() == b.pixmap.Load() {
			b.fault = fmt.Errorf("the X server reports: %w", fault)
		}
	}
}
