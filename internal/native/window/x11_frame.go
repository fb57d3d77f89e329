//go:build linux

package window

import (
	"bytes"
	"image"
	"os"
	"sync"
	"time"
	"unicode"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"
)

// frameEvents are what a frame hears of.
const frameEvents = restingEvents | xproto.EventMaskKeyPress | xproto.EventMaskKeyRelease | xproto.EventMaskStructureNotify |
	xproto.EventMaskExposure

// x11Frame is one ordinary window. Its picture lies in a pixmap, from which the
// events goroutine paints whatever comes to light.
type x11Frame struct {
	d       *x11
	id      xproto.Window
	handler FrameHandler

	mu     sync.Mutex // guards what is asked of the server for this window
	pixmap xproto.Pixmap
	gc     xproto.Gcontext
	held   image.Point // size of the pixmap
	up     bool
	gone   bool
	least  image.Point
	wanted *image.Point // where it is to come up

	// Of the events goroutine only.
	size    image.Point
	compose composer
	drop    drop
	monitor int
}

func (d *x11) NewFrame(h FrameHandler, o FrameOptions) (Frame, error) {
	if err := d.alive(); err != nil {
		return nil, err
	}
	id, err := xproto.NewWindowId(d.conn)
	if err != nil {
		return nil, d.lost(err)
	}
	f := &x11Frame{d: d, id: id, handler: h, size: o.Size, compose: newComposer()}
	d.mu.Lock()
	d.frames[id] = f
	d.mu.Unlock()
	c := d.conn
	err = xproto.CreateWindowChecked(c, d.format.depth, id, d.root, 0, 0, uint16(o.Size.X), uint16(o.Size.Y), 0,
		xproto.WindowClassInputOutput, d.visual,
		xproto.CwBackPixel|xproto.CwBorderPixel|xproto.CwBitGravity|xproto.CwEventMask|xproto.CwColormap,
		[]uint32{
			scale(o.Background[0], d.format.red) | scale(o.Background[1], d.format.green) | scale(o.Background[2], d.format.blue),
			0,
			xproto.GravityNorthWest,
			frameEvents,
			uint32(d.colors),
		}).Check()
	if err != nil {
		d.forgetFrame(id)
		return nil, d.lost(err)
	}
	if f.gc, err = xproto.NewGcontextId(c); err != nil {
		d.forgetFrame(id)
		return nil, d.lost(err)
	}
	xproto.CreateGC(c, f.gc, xproto.Drawable(id), xproto.GcGraphicsExposures, []uint32{0})
	a := &d.atoms
	d.setNumbers(id, a.protocols, xproto.AtomAtom, uint32(a.deleteWindow), uint32(a.ping))
	d.setNumbers(id, a.windowType, xproto.AtomAtom, uint32(a.normal))
	d.setNumbers(id, a.pid, xproto.AtomCardinal, uint32(os.Getpid()))
	d.setNumbers(id, a.dndAware, xproto.AtomAtom, dndVersion)
	// Takes the keyboard, and the window manager is the one to give it.
	const inputHint = 1
	d.setNumbers(id, xproto.AtomWmHints, xproto.AtomWmHints, inputHint, 1, 0, 0, 0, 0, 0, 0, 0)
	d.setText(id, xproto.AtomWmClass, xproto.AtomString, "wiebelt\x00Wiebelt\x00")
	if host, err := os.Hostname(); err == nil {
		d.setText(id, xproto.AtomWmClientMachine, xproto.AtomString, host)
	}
	if len(o.Icons) > 0 {
		d.setNumbers(id, a.icon, xproto.AtomCardinal, iconNumbers(o.Icons)...)
	}
	_ = f.SetTitle(o.Title) // fails as the next request does
	f.hints()
	return f, d.alive()
}

// iconNumbers is the form of _NET_WM_ICON: width, height and pixels of each.
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

func (d *x11) forgetFrame(id xproto.Window) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.frames, id)
}

func (d *x11) frame(id xproto.Window) *x11Frame {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.frames[id]
}

// do runs f while the window exists.
func (f *x11Frame) do(g func()) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.gone {
		return ErrClosed
	}
	if err := f.d.alive(); err != nil {
		return err
	}
	g()
	return f.d.alive()
}

func (f *x11Frame) SetTitle(title string) error {
	return f.do(func() {
		f.d.setText(f.id, xproto.AtomWmName, xproto.AtomString, string(latin1([]byte(title))))
		f.d.setText(f.id, f.d.atoms.netName, f.d.atoms.utf8, title)
	})
}

