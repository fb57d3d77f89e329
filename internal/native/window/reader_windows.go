package window

import (
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// What screen readers need beside the title: they pass over alerts of windows
// that are no alerts (NVDA does), so the window is said to be one, and a live
// region for those who listen for that (Narrator). It is said with Windows'
// annotations (IAccPropServices), which need no COM server of ours. wine has no
// such annotations; there, and where it fails, the title and its events are all
// there is. Not tried with a real screen reader.
var (
	ole32            = windows.NewLazySystemDLL("ole32.dll")
	coInitializeEx   = ole32.NewProc("CoInitializeEx")
	coCreateInstance = ole32.NewProc("CoCreateInstance")

	clsidAccPropServices = windows.GUID{Data1: 0xb5f8350b, Data2: 0x0548, Data3: 0x48b1, Data4: [8]byte{0xa6, 0xee, 0x88, 0xbd, 0x00, 0xb4, 0xa5, 0xe7}}
	iidAccPropServices   = windows.GUID{Data1: 0x6e26e776, Data2: 0x04f0, Data3: 0x495d, Data4: [8]byte{0x80, 0xe4, 0x33, 0x30, 0x35, 0x2e, 0x31, 0x69}}
	propRole             = windows.GUID{Data1: 0xcb905ff2, Data2: 0x7bd1, Data3: 0x4c05, Data4: [8]byte{0xb3, 0xc8, 0xe6, 0xc2, 0x41, 0x36, 0x4d, 0x70}}
	propLive             = windows.GUID{Data1: 0xc12bcd8e, Data2: 0x2a8e, Data3: 0x4950, Data4: [8]byte{0x8a, 0xe7, 0x36, 0x25, 0x11, 0x1d, 0x58, 0xeb}}
)

const (
	objidClient       = ^uintptr(3)
	eventSystemAlert  = 0x0002
	eventLiveRegion   = 0x8019
	roleAlert         = 8
	liveAssertive     = 2
	setHwndPropMethod = 6 // in the interface's table
	releaseMethod     = 2
)

// accPropServices is a COM object of the system: a pointer to its methods.
type accPropServices struct{ methods *[16]uintptr }

// winVariant is a VARIANT that holds a number.
type winVariant struct {
	kind  uint16
	_     [3]uint16
	value int64
	_     int64
}

// sayAlert annotates the window as an alert; on the loop's thread. A failure
// leaves it as it is.
func (w *winCard) sayAlert() {
	// How the arguments travel is written down here for this processor only.
	if runtime.GOARCH != "amd64" || coCreateInstance.Find() != nil {
		return
	}
	const apartment, inProcess = 2, 1
	coInitializeEx.Call(0, apartment) // once more does no harm; the thread ends with its windows
	var s *accPropServices
	if r, _, _ := coCreateInstance.Call(uintptr(unsafe.Pointer(&clsidAccPropServices)), 0, inProcess,
		uintptr(unsafe.Pointer(&iidAccPropServices)), uintptr(unsafe.Pointer(&s))); r != 0 || s == nil {
		return
	}
	const number = 3 // VT_I4
	for _, p := range []struct {
		prop  *windows.GUID
		value int64
	}{{&propRole, roleAlert}, {&propLive, liveAssertive}} {
		v := winVariant{kind: number, value: p.value}
		// Both are passed by value, which is by address for things of this size.
		syscall.SyscallN(s.methods[setHwndPropMethod], uintptr(unsafe.Pointer(s)), w.hwnd, objidClient&0xFFFFFFFF, 0,
			uintptr(unsafe.Pointer(p.prop)), uintptr(unsafe.Pointer(&v)))
	}
	syscall.SyscallN(s.methods[releaseMethod], uintptr(unsafe.Pointer(s)))
}

// alert has screen readers read the title.
func (w *winCard) alert() {
	if w.title == "" {
		return
	}
	if !w.annotated {
		w.annotated = true
		w.sayAlert()
	}
	notifyWinEvent.Call(eventSystemAlert, w.hwnd, objidClient, 0)
	notifyWinEvent.Call(eventLiveRegion, w.hwnd, objidClient, 0)
}
