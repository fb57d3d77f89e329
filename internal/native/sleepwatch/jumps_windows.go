package sleepwatch

import (
	"context"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

var queryUnbiasedInterruptTime = windows.NewLazySystemDLL("kernel32.dll").NewProc("QueryUnbiasedInterruptTime")

func read() (asleep time.Duration, started time.Time) {
	sinceStart := windows.DurationSinceBoot()
	var awake time.Duration // in units of 100 ns
	_, _, _ = queryUnbiasedInterruptTime.Call(uintptr(unsafe.Pointer(&awake)))
	return sinceStart - 100*awake, time.Now().Round(0).Add(-sinceStart)
}

// Jumps reports nothing on this system; Check notices jumps.
func Jumps(context.Context) <-chan struct{} { return nil }
