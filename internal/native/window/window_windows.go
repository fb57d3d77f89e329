package window

import (
	"errors"
	"fmt"
	"image"
	"runtime"
	"unsafe"

	"wiebelt/internal/native/win32"
)

// winWindow is one window. All fields belong to the loop's thread.
type winWindow struct {
	d       *desktop
	hwnd    uintptr
	handler Handler

	pic    *Picture // what it shows, kept for WM_PAINT
	rect   image.Rectangle
	up     bool
	inside bool
	rest   int // of the wheel

	keyboard bool    // it has the keyboard because it was asked to take it
	before   uintptr // the window that had it
	half     rune    // of a character beyond 16 bits

	private  bool    // to be kept out of pictures of the screen
	affinity uintptr // what Windows was last told of that
	title    string

	annotated bool // said to be an alert
}

func (d *desktop) New(h Handler) (Window, error) {
	w := &winWindow{d: d, handler: h}
	return w, d.do(func() (err error) {
		if w.hwnd, err = create(wsExTopmost); err != nil {
			return err
		}
		d.windows[w.hwnd] = w
		desktops.Store(w.hwnd, d)
		return nil
	})
}

// do runs f on the loop's thread while the window exists.
func (w *winWindow) do(f func() error) error {
	return w.d.do(func() error {
		if w.hwnd == 0 {
			return ErrClosed
		}
		return f()
	})
}

func (w *winWindow) Show(r image.Rectangle, pic *Picture) error {
	if err := fits(r, pic); err != nil {
		return err
	}
	return w.do(func() error {
		w.pic = NewPicture(pic.W, pic.H, w.pic)
		copy(w.pic.Pix, pic.Pix)
		var err error
		if !w.up {
			_ = w.protect() // HideFromCapture has told what it cannot do
			err = w.place(hwndTopmost, r, swpNoActivate|swpNoOwnerOrder|swpShowWindow)
		} else if r != w.rect {
			err = w.place(0, r, swpNoActivate|swpNoZOrder|swpNoOwnerOrder)
		}
		if err != nil {
			return err
		}
		came := !w.up
		w.rect, w.up = r, true
		invalidateRect.Call(w.hwnd, 0, 0)
		updateWindow.Call(w.hwnd)
		if came {
			w.alert()
		}
		return nil
	})
}

func (w *winWindow) place(after uintptr, r image.Rectangle, flags uintptr) error {
	ok, _, err := setWindowPos.Call(w.hwnd, after, uintptr(r.Min.X), uintptr(r.Min.Y), uintptr(r.Dx()), uintptr(r.Dy()), flags)
	if ok == 0 {
		return fmt.Errorf("SetWindowPos: %w", err)
	}
	return nil
}

func (w *winWindow) Update(p image.Point, pic *Picture) error {
	if pic == nil {
		return errBroken
	}
	r := image.Rectangle{Min: p, Max: p.Add(image.Pt(pic.W, pic.H))}
	if err := fits(r, pic); err != nil {
		return err
	}
	return w.do(func() error {
		if w.pic == nil {
			return errNotShown
		}
		if !r.In(image.Rect(0, 0, w.pic.W, w.pic.H)) {
			return errors.New("part lies outside the window")
		}
		for y := range pic.H {
			copy(w.pic.Pix[4*((p.Y+y)*w.pic.W+p.X):], pic.Pix[4*y*pic.W:4*(y+1)*pic.W])
		}
		part := winRect{int32(r.Min.X), int32(r.Min.Y), int32(r.Max.X), int32(r.Max.Y)}
		invalidateRect.Call(w.hwnd, uintptr(unsafe.Pointer(&part)), 0)
		updateWindow.Call(w.hwnd)
		return nil
	})
}

func (w *winWindow) Hide() error {
	return w.do(func() error {
		if w.up {
			w.giveBack()
			w.up = false
			if w.title != "" {
				w.title = ""
				_ = w.rename("Wiebelt")
			}
			showWindow.Call(w.hwnd, swHide)
			// Windows does not say so. Posted, so that the handler is not
			// called while its owner waits in Hide.
			win32.Post(w.hwnd, wmLeft, 0, 0)
		}
		return nil
	})
}

func (w *winWindow) Sync() error {
	return w.do(func() error {
		gdiFlush.Call()
		return nil
	})
}

func (w *winWindow) Close() error {
	err := w.d.do(func() error {
		w.destroy()
		return nil
	})
	if errors.Is(err, ErrClosed) {
		return nil
	}
	return err
}

// destroy is called on the loop's thread.
func (w *winWindow) destroy() {
	if w.hwnd == 0 {
		return
	}
	w.giveBack()
	delete(w.d.windows, w.hwnd)
	desktops.Delete(w.hwnd)
	win32.Destroy(w.hwnd)
	w.hwnd, w.pic = 0, nil
}

