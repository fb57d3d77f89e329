package sleepwatch

import (
	"context"
	"errors"
	"math"
	"os"
	"time"

	"wiebelt/internal/core/wake"

	"golang.org/x/sys/unix"
)

// read returns how long the computer has slept since it was started, and when that was by the
// wall clock. It and Jumps have their own file so that a test can build the program with others.
func read() (asleep time.Duration, started time.Time) {
	sinceStart := clock(unix.CLOCK_BOOTTIME)
	return sinceStart - clock(unix.CLOCK_MONOTONIC), time.Now().Round(0).Add(-sinceStart)
}

func clock(id int32) time.Duration {
	var t unix.Timespec
	_ = unix.ClockGettime(id, &t) // it cannot fail: every Linux has these clocks
	return time.Duration(t.Nano())
}

// Jumps reports at once, until ctx ends, when the clock was set or the computer has slept,
// if the system supports that (timerfd_create(2), TFD_TIMER_CANCEL_ON_SET).
func Jumps(ctx context.Context) <-chan struct{} {
	jumped := make(chan struct{}, 1)
	fd, err := unix.TimerfdCreate(unix.CLOCK_REALTIME, unix.TFD_CLOEXEC|unix.TFD_NONBLOCK)
	if err != nil {
		return jumped
	}
	f := os.NewFile(uintptr(fd), "clock")
	context.AfterFunc(ctx, func() { _ = f.Close() })
	go func() {
		never := unix.ItimerSpec{Value: unix.Timespec{Sec: math.MaxInt32}}
		for {
			if raw, err := f.SyscallConn(); err != nil || raw.Control(func(fd uintptr) {
				_ = unix.TimerfdSettime(int(fd), unix.TFD_TIMER_ABSTIME|unix.TFD_TIMER_CANCEL_ON_SET, &never, nil)
			}) != nil {
				return
			}
			if _, err := f.Read(make([]byte, 8)); !errors.Is(err, unix.ECANCELED) {
				return
			}
			wake.Up(jumped)
		}
	}()
	return jumped
}