func (f *x11Frame) SetDark(on bool) error {
	return f.do(func() {
		variant := "light"
		if on {
			variant = "dark"
		}
		f.d.setText(f.id, f.d.atoms.variant, f.d.atoms.utf8, variant)
	})
}

func (f *x11Frame) SetLimits(least image.Point) error {
	return f.do(func() {
		f.least = least
		f.hints()
	})
}

// hints tells the window manager sizes and place; f.mu is held or not needed yet.
func (f *x11Frame) hints() {
	const programPosition, minSize = 1 << 2, 1 << 4
	v := make([]uint32, 18)
	v[0] = minSize
	v[5], v[6] = uint32(max(f.least.X, 1)), uint32(max(f.least.Y, 1))
	if f.wanted != nil {
		v[0] |= programPosition
		v[1], v[2] = uint32(int32(f.wanted.X)), uint32(int32(f.wanted.Y))
	}
	f.d.setNumbers(f.id, xproto.AtomWmNormalHints, xproto.AtomWmSizeHints, v...)
}

func (f *x11Frame) SetCursor(c Cursor) error {
	return f.do(func() {
		xproto.ChangeWindowAttributes(f.d.conn, f.id, xproto.CwCursor, []uint32{uint32(f.d.cursor(c))})
	})
}

func (f *x11Frame) Show() error {
	return f.do(func() {
		if !f.up {
			f.up = true
			xproto.MapWindow(f.d.conn, f.id)
			return
		}
		// As a pager asks: a program that asks for itself may be refused, and
		// somebody has just asked for this window elsewhere.
		const pager = 2
		e := xproto.ClientMessageEvent{Format: 32, Window: f.id, Type: f.d.atoms.activate,
			Data: xproto.ClientMessageDataUnionData32New([]uint32{pager, 0, 0, 0, 0})}
		xproto.SendEvent(f.d.conn, false, f.d.root, xproto.EventMaskSubstructureRedirect|xproto.EventMaskSubstructureNotify, string(e.Bytes()))
	})
}

func (f *x11Frame) Hide() error {
	return f.do(func() {
		f.up = false
		xproto.UnmapWindow(f.d.conn, f.id)
	})
}

func (f *x11Frame) Resize(size image.Point) error {
	return f.do(func() {
		xproto.ConfigureWindow(f.d.conn, f.id, xproto.ConfigWindowWidth|xproto.ConfigWindowHeight,
			[]uint32{uint32(min(max(size.X, 1), maxSide)), uint32(min(max(size.Y, 1), maxSide))})
	})
}

func (f *x11Frame) Move(p image.Point) error {
	return f.do(func() {
		f.wanted = &p
		f.hints()
		xproto.ConfigureWindow(f.d.conn, f.id, xproto.ConfigWindowX|xproto.ConfigWindowY, []uint32{uint32(int32(p.X)), uint32(int32(p.Y))})
	})
}

func (f *x11Frame) Place() (image.Rectangle, error) {
	var r image.Rectangle
	var err error
	if failed := f.do(func() {
		geometry := xproto.GetGeometry(f.d.conn, xproto.Drawable(f.id))
		at, e := xproto.TranslateCoordinates(f.d.conn, f.id, f.d.root, 0, 0).Reply()
		g, e2 := geometry.Reply()
		if e != nil || e2 != nil {
			err = ErrClosed
			return
		}
		r = image.Rect(0, 0, int(g.Width), int(g.Height)).Add(image.Pt(int(at.DstX), int(at.DstY)))
	}); failed != nil {
		return r, failed
	}
	return r, err
}

func (f *x11Frame) Draw(p image.Point, pic *Picture) error {
	if pic == nil || len(pic.Pix) != 4*pic.W*pic.H || pic.W <= 0 || pic.H <= 0 || p.X < 0 || p.Y < 0 {
		return errBroken
	}
	return f.do(func() {
		f.room(p.Add(image.Pt(pic.W, pic.H)))
		f.d.put(f.pixmap, p, pic)
		f.copy(image.Rect(p.X, p.Y, p.X+pic.W, p.Y+pic.H))
	})
}

