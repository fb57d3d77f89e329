package window

import (
	"fmt"
	"image"
	"runtime"
	"unsafe"

	"wiebelt/internal/native/win32"
)

// winCard is a card's window. Only the loop's thread may use its fields.
type winCard struct {
	winBase
	rect  image.Rectangle
	shown bool

	keyboard      bool    // it has the focus because that was requested
	previousFocus uintptr // the window that had the focus before

	hideFromCapture bool    // to be excluded from screen captures
	affinity        uintptr // the last value set in Windows
}

func (d *desktop) NewCard(h CardHandler) (Card, error) {
	w := &winCard{winBase: winBase{d: d, handler: &cardAsFrame{CardHandler: h}}}
	return w, d.do(func() error {
		return d.create(w, cardClass, "Wiebelt", wsPopup, wsExNoActivate|wsExToolWindow|wsExTopmost)
	})
}

const cardClass = "WiebeltCard"

func (w *winCard) Show(r image.Rectangle, pic *Picture) error {
	if err := checkPicture(r, pic); err != nil {
		return err
	}
	return w.do(func() error {
		w.pic = NewPicture(pic.W, pic.H, w.pic)
		copy(w.pic.Pix, pic.Pix)
		var err error
		if !w.shown {
			_ = w.protect() // HideFromCapture has reported it if unsupported
			err = w.place(hwndTopmost, r, swpNoActivate|swpNoOwnerOrder|swpShowWindow)
		} else if r != w.rect {
			err = w.place(0, r, swpNoActivate|swpNoZOrder|swpNoOwnerOrder)
		}
		if err != nil {
			return err
		}
		w.rect, w.shown = r, true
		w.repaint(image.Rectangle{Max: r.Size()})
		return nil
	})
}

func (w *winCard) Update(p image.Point, pic *Picture) error {
	return w.do(func() error {
		r, err := partOf(w.rect.Size(), p, pic)
		if err != nil {
			return err
		}
		w.pic.put(p, pic)
		w.repaint(r)
		return nil
	})
}

func (w *winCard) Hide() error {
	return w.ask(func() {
		if w.shown {
			w.restoreFocus()
			w.shown = false
			showWindow.Call(w.hwnd, swHide)
			// Windows does not report this. The message is posted, so that the handler is
			// not called while its owner waits in Hide.
			win32.Post(w.hwnd, wmLeft, 0, 0)
		}
	})
}

func (w *winCard) destroy() {
	w.restoreFocus()
	w.winBase.destroy()
}

// HideFromCapture asks Windows 10 2004 and later to exclude the window from screen
// captures; earlier versions show it black. This includes OnScreen, whose pictures then
// show what is behind. In a remote session it is off and returns ErrUnsupported, because it
// is unverified that the user would still see such a window there. The request is stored
// and checked again whenever the window is shown.
func (w *winCard) HideFromCapture(hide bool) error {
	return w.do(func() error {
		w.hideFromCapture = hide
		return w.protect()
	})
}

// protect applies the HideFromCapture request, as far as the current session allows.
func (w *winCard) protect() error {
	const all, outOfPictures, remoteSession = 0, 0x11, 0x1000
	remote, _, _ := getSystemMetrics.Call(remoteSession)
	want := uintptr(all)
	if w.hideFromCapture && remote == 0 {
		want = outOfPictures
	}
	if want != w.affinity {
		if ok, _, err := setWindowDisplayAffinity.Call(w.hwnd, want); ok == 0 {
			return fmt.Errorf("SetWindowDisplayAffinity: %w", err)
		}
		w.affinity = want
	}
	if w.hideFromCapture && remote != 0 {
		return ErrUnsupported
	}
	return nil
}

func (w *winCard) OnScreen() (*image.RGBA, error) {
	var r image.Rectangle
	if err := w.ask(func() { r = w.rect }); err != nil {
		return nil, err
	}
	if r.Empty() {
		return nil, errNotShown
	}
	// A device context belongs to the thread that requested it.
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

func (w *winCard) message(what uint32, wParam, lParam uintptr) (uintptr, bool) {
	switch what {
	case wmMouseActivate:
		return maNoActivate, true
	case win32.WMClose:
		// Ignore Alt+F4 while the card has the focus: cards disappear with their calls.
	case wmKillFocus:
		w.handleFocusLost()
	case wmKeyboardGone:
		w.handler.FrameFocus(false)
	case wmLeft:
		return w.winBase.message(wmMouseLeave, 0, 0)
	case wmMouseMove:
		if w.shown { // otherwise still under way when the window was hidden
			return w.winBase.message(what, wParam, lParam)
		}
	case wmChar, wmSysChar: // the window has no menu for Alt and space to open
		if w.keyboard {
			w.keys(what, wParam)
		}
	default:
		if what >= wmKeyDown && what <= wmSysChar && !w.keyboard {
			return 0, false
		}
		return w.winBase.message(what, wParam, lParam)
	}
	return 0, true
}
