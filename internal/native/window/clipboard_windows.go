package window

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

var errClipboardBusy = errors.New("clipboard in use by another program")

func (d *desktop) Copy(text string) error {
	if len(text) > maxCopy {
		return errTooLong
	}
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\r\n")
	u, err := windows.UTF16FromString(text)
	if err != nil {
		return errors.New("text with a NUL")
	}
	return d.withClipboard(func() error { return setClipboard(u) })
}

// withClipboard runs f on the loop's thread while the clipboard is open. If another
// program holds it for a moment, withClipboard waits on the calling goroutine, since
// waiting on that thread would delay a card.
func (d *desktop) withClipboard(f func() error) error {
	const tries = 5
	for try := 1; ; try++ {
		err := d.do(func() error {
			if ok, _, _ := openClipboard.Call(d.control); ok == 0 {
				return errClipboardBusy
			}
			defer closeClipboard.Call()
			return f()
		})
		if !errors.Is(err, errClipboardBusy) || try == tries || windows.GetCurrentThreadId() == d.thread {
			return err
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-d.done:
			return ErrClosed
		}
	}
}

func setClipboard(u []uint16) error {
	size := uintptr(2 * len(u))
	mem, _, err := globalAlloc.Call(gmemMoveable, size)
	if mem == 0 {
		return fmt.Errorf("GlobalAlloc: %w", err)
	}
	at, _, err := globalLock.Call(mem)
	if at == 0 {
		globalFree.Call(mem)
		return fmt.Errorf("GlobalLock: %w", err)
	}
	moveMemory.Call(at, uintptr(unsafe.Pointer(&u[0])), size)
	globalUnlock.Call(mem)
	emptyClipboard.Call()
	if ok, _, err := setClipboardData.Call(cfUnicodeText, mem); ok == 0 {
		globalFree.Call(mem)
		return fmt.Errorf("SetClipboardData: %w", err)
	}
	return nil // the system owns the memory now
}

// maxPaste limits a pasted text, in bytes.
const maxPaste = 8 << 20

func (d *desktop) Paste() (text string, err error) {
	err = d.withClipboard(func() error {
		mem, _, _ := getClipboardData.Call(cfUnicodeText)
		if mem == 0 {
			return nil // something else, or empty
		}
		size, _, _ := globalSize.Call(mem)
		at, _, err := globalLock.Call(mem)
		if at == 0 {
			return fmt.Errorf("GlobalLock: %w", err)
		}
		defer globalUnlock.Call(mem)
		u := make([]uint16, min(size, maxPaste)/2+1)
		moveMemory.Call(uintptr(unsafe.Pointer(&u[0])), at, min(size, maxPaste)&^1)
		text = strings.ReplaceAll(windows.UTF16ToString(u), "\r\n", "\n")
		return nil
	})
	return text, err
}
