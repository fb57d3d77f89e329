package win32

import (
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
	getMessage       = user32.NewProc("GetMessageW")
	getSystemMetrics = user32.NewProc("GetSystemMetrics")
	loadCursor       = user32.NewProc("LoadCursorW")
	postMessage      = user32.NewProc("PostMessageW")
	postQuitMessage  = user32.NewProc("PostQuitMessage")
	registerClassEx  = user32.NewProc("RegisterClassExW")
	translateMessage = user32.NewProc("TranslateMessage")
)

// Messages sent to every window.
const (
	WMDestroy = 0x0002
	WMClose   = 0x0010
)

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

// Proc is a window procedure. The system calls it for every message to a window, without any
// context of ours. It must pass messages that it does not handle to Default.
type Proc func(hwnd, what, wParam, lParam uintptr) uintptr

// Class returns a function that registers a window class on its first call, once per
// process, since callbacks are never freed.
func Class(name string, proc Proc) func() (*uint16, error) {
	return sync.OnceValues(func() (*uint16, error) {
		n, err := windows.UTF16PtrFromString(name)
		if err != nil {
			return nil, err
		}
		const idcArrow = 32512
		arrow, _, _ := loadCursor.Call(0, idcArrow)
		c := class{proc: windows.NewCallback(proc), cursor: arrow, name: n}
		c.size = uint32(unsafe.Sizeof(c))
		if ok, _, err := registerClassEx.Call(uintptr(unsafe.Pointer(&c))); ok == 0 {
			return nil, fmt.Errorf("RegisterClassEx: %w", err)
		}
		return n, nil
	})
}

// Create creates a hidden window of one pixel. It belongs to the calling thread, which
// must be locked and run Loop.
func Create(class *uint16, title string, style, ex uintptr) (uintptr, error) {
	t, err := windows.UTF16PtrFromString(title)
	if err != nil {
		return 0, err
	}
	h, _, err := createWindowEx.Call(ex, uintptr(unsafe.Pointer(class)), uintptr(unsafe.Pointer(t)), style, 0, 0, 1, 1, 0, 0, 0, 0)
	if h == 0 {
		return 0, fmt.Errorf("CreateWindowEx: %w", err)
	}
	return h, nil
}

// Destroy destroys a window of the calling thread.
func Destroy(hwnd uintptr) { destroyWindow.Call(hwnd) }

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

// Default performs the default handling of a message.
func Default(hwnd, what, wParam, lParam uintptr) uintptr {
	r, _, _ := defWindowProc.Call(hwnd, what, wParam, lParam)
	return r
}

// Remote reports whether the session is a remote one.
func Remote() bool {
	const smRemoteSession = 0x1000
	remote, _, _ := getSystemMetrics.Call(smRemoteSession)
	return remote != 0
}