// room makes the pixmap at least so large, keeping what it holds.
func (f *x11Frame) room(size image.Point) {
	if size.X <= f.held.X && size.Y <= f.held.Y {
		return
	}
	c := f.d.conn
	id, err := xproto.NewPixmapId(c)
	if err != nil {
		return // the connection is gone, which the next request says
	}
	// In steps, or a window whose corner is dragged would get one for each pixel.
	step := func(v int) int { return min((v+127)&^127, maxSide) }
	to := image.Pt(step(max(size.X, f.held.X)), step(max(size.Y, f.held.Y)))
	xproto.CreatePixmap(c, f.d.format.depth, id, xproto.Drawable(f.d.root), uint16(to.X), uint16(to.Y))
	if f.pixmap != 0 {
		xproto.CopyArea(c, xproto.Drawable(f.pixmap), xproto.Drawable(id), f.gc, 0, 0, 0, 0, uint16(f.held.X), uint16(f.held.Y))
		xproto.FreePixmap(c, f.pixmap)
	}
	f.pixmap, f.held = id, to
}

// copy brings a part of the pixmap on screen.
func (f *x11Frame) copy(r image.Rectangle) {
	if r = r.Intersect(image.Rectangle{Max: f.held}); r.Empty() || f.pixmap == 0 {
		return
	}
	xproto.CopyArea(f.d.conn, xproto.Drawable(f.pixmap), xproto.Drawable(f.id), f.gc,
		int16(r.Min.X), int16(r.Min.Y), int16(r.Min.X), int16(r.Min.Y), uint16(r.Dx()), uint16(r.Dy()))
}

func (f *x11Frame) Sync() error {
	var err error
	if gone := f.do(func() { _, err = xproto.GetInputFocus(f.d.conn).Reply() }); gone != nil {
		return gone
	}
	return f.d.lost(err)
}

func (f *x11Frame) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.gone {
		return nil
	}
	f.gone = true
	f.d.forgetFrame(f.id)
	c := f.d.conn
	if f.pixmap != 0 {
		xproto.FreePixmap(c, f.pixmap)
	}
	xproto.FreeGC(c, f.gc)
	xproto.DestroyWindow(c, f.id)
	return nil
}

// event deals with what happens to the frame; events goroutine only.
func (f *x11Frame) event(ev xgb.Event) {
	switch e := ev.(type) {
	case xproto.MotionNotifyEvent:
		f.handler.FramePointer(at(e.EventX, e.EventY), f.d.modifiers(e.State))
	case xproto.EnterNotifyEvent:
		f.handler.FramePointer(at(e.EventX, e.EventY), f.d.modifiers(e.State))
	case xproto.LeaveNotifyEvent:
		if e.Mode == xproto.NotifyModeNormal {
			f.handler.FrameLeft()
		}
	case xproto.ButtonPressEvent:
		f.button(at(e.EventX, e.EventY), e.Detail, e.State, true)
	case xproto.ButtonReleaseEvent:
		f.button(at(e.EventX, e.EventY), e.Detail, e.State, false)
	case xproto.KeyPressEvent:
		f.key(byte(e.Detail), e.State, true)
	case xproto.KeyReleaseEvent:
		f.key(byte(e.Detail), e.State, false)
	case xproto.FocusInEvent:
		f.focus(e.Mode, e.Detail, true)
	case xproto.FocusOutEvent:
		f.focus(e.Mode, e.Detail, false)
	case xproto.ConfigureNotifyEvent:
		if size := image.Pt(int(e.Width), int(e.Height)); size != f.size {
			f.size = size
			f.handler.FrameResized(size)
		}
		f.moved()
	case xproto.ExposeEvent:
		_ = f.do(func() { // a frame that is gone needs no picture
			f.copy(image.Rect(int(e.X), int(e.Y), int(e.X)+int(e.Width), int(e.Y)+int(e.Height)))
		})
	case xproto.ClientMessageEvent:
		f.message(e)
	case xproto.SelectionNotifyEvent:
		f.drop.arrived(f, e)
	}
}

// moved tells when the window has come to another monitor.
func (f *x11Frame) moved() {
	_, list := f.d.areas()
	if len(list) < 2 {
		return
	}
	r, err := f.Place()
	if err != nil {
		return
	}
	if i := largestShare(list, r); i >= 0 && i != f.monitor {
		f.monitor = i
		f.handler.FrameDisplayChanged()
	}
}

