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

// TestBoxes checks that the box appears, only once for a repeated message, and that it
// closes once it has been read or nobody waits for it any more.
func TestBoxes(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	box := func(title string) uintptr { // 0 if there is none on the screen
		h, _, _ := findWindow.Call(0, 0, dialogClass, uintptr(unsafe.Pointer(must.Get(windows.UTF16PtrFromString(title))(t))))
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
	must.Do(t, Show(ctx, "First", "Something does not work.")) // returns at once
	if len(told) > 0 {
		t.Error("the box did not wait")
	}
	const wmCommand, ok = 0x0111, 1
	win32.Post(box("First"), wmCommand, ok, 0)
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
