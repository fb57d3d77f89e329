package sound

import (
	"context"
	"fmt"
	"unsafe"

	"golang.org/x/sys/windows"
)

var playSound = windows.NewLazySystemDLL("winmm.dll").NewProc("PlaySoundW")

// Play starts playing a tone. dir is not used here.
func Play(_ context.Context, _ string, k Kind) error {
	const async, noDefault, memory = 0x0001, 0x0002, 0x0004
	if playSound.Find() != nil {
		return ErrNoPlayer
	}
	// The tones must never be freed, since Windows reads them while it plays.
	if ok, _, err := playSound.Call(uintptr(unsafe.Pointer(&waves()[k][0])), 0, async|noDefault|memory); ok == 0 {
		return fmt.Errorf("PlaySound: %w", err)
	}
	return nil
}

// Player returns what plays sound, or "" if nothing does.
func Player() string {
	if playSound.Find() != nil {
		return ""
	}
	return "Windows"
}