func (f *x11Frame) focus(mode, detail byte, has bool) {
	if mode == xproto.NotifyModeGrab || mode == xproto.NotifyModeUngrab ||
		detail == xproto.NotifyDetailPointer || detail == xproto.NotifyDetailInferior {
		return
	}
	f.compose.reset()
	f.handler.FrameFocus(has)
}

func (f *x11Frame) button(p image.Point, n xproto.Button, state uint16, down bool) {
	held := f.d.modifiers(state)
	switch {
	case n >= 1 && n <= 3:
		f.handler.FrameButton(p, Button(n), down, held)
	case !down:
	case n == 4:
		f.scroll(p, 0, 1, held)
	case n == 5:
		f.scroll(p, 0, -1, held)
	case n == 6:
		f.scroll(p, 1, 0, held)
	case n == 7:
		f.scroll(p, -1, 0, held)
	}
}

// scroll: with Shift the wheel goes sideways, as everywhere.
func (f *x11Frame) scroll(p image.Point, dx, dy float32, held Modifiers) {
	if held&ModShift != 0 && dx == 0 {
		dx, dy = dy, 0
	}
	f.handler.FrameScrolled(p, dx, dy)
}

func (f *x11Frame) key(code byte, state uint16, down bool) {
	f.d.keyboard.Lock()
	e, s := f.d.keymap.event(code, state)
	f.d.keyboard.Unlock()
	e.Down = down
	if down {
		switch {
		case e.Key == KeyShift || e.Key == KeyCtrl || e.Key == KeyAlt || e.Key == KeySuper: // held for what comes next
		case e.Held&(ModCtrl|ModAlt|ModSuper) == 0 && (e.Key == KeyText || e.Key == KeySpace):
			e.Text = f.compose.feed(s, e.Text)
		default: // Backspace, an arrow: what was begun is off
			f.compose.reset()
		}
	} else {
		e.Text = ""
	}
	f.handler.FrameKey(e)
}

func (f *x11Frame) message(e xproto.ClientMessageEvent) {
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
			e.Window = f.d.root
			xproto.SendEvent(f.d.conn, false, f.d.root, xproto.EventMaskSubstructureRedirect|xproto.EventMaskSubstructureNotify, string(e.Bytes()))
		}
	default:
		f.drop.message(f, e.Type, data)
	}
}

// modifiers turns the state of an event into ours.
func (d *x11) modifiers(state uint16) Modifiers {
	d.keyboard.Lock()
	alt, super := d.keymap.alt, d.keymap.super
	d.keyboard.Unlock()
	return heldKeys(state, alt, super)
}

func heldKeys(state, alt, super uint16) Modifiers {
	var m Modifiers
	if state&xproto.ModMaskShift != 0 {
		m |= ModShift
	}
	if state&xproto.ModMaskControl != 0 {
		m |= ModCtrl
	}
	if state&alt != 0 {
		m |= ModAlt
	}
	if state&super != 0 {
		m |= ModSuper
	}
	return m
}

// event turns a key into what a frame is told, and gives its symbol.
func (m *keymap) event(code byte, state uint16) (KeyEvent, sym) {
	group := int(state >> 13 & 3)
	s, used := m.at(code, group, state)
	e := KeyEvent{Held: heldKeys(state, m.alt&^used, m.super&^used), Key: s.key(), Letter: m.letter(code, group)}
	if e.Key == KeyText {
		e.Key = s.frameKey()
	}
	if e.Key != KeyText && e.Key != KeySpace || e.Held&(ModCtrl|ModAlt|ModSuper) != 0 {
		return e, s
	}
	r := s.rune()
	if state&xproto.ModMaskLock != 0 && used&xproto.ModMaskLock == 0 {
		r = unicode.ToUpper(r)
	}
	if r != 0 {
		e.Text = string(r)
	}
	return e, s
}

// frameKey is the meaning of keys that only frames are told of.
func (s sym) frameKey() Key {
	switch {
	case s == 0x20, s == 0xff80:
		return KeySpace
	case s == 0xff63, s == 0xff9e:
		return KeyInsert
	case s == 0xffe1, s == 0xffe2:
		return KeyShift
	case s == 0xffe3, s == 0xffe4:
		return KeyCtrl
	case s == 0xffe9, s == 0xffea:
		return KeyAlt
	case s == 0xffeb, s == 0xffec:
		return KeySuper
	case s == 0xff67:
		return KeyMenu
	case s >= firstFunctionKey && s < firstFunctionKey+12:
		return KeyF1 + Key(s-firstFunctionKey)
	}
	return KeyText
}

