package window

import (
	"bytes"
	"errors"
	"image"
	"image/png"
	"slices"
	"strings"
	"unsafe"

	"golang.org/x/sys/windows"

	"wiebelt/internal/native/win32"
)

// winFrame is an ordinary window. Only the loop's thread may use its fields.
type winFrame struct {
	winBase
	background [3]uint8
	minSize    image.Point
	cursor     uintptr
	icons      []uintptr
}

func (d *desktop) NewFrame(h FrameHandler, o FrameOptions) (Frame, error) {
	f := &winFrame{winBase: winBase{d: d, handler: h}, background: o.Background}
	return f, d.do(func() error {
		if err := d.create(f, "WiebeltWindow", o.Title, wsOverlapped, 0); err != nil {
			return err
		}
		dragAcceptFiles.Call(f.hwnd, 1)
		if len(o.Icons) > 0 {
			f.setIcons(o.Icons)
		}
		f.cursor = systemCursor(CursorArrow)
		return f.resize(o.Size)
	})
}

// setIcons sets the icons closest to the sizes that Windows shows.
func (f *winFrame) setIcons(icons []*image.NRGBA) {
	const small, big, version = 0, 1, 0x00030000
	for which, want := range map[uintptr]int{small: 16, big: 32} {
		best := slices.MinFunc(icons, func(a, b *image.NRGBA) int { return abs(a.Rect.Dx()-want) - abs(b.Rect.Dx()-want) })
		var b bytes.Buffer
		if png.Encode(&b, best) != nil {
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

func (f *winFrame) SetTitle(title string) error {
	return f.do(func() error {
		t, err := windows.UTF16PtrFromString(strings.ReplaceAll(title, "\x00", ""))
		if err != nil {
			return err
		}
		return resultErr(setWindowText.Call(f.hwnd, uintptr(unsafe.Pointer(t))))
	})
}

// resultErr converts the results of a system function to an error.
func resultErr(ok, _ uintptr, err error) error {
	switch {
	case ok != 0:
		return nil
	case err == windows.ERROR_SUCCESS:
		return errors.New("the system refuses") // without giving a reason
	}
	return err
}

func (f *winFrame) SetDark(on bool) error {
	return f.ask(func() {
		const immersiveDark = 20
		v := int32(0)
		if on {
			v = 1
		}
		// Older systems do not support dark borders.
		_ = windows.DwmSetWindowAttribute(windows.HWND(f.hwnd), immersiveDark, unsafe.Pointer(&v), uint32(unsafe.Sizeof(v)))
	})
}

func (f *winFrame) SetLimits(least image.Point) error {
	return f.ask(func() { f.minSize = least })
}

func (f *winFrame) SetCursor(c Cursor) error {
	return f.ask(func() {
		f.cursor = systemCursor(c)
		if f.inside {
			setCursor.Call(f.cursor)
		}
	})
}

func systemCursor(c Cursor) uintptr {
	h, _, _ := loadCursor.Call(0, map[Cursor]uintptr{CursorArrow: 32512, CursorText: 32513, CursorHand: 32649}[c])
	return h
}

func (f *winFrame) Show() error {
	return f.ask(func() {
		how := uintptr(swShow)
		if minimized, _, _ := isIconic.Call(f.hwnd); minimized != 0 {
			how = swRestore
		}
		showWindow.Call(f.hwnd, how)
		setForegroundWindow.Call(f.hwnd) // refused while the user works elsewhere; then the task bar blinks
		updateWindow.Call(f.hwnd)
	})
}

// LetForward lets other processes bring a window to the front, which Windows allows only to the
// one that the user has just used. That one calls it before it asks another to show a window.
func LetForward() {
	const anyProcess = 0xFFFFFFFF
	allowSetForeground.Call(anyProcess)
}

func (f *winFrame) Resize(size image.Point) error {
	return f.do(func() error {
		if maximized, _, _ := isZoomed.Call(f.hwnd); maximized != 0 {
			f.handler.FrameResized(f.size()) // it still fills its monitor
			return nil
		}
		return f.resize(size)
	})
}

func (f *winFrame) resize(size image.Point) error {
	return f.place(0, f.around(image.Rectangle{Max: size}), swpNoMove|swpNoZOrder|swpNoActivate)
}

func (f *winFrame) Move(p image.Point) error {
	return f.do(func() error {
		return f.place(0, f.around(image.Rectangle{Min: p, Max: p.Add(image.Pt(1, 1))}), swpNoSize|swpNoZOrder|swpNoActivate)
	})
}

// around returns the rectangle of a window whose content has the rectangle r.
func (f *winFrame) around(r image.Rectangle) image.Rectangle {
	w := winRect{int32(r.Min.X), int32(r.Min.Y), int32(r.Max.X), int32(r.Max.Y)}
	dpi, _, _ := getDPIForWindow.Call(f.hwnd)
	adjustWindowRectForDPI.Call(uintptr(unsafe.Pointer(&w)), wsOverlapped, 0, 0, dpi)
	return w.image()
}

func (f *winFrame) Place() (r image.Rectangle, err error) {
	err = f.ask(func() {
		var p winPoint
		clientToScreen.Call(f.hwnd, uintptr(unsafe.Pointer(&p)))
		r = image.Rectangle{Max: f.size()}.Add(image.Pt(int(p.x), int(p.y)))
	})
	return r, err
}

func (f *winFrame) Scale() (scale float32, err error) {
	err = f.ask(func() {
		dpi, _, _ := getDPIForWindow.Call(f.hwnd)
		scale = textScale() * float32(dpi) / 96
	})
	return scale, err
}

func (f *winFrame) size() image.Point {
	var r winRect
	getClientRect.Call(f.hwnd, uintptr(unsafe.Pointer(&r)))
	return r.image().Size()
}

// fit resizes the picture to the size of the content, keeping what was drawn.
func (f *winFrame) fit(size image.Point) {
	if size.X <= 0 || size.Y <= 0 || f.pic != nil && f.pic.W == size.X && f.pic.H == size.Y {
		return
	}
	pic := NewPicture(size.X, size.Y, nil)
	for i := 0; i < len(pic.Pix); i += 4 {
		pic.Pix[i], pic.Pix[i+1], pic.Pix[i+2] = f.background[2], f.background[1], f.background[0]
	}
	if f.pic != nil {
		pic.put(image.Point{}, f.pic)
	}
	f.pic = pic
}

func (f *winFrame) Draw(p image.Point, pic *Picture) error {
	if err := checkDraw(p, pic); err != nil {
		return err
	}
	return f.do(func() error {
		f.fit(f.size())
		if f.pic == nil {
			return nil // minimized
		}
		f.pic.put(p, pic)
		f.repaint(image.Rect(p.X, p.Y, p.X+pic.W, p.Y+pic.H))
		return nil
	})
}

func (f *winFrame) destroy() {
	f.winBase.destroy()
	for _, i := range f.icons {
		destroyIcon.Call(i)
	}
}

func (f *winFrame) message(what uint32, wParam, lParam uintptr) (uintptr, bool) {
	switch what {
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
		r := f.around(image.Rectangle{Max: f.minSize})
		// Reserved, maximum size, maximum position, minimum size: each a point of two numbers.
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
	case wmDPIChanged:
		f.rescaled(lParam)
	case wmSetFocus:
		f.handler.FrameFocus(true)
	case wmKillFocus:
		f.half = 0
		f.handler.FrameFocus(false)
	case wmDropFiles:
		f.dropped(wParam)
	default:
		return f.winBase.message(what, wParam, lParam)
	}
	return 0, true
}

// rescaled moves the window to the rectangle that Windows suggests for another scale.
// Elsewhere, a window between two monitors could change its scale back and forth for ever.
func (f *winFrame) rescaled(suggested uintptr) {
	f.handler.FrameDisplayChanged() // first: sizes reported after this are at the new scale
	f.minSize = image.Point{}       // was at the old scale; the owner sets another
	if !windows.IsWindowVisible(windows.HWND(f.hwnd)) {
		return // its owner is about to place it
	}
	var r winRect
	moveMemory.Call(uintptr(unsafe.Pointer(&r)), suggested, unsafe.Sizeof(r))
	_ = f.place(0, r.image(), swpNoZOrder|swpNoActivate)
}

// maxDropped limits how many files are accepted at once.
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
