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

// TestTaskbarComesLater checks that on a desktop without a
// taskbar the tray waits for one to appear.
func TestTaskbarComesLater(t *testing.T) {
	const everything = 0x10000000 // GENERIC_ALL
	name := must.Get(windows.UTF16PtrFromString("bare"))(t)
	desktop, _, err := user32.NewProc("CreateDesktopW").Call(uintptr(unsafe.Pointer(name)), 0, 0, 0, everything, 0)
	if desktop == 0 {
		t.Fatal(err)
	}
	enter := func() {
		runtime.LockOSThread()
		if ok, _, err := user32.NewProc("SetThreadDesktop").Call(desktop); ok == 0 {
			t.Error(err)
		}
	}
	enter()
	defer runtime.UnlockOSThread()
	ended, end := context.WithCancel(t.Context())
	end()
	if HasHost(ended) || reachable(ended) {
		t.Error("there is a taskbar")
	}
	seen := make(chan struct{})
	var work sync.WaitGroup
	work.Go(func() {
		enter()
		defer runtime.UnlockOSThread()
		h, err := win32.Create("Shell_TrayWnd", "", 0, 0, func(uint32, uintptr, uintptr) (uintptr, bool) { return 0, false })
		if err != nil {
			t.Error(err)
		}
		<-seen
		win32.Destroy(h)
	})
	if !WaitHost(t.Context(), time.Minute) || !HasHost(t.Context()) {
		t.Error("the taskbar was not waited for")
	}
	close(seen)
	work.Wait()
}
