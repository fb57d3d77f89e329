package window

import (
	"fmt"
	"image"
	"runtime"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/registry"

	"wiebelt/internal/native/win32"
)

// desktop is the connection to the session's desktop. One goroutine, locked to its thread,
// owns all windows and runs their message loop. Others queue their requests, and wake the loop
// with a posted message. The goroutine ends with Close.
type desktop struct {
	control uintptr // hidden; gets the broadcasts and the wake-ups
	thread  uint32

	jobs queue

	// Loop thread only.
	windows    map[uintptr]winWindow
	announced  bool // a DisplayChanged is posted
	lastHotkey uintptr
	pressed    map[uintptr]func() // of hotkeys, by numbers that are never reused: a press of a released one may be under way

	ended
}

const (
	wmJobs = wmApp + iota
	wmChanged
	wmLeft
	wmKeyboardGone
)

// OpenCards connects to the desktop for cards only.
func OpenCards() (Display, error) { return Open() }

// Open connects to the desktop of this process's session. It returns an error that wraps
// ErrNoDisplay if windows cannot be created there.
func Open() (Desktop, error) {
	// The programs' manifest requests the same. Without either, Windows would stretch
	// the picture and report wrong coordinates.
	if setDPIAwareness.Find() == nil { // Windows Server 2016 has only the manifest
		setDPIAwareness.Call(perMonitorV2)
	}
	d := &desktop{windows: map[uintptr]winWindow{}, pressed: map[uintptr]func(){}, ended: ended{make(chan struct{})}}
	ready := make(chan error, 1)
	go d.loop(ready)
	if err := <-ready; err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoDisplay, err)
	}
	return d, nil
}

func (d *desktop) loop(ready chan<- error) {
	runtime.LockOSThread() // never unlocked: the thread ends with its windows
	defer close(d.done)
	d.thread = windows.GetCurrentThreadId()
	var err error
	if d.control, err = win32.Create(cardClass, "Wiebelt", wsPopup, wsExNoActivate|wsExToolWindow, d.message); err != nil {
		ready <- err
		return
	}
	ready <- nil
	win32.Loop()
}

// do runs f on the loop's thread and waits for it.
func (d *desktop) do(f func() error) error {
	if windows.GetCurrentThreadId() == d.thread {
		if err := d.errIfClosed(); err != nil {
			return err
		}
		return f() // a request made by a handler
	}
	ran := make(chan error, 1)
	d.jobs.add(func() { ran <- f() })
	win32.Post(d.control, wmJobs, 0, 0)
	select {
	case err := <-ran:
		return err
	case <-d.done:
		select {
		case err := <-ran:
			return err
		default:
			return ErrClosed
		}
	}
}

func (d *desktop) Close() error {
	win32.Post(d.control, win32.WMClose, 0, 0)
	return nil
}

func (d *desktop) message(what uint32, wParam, _ uintptr) (uintptr, bool) {
	switch what {
	case wmHotkey:
		if pressed := d.pressed[wParam]; pressed != nil {
			pressed()
		}
	case wmJobs:
		d.jobs.run()
	case wmSettingChange, wmDisplayChange, wmSysColorChange:
		d.announce()
		return 0, false
	case wmChanged:
		d.announced = false
		for _, w := range d.windows {
			w.base().handler.FrameDisplayChanged()
		}
	case win32.WMClose:
		for _, w := range d.windows {
			w.destroy()
		}
		win32.Destroy(d.control)
		win32.Quit()
	default:
		return 0, false
	}
	return 0, true
}

// announce notifies the handlers only once of all the broadcasts about one change.
func (d *desktop) announce() {
	if !d.announced {
		d.announced = true
		win32.Post(d.control, wmChanged, 0, 0)
	}
}

// listMonitor returns the callback that adds a monitor to a list. There is only one, since
// callbacks are never freed.
var listMonitor = sync.OnceValue(func() uintptr {
	return windows.NewCallback(func(monitor, _, _ uintptr, list *[]uintptr) uintptr {
		*list = append(*list, monitor)
		return 1
	})
})

