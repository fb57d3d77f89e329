package messagebox

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"time"

	"golang.org/x/sys/windows"

	"wiebelt/internal/native/win32"
)

// mbTopmostWarning is an OK button and a warning icon, above other windows. The system decides
// whether the box gets the focus, depending on whether the user is typing elsewhere.
const mbTopmostWarning = 0x00000030 | 0x00040000

func show(ctx context.Context, title, text string) error {
	t, err := windows.UTF16PtrFromString(title)
	s, err2 := windows.UTF16PtrFromString(text)
	if err := cmp.Or(err, err2); err != nil {
		return fmt.Errorf("message: %w", err)
	}
	thread := make(chan uint32, 1)
	read := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with its box
		thread <- windows.GetCurrentThreadId()
		if _, err := windows.MessageBox(0, s, t, mbTopmostWarning); err != nil {
			read <- fmt.Errorf("MessageBox: %w", err)
			return
		}
		read <- nil
	}()
	select {
	case err := <-read:
		return err
	case <-ctx.Done():
	}
	// The box may not exist yet, so asking once is not enough.
	again := time.Tick(20 * time.Millisecond)
	for id := <-thread; ; {
		for _, box := range win32.WindowsOf(id, "#32770") { // the class of dialogs
			win32.Post(box, win32.WMClose, 0, 0)
		}
		select {
		case err := <-read:
			return err
		case <-again:
		}
	}
}
