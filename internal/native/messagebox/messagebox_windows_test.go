package messagebox

import (
	"context"
	"errors"
	"testing"
	"unsafe"

	"golang.org/x/sys/windows"

	"wiebelt/internal/native/win32"
	"wiebelt/internal/testutil/must"
)

var (
	user32     = windows.NewLazySystemDLL("user32.dll")
	findWindow = user32.NewProc("FindWindowW")
	foreground = user32.NewProc("GetForegroundWindow")
)

// TestBoxes checks that the box appears in front, only once for a repeated message, and that it
// closes once Return was pressed or nobody waits for it any more.
func TestBoxes(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	const dialogClass = 32770           // an atom
	box := func(title string) uintptr { // 0 if there is none on the screen
		h, _, _ := findWindow.Call(dialogClass, uintptr(unsafe.Pointer(must.Get(windows.UTF16PtrFromString(title))(t))))
		if !windows.IsWindowVisible(windows.HWND(h)) {
			return 0
		}
		return h
	}
	told := make(chan error, 2)
	show := func(title, text string) {
		go func() { told <- Show(ctx, title, text) }()
		must.Soon(t, func() (bool, any) { return box(title) != 0, "no box " + title })
	}
	show("First", "Something does not work.")
	again := make(chan error, 1)
	go func() { again <- Show(ctx, "First", "Something does not work.") }()
	must.Do(t, must.Receive(t, again, "the end of a repeated message"))
	if len(told) > 0 {
		t.Error("the box did not wait")
	}
	must.Soon(t, func() (bool, any) {
		front, _, _ := foreground.Call()
		return front == box("First"), "another window in front"
	})
	const wmKeyDown, vkReturn = 0x0100, 0x0D
	win32.Post(box("First"), wmKeyDown, vkReturn, 0)
	must.Do(t, must.Receive(t, told, "the end of a box"))
	for _, title := range []string{"Other", "First"} { // which may be shown again
		show(title, "Something else.")
	}
	cancel()
	must.Do(t, must.Receive(t, told, "the end of a box"), must.Receive(t, told, "the end of a box"))
	if box("First") != 0 || box("Other") != 0 {
		t.Error("a box stays")
	}
	if err := Show(ctx, "late", "late"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
