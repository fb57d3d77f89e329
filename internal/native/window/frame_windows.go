package window

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/png"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"

	"golang.org/x/sys/windows"

	"wiebelt/internal/native/win32"
)

// winFrame is one ordinary window. All fields belong to the loop's thread.
type winFrame struct {
	d       *desktop
	hwnd    uintptr
	handler FrameHandler

	pic        *Picture // what it shows, as large as the content
	background [3]uint8
	least      image.Point
	cursor     uintptr
	inside     bool
	half       rune // of a character beyond 16 bits
	icons      []uintptr
}

var frameClass = win32.Class("WiebeltWindow", windowProc)

// errNoWindow is the answer where the system refuses without a reason.
var errNoWindow = errors.New("the system refuses")

func (d *desktop) NewFrame(h FrameHandler, o FrameOptions) (Frame, error) {
	f := &winFrame{d: d, handler: h, background: o.Background}
	return f, d.do(func() error {
		name, err := frameClass()
		if err != nil {
			return err
		}
		if f.hwnd, err = win32.Create(name, o.Title, wsOverlapped, 0); err != nil {
			return err
		}
		d.frames[f.hwnd] = f
		desktops.Store(f.hwnd, d)
		dragAcceptFiles.Call(f.hwnd, 1)
		f.setIcons(o.Icons)
		f.cursor = systemCursor(CursorArrow)
		f.resize(o.Size)
		return nil
	})
}

// setIcons gives the window the icons that are nearest to what Windows shows.
func (f *winFrame) setIcons(icons []*image.NRGBA) {
	const small, big, version = 0, 1, 0x00030000
	for which, want := range map[uintptr]int{small: 16, big: 32} {
		var best *image.NRGBA
		for _, i := range icons {
			if best == nil || abs(i.Rect.Dx()-want) < abs(best.Rect.Dx()-want) {
				best = i
			}
		}
		var b bytes.Buffer
		if best == nil || png.Encode(&b, best) != nil {
			continue
		}
		p := b.Bytes()
		h, _, _ := createIconFromResource.Call(uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)), 1, version, uintptr(want), uintptr(want), 0)
		if h != 0 {
			f.icons = append(f.icons, h)
			sendMessage.Call(f.hwnd, wmSetIcon, which, h)
		}
	}
}

func abs(v int) int { return max(v, -v) }

// do runs g on the loop's thread while the window exists.
func (f *winFrame) do(g func() error) error {
	return f.d.do(func() error {
		if f.hwnd == 0 {
			return ErrClosed
		}
		return g()
	})
}

func (f *winFrame) SetTitle(title string) error {
	t, err := windows.UTF16PtrFromString(strings.ReplaceAll(title, "\x00", ""))
	if err != nil {
		return err
	}
	return f.do(func() error { return done(setWindowText.Call(f.hwnd, uintptr(unsafe.Pointer(t)))) })
}

// done turns the answer of a function of the system into an error.
func done(ok, _ uintptr, err error) error {
	switch {
	case ok != 0:
		return nil
	case err == windows.ERROR_SUCCESS:
		return errNoWindow
	}
	return err
}

func (f *winFrame) SetDark(on bool) error {
	return f.do(func() error {
		const immersiveDark = 20
		v := int32(0)
		if on {
			v = 1
		}
		if setWindowAttribute.Find() == nil { // older systems have no dark borders
			setWindowAttribute.Call(f.hwnd, immersiveDark, uintptr(unsafe.Pointer(&v)), unsafe.Sizeof(v))
		}
		return nil
	})
}

func (f *winFrame) SetLimits(least image.Point) error {
	return f.do(func() error { f.least = least; return nil })
}

func (f *winFrame) SetCursor(c Cursor) error {
	return f.do(func() error {
		f.cursor = systemCursor(c)
		if f.inside {
			setCursor.Call(f.cursor)
		}
		return nil
	})
}

// systemCursor is a cursor of the user's scheme; none is no cursor.
func systemCursor(c Cursor) uintptr {
	id, ok := map[Cursor]uintptr{CursorArrow: 32512, CursorText: 32513, CursorCross: 32515, CursorHand: 32649, CursorHorizontal: 32644, CursorVertical: 32645}[c]
	if !ok {
		return 0
	}
	h, _, _ := loadCursor.Call(0, id)
	return h
}

func (f *winFrame) Show() error {
	return f.do(func() error {
		how := uintptr(swShow)
		if minimized, _, _ := isIconic.Call(f.hwnd); minimized != 0 {
			how = swRestore
		}
		showWindow.Call(f.hwnd, how)
		setForegroundWindow.Call(f.hwnd) // refused where the user works elsewhere; the task bar blinks then
		updateWindow.Call(f.hwnd)
		return nil
	})
}

