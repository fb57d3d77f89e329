package window

import (
	"errors"
	"image"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"

	"wiebelt/internal/native/screenreader"
	"wiebelt/internal/native/win32"
)

// winWindow is one of our windows: a card or an ordinary one. Its methods are called
// on the loop's thread.
type winWindow interface {
	base() *winBase
	// message handles a message to the window; false leaves it to the system.
	message(what uint32, wParam, lParam uintptr) (uintptr, bool)
	destroy()
}

// winBase is what all windows have in common. Only the loop's thread may use its fields.
type winBase struct {
	d       *desktop
	hwnd    uintptr
	handler FrameHandler
	pic     *Picture // its content, kept for WM_PAINT
	inside  bool
	half    rune // first half of a character beyond 16 bits
}

func (b *winBase) base() *winBase { return b }

// create creates the system's window for w.
func (d *desktop) create(w winWindow, class, title string, style, ex uintptr) (err error) {
	b := w.base()
	if b.hwnd, err = win32.Create(class, title, style, ex, w.message); err == nil {
		d.windows[b.hwnd] = w
	}
	return err
}

// do runs f on the loop's thread while the window exists.
func (b *winBase) do(f func() error) error {
	return b.d.do(func() error {
		if b.hwnd == 0 {
			return ErrClosed
		}
		return f()
	})
}

// ask runs f, which cannot fail, on the loop's thread while the window exists.
func (b *winBase) ask(f func()) error {
	return b.do(func() error { f(); return nil })
}

func (b *winBase) Sync() error { return b.ask(func() { gdiFlush.Call() }) }

// Close destroys the window.
func (b *winBase) Close() error {
	err := b.ask(func() { b.d.windows[b.hwnd].destroy() })
	if errors.Is(err, ErrClosed) {
		return nil
	}
	return err
}

func (b *winBase) destroy() {
	screenreader.Detach(b.hwnd)
	delete(b.d.windows, b.hwnd)
	win32.Destroy(b.hwnd)
	b.hwnd, b.pic = 0, nil
}

// setReaderNode exists for windows on this platform only.
func (b *winBase) setReaderNode(n screenreader.ID) {
	_ = b.ask(func() { screenreader.Attach(b.hwnd, n) }) // a closed one cannot be explored
}

// place moves the window, borders included, to a rectangle of the desktop.
func (b *winBase) place(after uintptr, r image.Rectangle, flags uintptr) error {
	return resultErr(setWindowPos.Call(b.hwnd, after, uintptr(r.Min.X), uintptr(r.Min.Y), uintptr(r.Dx()), uintptr(r.Dy()), flags))
}

// repaint paints a part of the picture on screen at once.
func (b *winBase) repaint(r image.Rectangle) {
	part := winRect{int32(r.Min.X), int32(r.Min.Y), int32(r.Max.X), int32(r.Max.Y)}
	invalidateRect.Call(b.hwnd, uintptr(unsafe.Pointer(&part)), 0)
	updateWindow.Call(b.hwnd)
}

func (b *winBase) message(what uint32, wParam, lParam uintptr) (uintptr, bool) {
	switch what {
	case wmPaint:
		b.paint()
	case wmEraseBkgnd:
		return 1, true // the picture covers everything
	case wmDPIChanged:
		b.d.announce()
	case wmGetObject:
		return screenreader.HandleGetObject(b.hwnd, wParam, lParam)
	default:
		if what >= wmKeyDown && what <= wmSysChar {
			return 0, b.keys(what, wParam)
		}
		return 0, b.mouse(what, wParam, lParam)
	}
	return 0, true
}

func (b *winBase) paint() {
	var ps winPaint
	dc, _, _ := beginPaint.Call(b.hwnd, uintptr(unsafe.Pointer(&ps)))
	if dc == 0 {
		return
	}
	defer endPaint.Call(b.hwnd, uintptr(unsafe.Pointer(&ps)))
	if b.pic == nil {
		return
	}
	r := ps.area.image().Intersect(image.Rect(0, 0, b.pic.W, b.pic.H))
	if r.Empty() {
		return
	}
	// The required rows, as a separate picture.
	setDIBitsToDevice.Call(dc, uintptr(r.Min.X), uintptr(r.Min.Y), uintptr(r.Dx()), uintptr(r.Dy()), uintptr(r.Min.X), 0, 0, uintptr(r.Dy()),
		uintptr(unsafe.Pointer(&b.pic.Pix[4*r.Min.Y*b.pic.W])), uintptr(unsafe.Pointer(bitmapInfo(b.pic.W, r.Dy()))), 0)
}

// clientPoint extracts a position from a message: two signed halves of a word.
func clientPoint(lParam uintptr) image.Point {
	return image.Pt(int(int16(lParam)), int(int16(lParam>>16)))
}