func (w *winWindow) OnScreen() (*image.RGBA, error) {
	var r image.Rectangle
	if err := w.do(func() error {
		if r = w.rect; r.Empty() {
			return errNotShown
		}
		return nil
	}); err != nil {
		return nil, err
	}
	// A device context belongs to the thread that got it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	screen, _, err := getDC.Call(0)
	if screen == 0 {
		return nil, fmt.Errorf("GetDC: %w", err)
	}
	defer releaseDC.Call(0, screen)
	mem, _, err := createCompatibleDC.Call(screen)
	if mem == 0 {
		return nil, fmt.Errorf("CreateCompatibleDC: %w", err)
	}
	defer deleteDC.Call(mem)
	bmp, _, err := createCompatibleBitmap.Call(screen, uintptr(r.Dx()), uintptr(r.Dy()))
	if bmp == 0 {
		return nil, fmt.Errorf("CreateCompatibleBitmap: %w", err)
	}
	defer deleteObject.Call(bmp)
	old, _, _ := selectObject.Call(mem, bmp)
	ok, _, err := bitBlt.Call(mem, 0, 0, uintptr(r.Dx()), uintptr(r.Dy()), screen, uintptr(r.Min.X), uintptr(r.Min.Y), srcCopy|captureBlt)
	selectObject.Call(mem, old)
	if ok == 0 {
		return nil, fmt.Errorf("BitBlt: %w", err)
	}
	img := image.NewRGBA(image.Rectangle{Max: r.Size()})
	info := bitmapInfo(r.Dx(), r.Dy())
	n, _, err := getDIBits.Call(mem, bmp, 0, uintptr(r.Dy()), uintptr(unsafe.Pointer(&img.Pix[0])), uintptr(unsafe.Pointer(info)), 0)
	if int(n) != r.Dy() {
		return nil, fmt.Errorf("GetDIBits: %w", err)
	}
	for i := 0; i < len(img.Pix); i += 4 {
		img.Pix[i], img.Pix[i+2], img.Pix[i+3] = img.Pix[i+2], img.Pix[i], 255
	}
	return img, nil
}

// message deals with what comes to the window; false leaves it to the system.
func (w *winWindow) message(what uint32, wParam, lParam uintptr) (uintptr, bool) {
	switch what {
	case wmPaint:
		w.paint()
	case wmEraseBkgnd:
		return 1, true // the picture covers all of it
	case wmMouseActivate:
		return maNoActivate, true
	case win32.WMClose:
		// Alt+F4 while it has the keyboard; cards go when their calls do.
	case wmKillFocus:
		w.lost()
	case wmKeyboardGone:
		w.handler.KeyboardGone()
	case wmKeyDown, wmSysKeyDown:
		return 0, w.key(wParam, what == wmSysKeyDown)
	case wmChar, wmSysChar:
		w.char(uint16(wParam), what == wmSysChar)
	case wmMouseMove:
		w.moved(clientPoint(lParam))
	case wmMouseLeave, wmLeft:
		if w.inside {
			w.inside = false
			w.handler.PointerLeft()
		}
	case wmLButtonDown:
		w.pressed(clientPoint(lParam), Left)
	case wmMButtonDown:
		w.pressed(clientPoint(lParam), Middle)
	case wmRButtonDown:
		w.pressed(clientPoint(lParam), Right)
	case wmLButtonUp:
		w.released(clientPoint(lParam), Left)
	case wmMButtonUp:
		w.released(clientPoint(lParam), Middle)
	case wmRButtonUp:
		w.released(clientPoint(lParam), Right)
	case wmMouseWheel:
		// Comes with the place on the screen.
		p := clientPoint(lParam)
		at := winPoint{int32(p.X), int32(p.Y)}
		screenToClient.Call(w.hwnd, uintptr(unsafe.Pointer(&at)))
		if n := wheel(&w.rest, int(int16(wParam>>16))); n != 0 {
			w.handler.Scrolled(image.Pt(int(at.x), int(at.y)), n)
		}
	case wmDPIChanged:
		w.d.announce()
	default:
		return 0, false
	}
	return 0, true
}

// clientPoint takes a place out of a message: two signed halves of a word.
func clientPoint(lParam uintptr) image.Point {
	return image.Pt(int(int16(lParam)), int(int16(lParam>>16)))
}

func (w *winWindow) paint() {
	var ps winPaint
	dc, _, _ := beginPaint.Call(w.hwnd, uintptr(unsafe.Pointer(&ps)))
	if dc == 0 {
		return
	}
	defer endPaint.Call(w.hwnd, uintptr(unsafe.Pointer(&ps)))
	if w.pic == nil {
		return
	}
	pw, ph := uintptr(w.pic.W), uintptr(w.pic.H)
	setDIBitsToDevice.Call(dc, 0, 0, pw, ph, 0, 0, 0, ph,
		uintptr(unsafe.Pointer(&w.pic.Pix[0])), uintptr(unsafe.Pointer(bitmapInfo(w.pic.W, w.pic.H))), 0)
}

func (w *winWindow) moved(p image.Point) {
	if !w.up {
		return // still on its way when the window was hidden
	}
	if !w.inside {
		w.inside = true
		t := winTrack{flags: tmeLeave, hwnd: w.hwnd}
		t.size = uint32(unsafe.Sizeof(t))
		trackMouseEvent.Call(uintptr(unsafe.Pointer(&t)))
	}
	w.handler.PointerMoved(p)
}

// pressed keeps the pointer's messages coming until the button is released,
// wherever that is, as X11 does.
func (w *winWindow) pressed(p image.Point, b Button) {
	setCapture.Call(w.hwnd)
	w.handler.PointerPressed(p, b)
}

func (w *winWindow) released(p image.Point, b Button) {
	releaseCapture.Call()
	w.handler.PointerReleased(p, b)
}