func (f *winFrame) Hide() error {
	return f.do(func() error { showWindow.Call(f.hwnd, swHide); return nil })
}

func (f *winFrame) Resize(size image.Point) error {
	return f.do(func() error { return f.resize(size) })
}

func (f *winFrame) resize(size image.Point) error {
	r := f.around(image.Rectangle{Max: size})
	return done(setWindowPos.Call(f.hwnd, 0, 0, 0, uintptr(r.Dx()), uintptr(r.Dy()), swpNoMove|swpNoZOrder|swpNoActivate))
}

func (f *winFrame) Move(p image.Point) error {
	return f.do(func() error {
		r := f.around(image.Rectangle{Min: p, Max: p.Add(image.Pt(1, 1))})
		return done(setWindowPos.Call(f.hwnd, 0, uintptr(r.Min.X), uintptr(r.Min.Y), 0, 0, swpNoSize|swpNoZOrder|swpNoActivate))
	})
}

// around is the place of a window whose content has a place.
func (f *winFrame) around(r image.Rectangle) image.Rectangle {
	w := winRect{int32(r.Min.X), int32(r.Min.Y), int32(r.Max.X), int32(r.Max.Y)}
	if adjustWindowRectForDPI.Find() == nil && getDPIForWindow.Find() == nil {
		dpi, _, _ := getDPIForWindow.Call(f.hwnd)
		adjustWindowRectForDPI.Call(uintptr(unsafe.Pointer(&w)), wsOverlapped, 0, 0, dpi)
	} else {
		adjustWindowRect.Call(uintptr(unsafe.Pointer(&w)), wsOverlapped, 0, 0)
	}
	return w.image()
}

func (f *winFrame) Place() (image.Rectangle, error) {
	var r image.Rectangle
	err := f.do(func() error {
		r = image.Rectangle{Max: f.size()}
		var p winPoint
		clientToScreen.Call(f.hwnd, uintptr(unsafe.Pointer(&p)))
		r = r.Add(image.Pt(int(p.x), int(p.y)))
		return nil
	})
	return r, err
}

// size is that of the content.
func (f *winFrame) size() image.Point {
	var r winRect
	getClientRect.Call(f.hwnd, uintptr(unsafe.Pointer(&r)))
	return r.image().Size()
}

// fit makes the picture as large as the content, keeping what it shows.
func (f *winFrame) fit(size image.Point) {
	if size.X <= 0 || size.Y <= 0 || f.pic != nil && f.pic.W == size.X && f.pic.H == size.Y {
		return
	}
	pic := NewPicture(size.X, size.Y, nil)
	for i := 0; i < len(pic.Pix); i += 4 {
		pic.Pix[i], pic.Pix[i+1], pic.Pix[i+2] = f.background[2], f.background[1], f.background[0]
	}
	if f.pic != nil {
		for y := range min(pic.H, f.pic.H) {
			copy(pic.Pix[4*y*pic.W:4*(y+1)*pic.W], f.pic.Pix[4*y*f.pic.W:4*(y+1)*f.pic.W])
		}
	}
	f.pic = pic
}

func (f *winFrame) Draw(p image.Point, pic *Picture) error {
	if pic == nil || len(pic.Pix) != 4*pic.W*pic.H || pic.W <= 0 || pic.H <= 0 || p.X < 0 || p.Y < 0 {
		return errBroken
	}
	return f.do(func() error {
		f.fit(f.size())
		if f.pic == nil {
			return nil // minimized
		}
		w := min(pic.W, f.pic.W-p.X)
		for y := range min(pic.H, f.pic.H-p.Y) {
			if w > 0 {
				copy(f.pic.Pix[4*((p.Y+y)*f.pic.W+p.X):][:4*w], pic.Pix[4*y*pic.W:])
			}
		}
		part := winRect{int32(p.X), int32(p.Y), int32(p.X + pic.W), int32(p.Y + pic.H)}
		invalidateRect.Call(f.hwnd, uintptr(unsafe.Pointer(&part)), 0)
		updateWindow.Call(f.hwnd)
		return nil
	})
}

func (f *winFrame) Sync() error {
	return f.do(func() error { gdiFlush.Call(); return nil })
}

func (f *winFrame) Close() error {
	err := f.d.do(func() error { f.destroy(); return nil })
	if errors.Is(err, ErrClosed) {
		return nil
	}
	return err
}

func (f *winFrame) destroy() {
	if f.hwnd == 0 {
		return
	}
	delete(f.d.frames, f.hwnd)
	desktops.Delete(f.hwnd)
	win32.Destroy(f.hwnd)
	for _, i := range f.icons {
		destroyIcon.Call(i)
	}
	f.hwnd, f.pic = 0, nil
}

