package sleepwatch

import (
	"context"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"

	"wiebelt/internal/core/wake"
)

var (
	queryUnbiasedInterruptTime = windows.NewLazySystemDLL("kernel32.dll").NewProc("QueryUnbiasedInterruptTime")

	powrprof        = windows.NewLazySystemDLL("powrprof.dll")
	registerPower   = powrprof.NewProc("PowerRegisterSuspendResumeNotification")
	unregisterPower = powrprof.NewProc("PowerUnregisterSuspendResumeNotification")
)

func read() (asleep time.Duration, started time.Time) {
	sinceStart := windows.DurationSinceBoot()
	var awake time.Duration // in units of 100 ns
	_, _, _ = queryUnbiasedInterruptTime.Call(uintptr(unsafe.Pointer(&awake)))
	return sinceStart - 100*awake, time.Now().Round(0).Add(-sinceStart)
}

// Jumps reports at once, until ctx ends, when the computer has slept. A clock that was set is
// noticed by Check only.
func Jumps(ctx context.Context) <-chan struct{} {
	jumped := make(chan struct{}, 1)
	const deviceNotifyCallback = 2
	subscription := struct{ callback, context uintptr }{callback: windows.NewCallback(func(_, _, _ uintptr) uintptr {
		wake.Up(jumped)
		return 0
	})}
	var handle uintptr
	failed, _, _ := registerPower.Call(deviceNotifyCallback, uintptr(unsafe.Pointer(&subscription)), uintptr(unsafe.Pointer(&handle)))
	if failed == 0 {
		context.AfterFunc(ctx, func() { _, _, _ = unregisterPower.Call(handle) })
	}
	return jumped
}