// cursor gives the server's cursor of a kind, made at its first use.
func (d *x11) cursor(c Cursor) xproto.Cursor {
	glyph, ok := map[Cursor]uint16{CursorText: 152, CursorHand: 60, CursorCross: 34, CursorHorizontal: 108, CursorVertical: 116}[c]
	if !ok || int(c) >= len(d.pointers) {
		return 0 // that of the desktop
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

// pasteWait bounds how long a program may take to hand over what it has copied.
const pasteWait = 500 * time.Millisecond

func (d *x11) Paste() (string, error) {
	if err := d.alive(); err != nil {
		return "", err
	}
	cb := &d.clipboard
	cb.mu.Lock()
	text, owned := string(cb.text), cb.owned
	cb.mu.Unlock()
	if owned {
		return text, nil
	}
	d.pasting.Lock()
	defer d.pasting.Unlock()
	late := time.Now().Add(pasteWait)
	for _, kind := range []xproto.Atom{d.atoms.utf8, xproto.AtomString} {
		b, ok := d.paste(d.atoms.clipboard, kind, late)
		if !ok {
			continue
		}
		if kind == xproto.AtomString {
			return latin1Text(b), nil
		}
		return string(bytes.ToValidUTF8(bytes.TrimRight(b, "\x00"), []byte("\uFFFD"))), nil
	}
	return "", d.alive()
}

// paste asks for one kind of what a selection holds.
func (d *x11) paste(selection, kind xproto.Atom, late time.Time) ([]byte, bool) {
	got := make(chan []byte, 1)
	d.clipboard.mu.Lock()
	d.clipboard.paste = &pasting{kind: kind, done: got}
	d.clipboard.mu.Unlock()
	defer func() {
		d.clipboard.mu.Lock()
		d.clipboard.paste = nil
		d.clipboard.mu.Unlock()
	}()
	xproto.DeleteProperty(d.conn, d.clipboard.window, d.atoms.pasted)
	xproto.ConvertSelection(d.conn, d.clipboard.window, selection, kind, d.atoms.pasted, xproto.TimeCurrentTime)
	t := time.NewTimer(time.Until(late))
	defer t.Stop()
	select {
	case b := <-got:
		return b, b != nil
	case <-t.C:
	case <-d.done:
	}
	return nil, false
}

// pasting is a text on its way to us.
type pasting struct {
	kind  xproto.Atom
	done  chan []byte
	parts []byte // of one that comes in pieces
	more  bool
}

// maxPaste bounds a text that somebody pastes.
const maxPaste = 4 << 20

// pasted takes what another program has put into our property; events
// goroutine only.
func (d *x11) pastedNotify(e xproto.SelectionNotifyEvent) {
	cb := &d.clipboard
	cb.mu.Lock()
	defer cb.mu.Unlock()
	p := cb.paste
	if p == nil || e.Target != p.kind {
		return
	}
	if e.Property == 0 {
		p.finish(nil)
		return
	}
	b, kind := d.takeProperty(cb.window, d.atoms.pasted)
	if kind == d.atoms.incr {
		p.more = true // the rest comes as changes of the property
		return
	}
	if b == nil {
		b = []byte{}
	}
	p.finish(b)
}

func (p *pasting) finish(b []byte) {
	select {
	case p.done <- b:
	default:
	}
}

// pastedPart takes the next piece of a long text.
func (d *x11) pastedPart() {
	cb := &d.clipboard
	cb.mu.Lock()
	defer cb.mu.Unlock()
	p := cb.paste
	if p == nil || !p.more {
		return
	}
	b, _ := d.takeProperty(cb.window, d.atoms.pasted)
	if p.parts = append(p.parts, b...); len(b) == 0 || len(p.parts) > maxPaste {
		p.finish(append([]byte{}, p.parts...))
	}
}

// takeProperty reads a property and deletes it.
func (d *x11) takeProperty(id xproto.Window, name xproto.Atom) ([]byte, xproto.Atom) {
	r, err := xproto.GetProperty(d.conn, true, id, name, xproto.GetPropertyTypeAny, 0, maxPaste/4).Reply()
	if err != nil || r == nil {
		return nil, 0
	}
	return r.Value, r.Type
}

func latin1Text(b []byte) string {
	r := make([]rune, len(b))
	for i, c := range b {
		r[i] = rune(c)
	}
	return string(r)
}