// message deals with what comes to the window; false leaves it to the system.
func (f *winFrame) message(what uint32, wParam, lParam uintptr) (uintptr, bool) {
	switch what {
	case wmPaint:
		f.paint()
	case wmEraseBkgnd:
		return 1, true // the picture covers all of it
	case win32.WMClose:
		f.handler.FrameClosing()
	case wmSize:
		const minimized = 1
		if wParam != minimized {
			size := clientPoint(lParam)
			f.fit(size)
			f.handler.FrameResized(size)
		}
	case wmGetMinMaxInfo:
		r := f.around(image.Rectangle{Max: f.least})
		// Reserved, largest size, largest place, least size: each a point of two numbers.
		const least = 6 * 4
		v := [2]int32{int32(r.Dx()), int32(r.Dy())}
		moveMemory.Call(lParam+least, uintptr(unsafe.Pointer(&v)), unsafe.Sizeof(v))
	case wmSetCursor:
		const content = 1
		if lParam&0xFFFF != content {
			return 0, false
		}
		setCursor.Call(f.cursor)
		return 1, true
	case wmSetFocus:
		f.handler.FrameFocus(true)
	case wmKillFocus:
		f.half = 0
		f.handler.FrameFocus(false)
	case wmDPIChanged:
		f.d.announce()
	case wmDropFiles:
		f.dropped(wParam)
	default:
		if what >= wmKeyDown && what <= wmSysChar {
			return 0, f.keys(what, wParam)
		}
		return 0, f.mouse(what, wParam, lParam)
	}
	return 0, true
}

func (f *winFrame) paint() {
	var ps winPaint
	dc, _, _ := beginPaint.Call(f.hwnd, uintptr(unsafe.Pointer(&ps)))
	if dc == 0 {
		return
	}
	defer endPaint.Call(f.hwnd, uintptr(unsafe.Pointer(&ps)))
	if f.pic == nil {
		return
	}
	r := ps.area.image().Intersect(image.Rect(0, 0, f.pic.W, f.pic.H))
	if r.Empty() {
		return
	}
	// The rows that are needed, as a picture of their own.
	setDIBitsToDevice.Call(dc, uintptr(r.Min.X), uintptr(r.Min.Y), uintptr(r.Dx()), uintptr(r.Dy()), uintptr(r.Min.X), 0, 0, uintptr(r.Dy()),
		uintptr(unsafe.Pointer(&f.pic.Pix[4*r.Min.Y*f.pic.W])), uintptr(unsafe.Pointer(bitmapInfo(f.pic.W, r.Dy()))), 0)
}

// heldNow are the modifiers that were down when the message at hand was sent.
func heldNow() Modifiers {
	var m Modifiers
	for _, k := range []struct {
		key uintptr
		m   Modifiers
	}{{vkShift, ModShift}, {vkControl, ModCtrl}, {vkAlt, ModAlt}, {0x5B, ModSuper}, {0x5C, ModSuper}} {
		if down(k.key) {
			m |= k.m
		}
	}
	return m
}

// frameKeys are keys that only frames are told of.
var frameKeys = map[uintptr]Key{0x2D: KeyInsert, 0x20: KeySpace, vkShift: KeyShift, vkControl: KeyCtrl, vkAlt: KeyAlt, 0x5B: KeySuper, 0x5C: KeySuper, 0x5D: KeyMenu}

// keys deals with keys and what they write. A key comes first, what it writes in
// a message of its own, which knows dead keys and every layout.
func (f *winFrame) keys(what uint32, wParam uintptr) bool {
	switch what {
	case wmChar, wmSysChar:
		if what == wmChar {
			f.char(uint16(wParam))
		}
		return what == wmChar || wParam != ' ' // Alt and space open the window's menu
	case wmKeyDown, wmSysKeyDown, wmKeyUp, wmSysKeyUp:
	default:
		return false
	}
	e := KeyEvent{Down: what == wmKeyDown || what == wmSysKeyDown, Held: heldNow()}
	if k, ok := namedKeys[wParam]; ok {
		e.Key = k
	} else if k, ok := frameKeys[wParam]; ok {
		e.Key = k
	} else if wParam >= 0x70 && wParam < 0x70+12 {
		e.Key = KeyF1 + Key(wParam-0x70)
	} else {
		const toCharacter = 2
		c, _, _ := mapVirtualKey.Call(wParam, toCharacter)
		e.Letter = unicode.ToLower(rune(c & 0xFFFF))
	}
	f.handler.FrameKey(e)
	// What Windows does with Alt, F10 and their like is left to it.
	return what == wmKeyDown || what == wmKeyUp
}

