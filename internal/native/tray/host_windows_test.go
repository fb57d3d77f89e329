package tray

import (
	"context"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf16"
	"unsafe"

	"golang.org/x/sys/windows"

	"wiebelt/assets"
	"wiebelt/internal/native/win32"
	"wiebelt/internal/testutil/must"
)

func TestTooltipFits(t *testing.T) {
	for _, s := range []string{"", "Wiebelt – Klaar.", strings.Repeat("é", 200), strings.Repeat("a", 126) + "📞"} {
		got := cutTooltip(s)
		if n := len(utf16.Encode([]rune(got))); n > 127 || !strings.HasPrefix(s, got) || len(s) < 100 && got != s {
			t.Errorf("%q became %q, %d units", s, got, n)
		}
	}
}

// taskbar is a taskbar that refuses the first icon.
type taskbar struct {
	mu    sync.Mutex
	asked int
	icons map[uintptr]bool // the windows that they are of
}

func (b *taskbar) message(what uint32, window, lParam uintptr) (uintptr, bool) {
	const copyData, add, remove = 0x004A, 0, 2
	switch what {
	case win32.WMClose:
		win32.Quit()
	case copyData: // how wine passes on an icon; the first field says what to do with it
		b.mu.Lock()
		defer b.mu.Unlock()
		switch **(**uintptr)(unsafe.Pointer(&lParam)) {
		case add:
			if b.asked++; b.asked == 1 {
				return 0, true
			}
			b.icons[window] = true
		case remove:
			delete(b.icons, window)
		}
		return 1, true
	}
	return 0, what == win32.WMClose
}

func (b *taskbar) has(window uintptr) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.icons[window]
}

// TestTaskbarComesLater checks that on a desktop without a taskbar the tray waits for one to
// appear and to accept icons, and that the icon stays when the end of the session was cancelled.
func TestTaskbarComesLater(t *testing.T) {
	const everything = 0x10000000 // GENERIC_ALL
	name := must.Get(windows.UTF16PtrFromString("bare"))(t)
	desktop, _, err := user32.NewProc("CreateDesktopW").Call(uintptr(unsafe.Pointer(name)), 0, 0, 0, everything, 0)
	if desktop == 0 {
		t.Fatal(err)
	}
	enter := func() {
		runtime.LockOSThread() // never unlocked: the thread ends with its windows
		if ok, _, err := user32.NewProc("SetThreadDesktop").Call(desktop); ok == 0 {
			t.Error(err)
		}
	}
	enter()
	ended, end := context.WithCancel(t.Context())
	end()
	if HasHost(ended) || reachable(ended) {
		t.Error("there is a taskbar")
	}
	bar := &taskbar{icons: map[uintptr]bool{}}
	var work sync.WaitGroup
	work.Go(func() {
		enter()
		h, err := win32.Create("Shell_TrayWnd", "", 0, 0, bar.message)
		if err != nil {
			t.Error(err)
		}
		win32.Loop()
		win32.Destroy(h)
	})
	if !WaitHost(t.Context(), time.Minute) || !HasHost(t.Context()) || bar.asked < 2 {
		t.Error("the taskbar was not waited for")
	}

	ctx, cancel := context.WithCancel(t.Context())
	work.Go(func() {
		enter()
		New(Params{Icons: assets.Icons}).Run(ctx)
	})
	find := func(class string) uintptr {
		h, _, _ := procFindWindow.Call(uintptr(unsafe.Pointer(must.Get(windows.UTF16PtrFromString(class))(t))), 0)
		return h
	}
	must.Soon(t, func() (bool, any) { return bar.has(find("SystrayClass")), "no icon" })
	const endSession = 0x0016
	icon := find("SystrayClass")
	for _, ends := range []uintptr{0, 1} {
		user32.NewProc("SendMessageW").Call(icon, endSession, ends, 0)
		if bar.has(icon) != (ends == 0) {
			t.Errorf("the session ends: %d, the icon is there: %v", ends, bar.has(icon))
		}
	}
	cancel()
	win32.Post(find("Shell_TrayWnd"), win32.WMClose, 0, 0)
	work.Wait()
}
