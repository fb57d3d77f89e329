package tray

import (
	"context"
	"crypto/md5" // the library's file names use it; it protects nothing
	"encoding/hex"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
	"unicode/utf16"
	"unsafe"

	"fyne.io/systray"
	"golang.org/x/sys/windows"

	"wiebelt/internal/native/win32"
)

const iconSuffix = ".ico"

var (
	user32            = windows.NewLazySystemDLL("user32.dll")
	procCallWindow    = user32.NewProc("CallWindowProcW")
	procFindWindow    = user32.NewProc("FindWindowW")
	procGetWindowLong = user32.NewProc("GetWindowLongPtrW")
	procPeekMessage   = user32.NewProc("PeekMessageW")
	procSetWindowLong = user32.NewProc("SetWindowLongPtrW")
	procThreadMessage = user32.NewProc("PostThreadMessageW")
	procNotifyIcon    = windows.NewLazySystemDLL("shell32.dll").NewProc("Shell_NotifyIconW")
)

// taskbarTimeout is how long to wait for a tray to appear.
const taskbarTimeout = 3 * time.Second

// HasHost reports whether there is a taskbar.
func HasHost(context.Context) bool {
	class, err := windows.UTF16PtrFromString("Shell_TrayWnd")
	if err != nil {
		return false
	}
	h, _, _ := procFindWindow.Call(uintptr(unsafe.Pointer(class)), 0)
	return h != 0
}

// WaitHost waits for the taskbar, for at most d.
func WaitHost(ctx context.Context, d time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	return reachable(ctx)
}

// reachable waits for a taskbar that accepts icons: at log-on it may appear after we start, and
// be too busy at first. The library adds its icon only once, and never reports that this failed.
func reachable(ctx context.Context) bool {
	again := time.Tick(time.Second)
	for !HasHost(ctx) || !acceptsIcons() {
		select {
		case <-ctx.Done():
			return false
		case <-again:
		}
	}
	return true
}

// shellIcon is a NOTIFYICONDATA.
type shellIcon struct {
	size             uint32
	window           uintptr
	id, flags, _     uint32
	_                uintptr
	_                [128]uint16
	state, stateMask uint32
	_                [256]uint16
	_                uint32
	_                [64]uint16
	_                uint32
	_                windows.GUID
	_                uintptr
}

// acceptsIcons adds a hidden icon, with the library's number, and removes it again.
func acceptsIcons() bool {
	runtime.LockOSThread() // the window's
	defer runtime.UnlockOSThread()
	window, err := win32.Create("WiebeltTray", "", 0, 0, func(uint32, uintptr, uintptr) (uintptr, bool) { return 0, false })
	if err != nil {
		return false
	}
	defer win32.Destroy(window)
	const add, remove, hasState, hidden = 0, 2, 8, 1
	icon := shellIcon{window: window, id: 100, flags: hasState, state: hidden, stateMask: hidden}
	icon.size = uint32(unsafe.Sizeof(icon))
	ok, _, _ := procNotifyIcon.Call(add, uintptr(unsafe.Pointer(&icon)))
	_, _, _ = procNotifyIcon.Call(remove, uintptr(unsafe.Pointer(&icon)))
	return ok != 0
}

// run runs the system's event loop on the caller's goroutine.
func (t *Tray) run(ctx context.Context) {
	abandon := loop()
	ready, left := make(chan struct{}), make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case <-ready:
			t.showModels(ctx)
		case <-ctx.Done():
		}
		<-ctx.Done()
		// Told to quit before there is a tray, the library would do nothing, and its loop continue.
		select {
		case <-ready:
			systray.Quit()
		case <-time.After(taskbarTimeout):
			abandon(left)
		}
	}()
	systray.Register(func() { close(ready) }, func() {})
	keepIcon()
	win32.Loop()
	close(left)
	<-done
	t.cleanUp()
}

// keepIcon makes the library keep its icon when the end of the session was cancelled, for example
// because another program has unsaved work: it removes it at every WM_ENDSESSION.
func keepIcon() {
	const procedure, endSession = ^uintptr(3), 0x0016 // GWLP_WNDPROC is -4
	for _, window := range win32.WindowsOf(windows.GetCurrentThreadId(), "SystrayClass") {
		library, _, _ := procGetWindowLong.Call(window, procedure)
		_, _, _ = procSetWindowLong.Call(window, procedure, windows.NewCallback(func(window, what, ends, lParam uintptr) uintptr {
			if uint32(what) == endSession && ends == 0 {
				return 0
			}
			r, _, _ := procCallWindow.Call(library, window, what, ends, lParam)
			return r
		}))
	}
}

// loop prepares this thread for an event loop and returns a function that ends the loop if
// the library never created a window to close.
func loop() (abandon func(left <-chan struct{})) {
	// Peeking for a message creates the thread's queue, which posting requires.
	var msg [64]byte
	_, _, _ = procPeekMessage.Call(uintptr(unsafe.Pointer(&msg)), 0, 0, 0, 0)
	thread := windows.GetCurrentThreadId()
	const quit = 0x0012 // WM_QUIT
	return func(left <-chan struct{}) {
		for {
			_, _, _ = procThreadMessage.Call(uintptr(thread), quit, 0, 0)
			select {
			case <-left:
				return
			case <-time.After(100 * time.Millisecond):
			}
		}
	}
}

// cutTooltip cuts s to the system's limit of 128 UTF-16 units, including the terminating zero.
// The library would copy a longer one without that zero.
func cutTooltip(s string) string {
	const room = 127
	n := 0
	for i, r := range s {
		if n += utf16.RuneLen(r); n > room {
			return s[:i]
		}
	}
	return s
}

// escape prevents ampersands from marking shortcuts.
func escape(title string) string { return strings.ReplaceAll(title, "&", "&&") }

// cleanUp removes the files through which the library passes icons to the system.
func (t *Tray) cleanUp() {
	for s := Ready; s <= Doubt; s++ {
		if b, err := t.picture(s); err == nil {
			sum := md5.Sum(b)
			_ = os.Remove(filepath.Join(os.TempDir(), "systray_temp_icon_"+hex.EncodeToString(sum[:])))
		}
	}
}
