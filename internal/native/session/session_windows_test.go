package session

import (
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"unsafe"

	"golang.org/x/sys/windows"

	"wiebelt/internal/native/win32"
	"wiebelt/internal/testutil/must"
)

// TestLocks checks that the messages that Windows sends when the screen is locked set the
// state. wine accepts the registration but never locks, so the test sends the messages.
func TestLocks(t *testing.T) {
	w := must.Get(Watch(t.Context(), slog.New(slog.DiscardHandler)))(t)
	if w.State() != (State{}) || !slices.Equal(w.Sources(), []string{"WTS", "SHQueryUserNotificationState"}) {
		t.Errorf("at first: %+v, %q", w.State(), w.Sources())
	}
	class := must.Get(windows.UTF16PtrFromString("WiebeltSession"))(t)
	find := func() uintptr {
		h, _, _ := user32.NewProc("FindWindowW").Call(uintptr(unsafe.Pointer(class)), 0)
		return h
	}
	for _, step := range []struct {
		what uintptr
		want State
	}{{wtsLock, State{Locked: true}}, {wtsUnlock, State{}}} {
		win32.Post(find(), wmSessionChange, step.what, 0)
		must.When(t, w.Changed(), fmt.Sprintf("%+v", step.want), func() (bool, any) { return w.State() == step.want, w.State() })
	}
	if w.Close(); find() != 0 {
		t.Error("its window is still there")
	}
}
