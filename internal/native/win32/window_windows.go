package win32

import (
	"cmp"
	"errors"
	"fmt"
	"sync"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Only system DLLs, loaded on first use.
var (
	user32 = windows.NewLazySystemDLL("user32.dll")

	createWindowEx   = user32.NewProc("CreateWindowExW")
	defWindowProc    = user32.NewProc("DefWindowProcW")
	destroyWindow    = user32.NewProc("DestroyWindow")
	dispatchMessage  = user32.NewProc("DispatchMessageW")
	findWindow       = user32.NewProc("FindWindowExW")
	getMessage       = user32.NewProc("GetMessageW")
	loadCursor       = user32.NewProc("LoadCursorW")
	postMessage      = user32.NewProc("PostMessageW")
	postQuitMessage  = user32.NewProc("PostQuitMessage")
	registerClassEx  = user32.NewProc("RegisterClassExW")
	translateMessage = user32.NewProc("TranslateMessage")
)

// WMClose asks a window to close.
const WMClose = 0x0010

type message struct {
	hwnd           uintptr
	what           uint32
	wParam, lParam uintptr
	time           uint32
	x, y           int32
	_              uint32
}

type class struct {
	size, style          uint32
	proc                 uintptr
	classExtra, wndExtra int32
	instance             uintptr
	icon, cursor, back   uintptr
	menuName, name       *uint16
	smallIcon            uintptr
}

// Handler handles a message to a window; false leaves it to the system.
type Handler func(what uint32, wParam, lParam uintptr) (result uintptr, handled bool)

// handlers has the windows' handlers for the window procedure, which the system calls
// without any context of ours.
var handlers sync.Map // uintptr (window) -> Handler

// windowProc returns the window procedure. There is only one, since callbacks are never freed.
var windowProc = sync.OnceValue(func() uintptr {
	return windows.NewCallback(func(hwnd, what, wParam, lParam uintptr) uintptr {
		if h, ok := handlers.Load(hwnd); ok {
			if r, handled := h.(Handler)(uint32(what), wParam, lParam); handled {
				return r
			}
		}
		r, _, _ := defWindowProc.Call(hwnd, what, wParam, lParam)
		return r
	})
})

// Create creates a hidden window of one pixel, of a class of ours, whose messages go to
// handle from then on. It belongs to the calling thread, which must be locked and run Loop.
func Create(className, title string, style, ex uintptr, handle Handler) (uintptr, error) {
	n, err := windows.UTF16PtrFromString(className)
	t, err2 := windows.UTF16PtrFromString(title)
	if err := cmp.Or(err, err2); err != nil {
		return 0, err
	}
	const idcArrow = 32512
	arrow, _, _ := loadCursor.Call(0, idcArrow)
	c := class{proc: windowProc(), cursor: arrow, name: n}
	c.size = uint32(unsafe.Sizeof(c))
	if ok, _, err := registerClassEx.Call(uintptr(unsafe.Pointer(&c))); ok == 0 && !errors.Is(err, windows.ERROR_CLASS_ALREADY_EXISTS) {
		return 0, fmt.Errorf("RegisterClassEx: %w", err)
	}
	h, _, err := createWindowEx.Call(ex, uintptr(unsafe.Pointer(n)), uintptr(unsafe.Pointer(t)), style, 0, 0, 1, 1, 0, 0, 0, 0)
	if h == 0 {
		return 0, fmt.Errorf("CreateWindowEx: %w", err)
	}
	handlers.Store(h, handle)
	return h, nil
}

// Destroy destroys a window of the calling thread. Its handler gets no more messages.
func Destroy(hwnd uintptr) {
	handlers.Delete(hwnd)
	destroyWindow.Call(hwnd)
}

// WindowsOf returns a thread's top-level windows of a class.
func WindowsOf(thread uint32, className string) (all []uintptr) {
	n, err := windows.UTF16PtrFromString(className)
	for h := uintptr(0); err == nil; {
		if h, _, _ = findWindow.Call(0, h, uintptr(unsafe.Pointer(n)), 0); h == 0 {
			break
		}
		if id, err := windows.GetWindowThreadProcessId(windows.HWND(h), nil); err == nil && id == thread {
			all = append(all, h)
		}
	}
	return all
}

// Loop processes the calling thread's messages until Quit.
func Loop() {
	var m message
	for {
		// 0 is WM_QUIT, -1 an error that would recur immediately.
		if got, _, _ := getMessage.Call(uintptr(unsafe.Pointer(&m)), 0, 0, 0); int32(got) <= 0 {
			return
		}
		translateMessage.Call(uintptr(unsafe.Pointer(&m)))
		dispatchMessage.Call(uintptr(unsafe.Pointer(&m)))
	}
}

// Quit ends the loop of the calling thread.
func Quit() { postQuitMessage.Call(0) }

// Post posts a message to a window. It may be called on any thread.
func Post(hwnd, what, wParam, lParam uintptr) { postMessage.Call(hwnd, what, wParam, lParam) }