// currentModifiers returns the modifiers that were down when the current message was sent.
func currentModifiers() Modifiers {
	var m Modifiers
	for _, k := range []struct {
		key uintptr
		m   Modifiers
	}{{vkShift, ModShift}, {vkControl, ModCtrl}, {vkAlt, ModAlt}, {0x5B, ModSuper}, {0x5C, ModSuper}} {
		if state, _, _ := getKeyState.Call(k.key); state&0x8000 != 0 {
			m |= k.m
		}
	}
	return m
}

// keys handles keys and the text that they type. The key arrives first, and its text in a
// separate message, which takes dead keys and every layout into account.
func (b *winBase) keys(what uint32, wParam uintptr) bool {
	switch what {
	case wmChar, wmSysChar:
		if what == wmChar {
			b.char(uint16(wParam))
		}
		return what == wmChar || wParam != ' ' // Alt and space open the window's menu
	case wmKeyDown, wmSysKeyDown, wmKeyUp, wmSysKeyUp:
	default:
		return false
	}
	e := KeyEvent{Down: what == wmKeyDown || what == wmSysKeyDown, Held: currentModifiers()}
	if sys := what == wmSysKeyDown || what == wmSysKeyUp; !sys && e.Held&ModCtrl == 0 {
		// The message says that Alt is not down, whatever key state was
		// recorded before another program took the keys.
		e.Held &^= ModAlt
	}
	if k, ok := namedKeys[wParam]; ok {
		e.Key = k
	} else if wParam >= 0x70 && wParam < 0x70+12 {
		e.Key = KeyF1 + Key(wParam-0x70)
	} else {
		const toCharacter = 2
		c, _, _ := mapVirtualKey.Call(wParam, toCharacter)
		e.Letter = unicode.ToLower(rune(c & 0xFFFF))
	}
	b.handler.FrameKey(e)
	// Windows still handles Alt, F10 and similar keys itself.
	return what == wmKeyDown || what == wmKeyUp
}

// char handles the text that a key types, one half of a UTF-16 pair at a time.
func (b *winBase) char(unit uint16) {
	r := rune(unit)
	if utf16.IsSurrogate(r) {
		if r < 0xDC00 { // a first half, whatever preceded it
			b.half = r
			return
		}
		r = utf16.DecodeRune(b.half, r)
	}
	b.half = 0
	held := currentModifiers()
	if r < ' ' || r == 0x7f || r == utf8.RuneError || held&ModCtrl != 0 && held&ModAlt == 0 {
		return // from keys that were already handled as such
	}
	b.handler.FrameKey(KeyEvent{Down: true, Text: string(r), Held: held & ModShift})
}

func (b *winBase) mouse(what uint32, wParam, lParam uintptr) bool {
	p := clientPoint(lParam)
	switch what {
	case wmMouseMove:
		if !b.inside {
			b.inside = true
			t := winTrack{flags: tmeLeave, hwnd: b.hwnd}
			t.size = uint32(unsafe.Sizeof(t))
			trackMouseEvent.Call(uintptr(unsafe.Pointer(&t)))
		}
		b.handler.FramePointer(p)
	case wmMouseLeave:
		b.inside = false
		b.handler.FrameLeft()
	case wmLButtonDown, wmMButtonDown, wmRButtonDown:
		// Keep receiving the pointer's messages until the button is up.
		setCapture.Call(b.hwnd)
		b.handler.FrameButton(p, buttons[what], true, currentModifiers())
	case wmLButtonUp, wmMButtonUp, wmRButtonUp:
		const others = 0x13
		if wParam&others == 0 { // no other button is down
			releaseCapture.Call()
		}
		b.handler.FrameButton(p, buttons[what], false, currentModifiers())
	case wmMouseWheel, wmMouseHWheel:
		// The position is in screen coordinates.
		at := winPoint{int32(p.X), int32(p.Y)}
		screenToClient.Call(b.hwnd, uintptr(unsafe.Pointer(&at)))
		steps := float32(int16(wParam>>16)) / wheelStep
		dx, dy := float32(0), steps
		if what == wmMouseHWheel {
			dx, dy = -steps, 0
		} else if currentModifiers()&ModShift != 0 {
			dx, dy = dy, 0
		}
		b.handler.FrameScrolled(image.Pt(int(at.x), int(at.y)), dx, dy)
	default:
		return false
	}
	return true
}

var buttons = map[uint32]Button{
	wmLButtonDown: Left, wmLButtonUp: Left, wmMButtonDown: Middle, wmMButtonUp: Middle, wmRButtonDown: Right, wmRButtonUp: Right,
}