// char deals with what a key writes: one half of a UTF-16 pair at a time.
func (f *winFrame) char(unit uint16) {
	r := rune(unit)
	if utf16.IsSurrogate(r) {
		if r < 0xDC00 { // a first half, whatever came before
			f.half = r
			return
		}
		r = utf16.DecodeRune(f.half, r)
	}
	f.half = 0
	held := heldNow()
	if r < ' ' || r == 0x7f || r == utf8.RuneError || held&ModCtrl != 0 && held&ModAlt == 0 {
		return // of keys that came as such
	}
	f.handler.FrameKey(KeyEvent{Down: true, Text: string(r), Held: held & ModShift})
}

func (f *winFrame) mouse(what uint32, wParam, lParam uintptr) bool {
	p := clientPoint(lParam)
	switch what {
	case wmMouseMove:
		if !f.inside {
			f.inside = true
			t := winTrack{flags: tmeLeave, hwnd: f.hwnd}
			t.size = uint32(unsafe.Sizeof(t))
			trackMouseEvent.Call(uintptr(unsafe.Pointer(&t)))
		}
		f.handler.FramePointer(p, heldNow())
	case wmMouseLeave:
		f.inside = false
		f.handler.FrameLeft()
	case wmLButtonDown, wmMButtonDown, wmRButtonDown:
		// The pointer's messages keep coming until the button is up.
		setCapture.Call(f.hwnd)
		f.handler.FrameButton(p, buttonOf(what), true, heldNow())
	case wmLButtonUp, wmMButtonUp, wmRButtonUp:
		const buttons = 0x13
		if wParam&buttons == 0 { // no other one is down
			releaseCapture.Call()
		}
		f.handler.FrameButton(p, buttonOf(what), false, heldNow())
	case wmMouseWheel, wmMouseHWheel:
		// Comes with the place on the screen.
		at := winPoint{int32(p.X), int32(p.Y)}
		screenToClient.Call(f.hwnd, uintptr(unsafe.Pointer(&at)))
		steps := float32(int16(wParam>>16)) / wheelStep
		dx, dy := float32(0), steps
		if what == wmMouseHWheel {
			dx, dy = -steps, 0
		} else if heldNow()&ModShift != 0 {
			dx, dy = dy, 0
		}
		f.handler.FrameScrolled(image.Pt(int(at.x), int(at.y)), dx, dy)
	default:
		return false
	}
	return true
}

func buttonOf(what uint32) Button {
	switch what {
	case wmLButtonDown, wmLButtonUp:
		return Left
	case wmMButtonDown, wmMButtonUp:
		return Middle
	}
	return Right
}

// maxDropped bounds how many files are taken at once.
const maxDropped = 10_000

func (f *winFrame) dropped(drop uintptr) {
	defer dragFinish.Call(drop)
	const count = 0xFFFFFFFF
	n, _, _ := dragQueryFile.Call(drop, count, 0, 0)
	var files []string
	for i := range min(n, maxDropped) {
		size, _, _ := dragQueryFile.Call(drop, i, 0, 0)
		name := make([]uint16, size+1)
		dragQueryFile.Call(drop, i, uintptr(unsafe.Pointer(&name[0])), uintptr(len(name)))
		files = append(files, windows.UTF16ToString(name))
	}
	var p winPoint
	dragQueryPoint.Call(drop, uintptr(unsafe.Pointer(&p)))
	if len(files) > 0 {
		f.handler.FrameDropped(image.Pt(int(p.x), int(p.y)), files)
	}
}

// maxPaste bounds a text that somebody pastes, in bytes.
const maxPaste = 8 << 20

func (d *desktop) Paste() (text string, err error) {
	err = d.do(func() error {
		if ok, _, _ := openClipboard.Call(d.control); ok == 0 {
			return errClipboardBusy
		}
		defer closeClipboard.Call()
		mem, _, _ := getClipboardData.Call(cfUnicodeText)
		if mem == 0 {
			return nil // something else, or nothing
		}
		size, _, _ := globalSize.Call(mem)
		at, _, err := globalLock.Call(mem)
		if at == 0 {
			return fmt.Errorf("GlobalLock: %w", err)
		}
		defer globalUnlock.Call(mem)
		u := make([]uint16, min(size, maxPaste)/2+1)
		moveMemory.Call(uintptr(unsafe.Pointer(&u[0])), at, min(size, maxPaste)&^1)
		text = strings.ReplaceAll(windows.UTF16ToString(u), "\r\n", "\n")
		return nil
	})
	return text, err
}
