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

// askEvery is the polling interval. Windows reports locking, unlocking and remote
// connections by messages to a window, and a screen reader is noticed when it queries one of
// our windows. The rest is polled at this interval and on every such message:
// SHQueryUserNotificationState takes microseconds.
const askEvery = 3 * time.Second

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
	set    func(State, []string)
	log    *slog.Logger
	told   bool // WTS reports locks
	locked bool // as reported by WTS

	registerFail, askFail sync.Once // logged once
}

// followers maps a window to its follower, for the window procedure.
var followers sync.Map // uintptr -> *follower

var class = win32.Class("WiebeltSession", windowProc)

// open creates an invisible window on its own thread.
func open(ctx context.Context, log *slog.Logger, set func(State, []string)) (run func(), err error) {
	name, err := class()
	if err != nil {
		return nil, err
	}
	made := make(chan error, 1)
	done := make(chan struct{})
	var window uintptr
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked: the thread ends with its window
		var err error
		if window, err = win32.Create(name, "", 0, 0); err != nil {
			made <- err
			return
		}
		f := &follower{set: set, log: log}
		followers.Store(window, f)
		f.register(window)
		if ok, _, err := setTimer.Call(window, 1, uintptr(askEvery.Milliseconds()), 0); ok == 0 {
			log.Warn("the session is looked at when it changes only", "why", err)
		}
		f.ask()
		screenreader.WhenAsked(func() { win32.Post(window, wmTimer, 0, 0) })
		made <- nil
		win32.Loop()
	}()
	if err := <-made; err != nil {
		<-done
		return nil, fmt.Errorf("follow the session: %w", err)
	}
	return func() {
		<-ctx.Done()
		screenreader.WhenAsked(nil)
		win32.Post(window, win32.WMClose, 0, 0)
		<-done
	}, nil
}

// windowProc is called by the system for every message of the window.
func windowProc(hwnd, what, wParam, lParam uintptr) uintptr {
	if v, ok := followers.Load(hwnd); ok {
		f := v.(*follower)
		switch what {
		case wmSessionChange:
			switch wParam {
			case wtsLock:
				f.locked = true
			case wtsUnlock:
				f.locked = false
			}
			f.ask()
			return 0
		case wmTimer:
			f.register(hwnd)
			f.ask()
			return 0
		case win32.WMClose:
			if f.told {
				unregisterSession.Call(hwnd)
			}
			win32.Destroy(hwnd)
			return 0
		case win32.WMDestroy:
			followers.Delete(hwnd)
			win32.Quit()
			return 0
		}
	}
	return win32.Default(hwnd, what, wParam, lParam)
}

// register subscribes to lock messages. At log-on the service may not be running yet,
// so it is called again until it succeeds.
func (f *follower) register(hwnd uintptr) {
	if f.told {
		return
	}
	const thisSession = 0
	ok, _, err := registerSession.Call(hwnd, thisSession)
	if f.told = ok != 0; f.told {
		return
	}
	f.registerFail.Do(func() { f.log.Warn("Windows does not tell when the screen is locked", "why", err) })
}

// ask combines what Windows has reported with what it can be asked.
func (f *follower) ask() {
	var quns uint32
	hr, _, _ := queryNotification.Call(uintptr(unsafe.Pointer(&quns)))
	if hr != 0 {
		f.askFail.Do(func() {
			f.log.Warn("Windows does not say what the user is doing", "code", fmt.Sprintf("%#x", uint32(hr)))
		})
		quns = 0
	}
	var sources []string
	if f.told {
		sources = append(sources, "WTS")
	}
	if hr == 0 {
		sources = append(sources, "SHQueryUserNotificationState")
	}
	f.set(State{
		Locked:     f.locked || quns == qunsNotPresent,
		Quiet:      quns == qunsQuiet,
		Presenting: quns == qunsBusy || quns == qunsFullScreen || quns == qunsPresenting,
		Reader:     screenreader.Wanted(),
	}, sources)
}
