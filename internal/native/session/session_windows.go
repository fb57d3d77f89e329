package session

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"

	"wiebelt/internal/native/screenreader"
	"wiebelt/internal/native/win32"
)

// pollInterval is the polling interval. Windows reports locking, unlocking and remote
// connections by messages to a window, and a screen reader is noticed when it queries one of
// our windows. The rest is polled at this interval and on every such message:
// SHQueryUserNotificationState takes microseconds.
const pollInterval = 3 * time.Second

var (
	user32   = windows.NewLazySystemDLL("user32.dll")
	wtsapi32 = windows.NewLazySystemDLL("wtsapi32.dll")
	shell32  = windows.NewLazySystemDLL("shell32.dll")

	setTimer          = user32.NewProc("SetTimer")
	registerSession   = wtsapi32.NewProc("WTSRegisterSessionNotification")
	unregisterSession = wtsapi32.NewProc("WTSUnRegisterSessionNotification")
	queryNotification = shell32.NewProc("SHQueryUserNotificationState")
)

const (
	wmTimer         = 0x0113
	wmSessionChange = 0x02B1 // WM_WTSSESSION_CHANGE

	wtsLock   = 7
	wtsUnlock = 8

	qunsNotPresent = 1 // locked, screen saver, or another user's session in front
	qunsBusy       = 2 // full screen, or presentation settings
	qunsFullScreen = 3 // exclusive Direct3D
	qunsPresenting = 4
	qunsQuiet      = 6 // the first hour after a user's first log-on
)

// follower watches the session through one window. One thread owns it.
type follower struct {
	window        uintptr
	set           func(State, []string)
	log           *slog.Logger
	wtsRegistered bool // WTS reports locks
	locked        bool // as reported by WTS

	registerFail, askFail sync.Once // logged once
}

// open creates an invisible window on its own thread.
func open(ctx context.Context, log *slog.Logger, set func(State, []string)) (run func(), err error) {
	f := &follower{set: set, log: log}
	made := make(chan error, 1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked: the thread ends with its window
		var err error
		if f.window, err = win32.Create("WiebeltSession", "", 0, 0, f.message); err != nil {
			made <- err
			return
		}
		f.register()
		if ok, _, err := setTimer.Call(f.window, 1, uintptr(pollInterval.Milliseconds()), 0); ok == 0 {
			log.Warn("the session is looked at when it changes only", "why", err)
		}
		f.poll()
		screenreader.OnFirstQuery(func() { win32.Post(f.window, wmTimer, 0, 0) })
		made <- nil
		win32.Loop()
	}()
	if err := <-made; err != nil {
		<-done
		return nil, fmt.Errorf("follow the session: %w", err)
	}
	return func() {
		<-ctx.Done()
		screenreader.OnFirstQuery(nil)
		win32.Post(f.window, win32.WMClose, 0, 0)
		<-done
	}, nil
}

func (f *follower) message(what uint32, wParam, _ uintptr) (uintptr, bool) {
	switch what {
	case wmSessionChange:
		switch wParam {
		case wtsLock:
			f.locked = true
		case wtsUnlock:
			f.locked = false
		}
		f.poll()
	case wmTimer:
		f.register()
		f.poll()
	case win32.WMClose:
		if f.wtsRegistered {
			unregisterSession.Call(f.window)
		}
		win32.Destroy(f.window)
		win32.Quit()
	default:
		return 0, false
	}
	return 0, true
}

// register subscribes to lock messages. At log-on the service may not be running yet,
// so it is called again until it succeeds.
func (f *follower) register() {
	if f.wtsRegistered {
		return
	}
	const thisSession = 0
	ok, _, err := registerSession.Call(f.window, thisSession)
	if f.wtsRegistered = ok != 0; !f.wtsRegistered {
		f.registerFail.Do(func() { f.log.Warn("Windows does not tell when the screen is locked", "why", err) })
	}
}

// poll combines what Windows has reported with what it can be asked.
func (f *follower) poll() {
	var quns uint32
	hr, _, _ := queryNotification.Call(uintptr(unsafe.Pointer(&quns)))
	if hr != 0 {
		f.askFail.Do(func() {
			f.log.Warn("Windows does not say what the user is doing", "code", fmt.Sprintf("%#x", uint32(hr)))
		})
		quns = 0
	}
	var sources []string
	if f.wtsRegistered {
		sources = append(sources, "WTS")
	}
	if hr == 0 {
		sources = append(sources, "SHQueryUserNotificationState")
	}
	f.set(State{
		Locked:     f.locked || quns == qunsNotPresent,
		Quiet:      quns == qunsQuiet,
		Presenting: quns == qunsBusy || quns == qunsFullScreen || quns == qunsPresenting,
		Reader:     screenreader.HasClients(),
	}, sources)
}