func monitors() (list []Monitor, handles []uintptr) {
	text := textScale()
	all := new([]uintptr)
	enumDisplayMonitors.Call(0, 0, listMonitor(), uintptr(unsafe.Pointer(all)))
	for _, h := range *all {
		var info winMonitorInfo
		info.size = uint32(unsafe.Sizeof(info))
		if ok, _, _ := getMonitorInfo.Call(h, uintptr(unsafe.Pointer(&info))); ok == 0 {
			continue
		}
		m := Monitor{
			Name:  strings.TrimPrefix(windows.UTF16ToString(info.device[:]), `\\.\`),
			Area:  info.monitor.image(),
			Work:  info.work.image(),
			Scale: text,
		}
		var x, y uint32
		if r, _, _ := getDPIForMonitor.Call(h, 0, uintptr(unsafe.Pointer(&x)), uintptr(unsafe.Pointer(&y))); r == 0 && x > 0 {
			m.Scale = text * float32(x) / 96
		}
		const primary = 1
		if info.flags&primary != 0 {
			list, handles = slices.Insert(list, 0, m), slices.Insert(handles, 0, h)
		} else {
			list, handles = append(list, m), append(handles, h)
		}
	}
	if len(list) == 0 { // a session without a screen
		r := image.Rect(0, 0, 1024, 768)
		list, handles = []Monitor{{Name: "screen", Area: r, Work: r, Scale: text}}, []uintptr{0}
	}
	return list, handles
}

// textScale returns the user's text scale, which is set independently of the monitors'
// scale. As on X11, cards are scaled as a whole.
func textScale() float32 {
	percent, ok := win32.RegistryNumber(registry.CURRENT_USER, `Software\Microsoft\Accessibility`, "TextScaleFactor")
	if !ok {
		return 1
	}
	return float32(min(max(percent, 100), 225)) / 100 // the range in the settings
}

func (r winRect) image() image.Rectangle {
	return image.Rect(int(r.left), int(r.top), int(r.right), int(r.bottom))
}

func (d *desktop) Monitors() []Monitor {
	list, _ := monitors()
	return list
}

func (d *desktop) Active() int {
	_, handles := monitors()
	at := -1
	if f := windows.GetForegroundWindow(); f != 0 && !isShell(f) {
		m, _, _ := monitorFromWindow.Call(uintptr(f), 0)
		at = slices.Index(handles, m)
	}
	var p winPoint
	if ok, _, _ := getCursorPos.Call(uintptr(unsafe.Pointer(&p))); at < 0 && ok != 0 {
		// A POINT is passed by value, with both halves in one word.
		m, _, _ := monitorFromPoint.Call(uintptr(uint64(uint32(p.x))|uint64(uint32(p.y))<<32), 0)
		at = slices.Index(handles, m)
	}
	return max(0, at)
}

// isShell reports whether a window is the desktop itself, which covers all monitors.
func isShell(hwnd windows.HWND) bool {
	var name [64]uint16
	_, _ = windows.GetClassName(hwnd, &name[0], int32(len(name)))
	c := windows.UTF16ToString(name[:])
	return c == "Progman" || c == "WorkerW"
}

// FullScreen reports whether the foreground window, if it is another program's, covers all of
// area. A window with a title bar is only maximized.
func (d *desktop) FullScreen(area image.Rectangle) bool {
	f := windows.GetForegroundWindow()
	if f == 0 || isShell(f) {
		return false
	}
	var process uint32
	if _, err := windows.GetWindowThreadProcessId(f, &process); err != nil || process == windows.GetCurrentProcessId() {
		return false
	}
	const styleIndex, caption = ^uintptr(15), 0x00C00000 // GWL_STYLE is -16
	if style, _, _ := getWindowLong.Call(uintptr(f), styleIndex); style&caption == caption {
		return false
	}
	var r winRect
	ok, _, _ := getWindowRect.Call(uintptr(f), uintptr(unsafe.Pointer(&r)))
	return ok != 0 && !area.Empty() && area.In(r.image())
}

func (d *desktop) Appearance() Appearance {
	light, ok := win32.RegistryNumber(registry.CURRENT_USER, `Software\Microsoft\Windows\CurrentVersion\Themes\Personalize`,
		"AppsUseLightTheme")
	return Appearance{Dark: ok && light == 0, HighContrast: highContrast(), LessMotion: lessMotion()}
}

func highContrast() bool {
	const spiGetHighContrast, on = 0x42, 1
	c := winHighContrast{}
	c.size = uint32(unsafe.Sizeof(c))
	ok, _, _ := systemParametersInfo.Call(spiGetHighContrast, uintptr(c.size), uintptr(unsafe.Pointer(&c)), 0)
	return ok != 0 && c.flags&on != 0
}

func lessMotion() bool {
	const spiGetClientAreaAnimation = 0x1042
	on := int32(1)
	ok, _, _ := systemParametersInfo.Call(spiGetClientAreaAnimation, 0, uintptr(unsafe.Pointer(&on)), 0)
	return ok != 0 && on == 0
}

func (d *desktop) Kind() Kind { return Windows }
