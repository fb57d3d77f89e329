package winetest

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/windows"
)

var (
	automation = windows.NewLazySystemDLL("uiautomationcore.dll")
	oleaut32   = windows.NewLazySystemDLL("oleaut32.dll")
	user32     = windows.NewLazySystemDLL("user32.dll")

	getPropertyValue    = automation.NewProc("UiaGetPropertyValue")
	navigate            = automation.NewProc("UiaNavigate")
	nodeFromHandle      = automation.NewProc("UiaNodeFromHandle")
	nodeFromVariant     = automation.NewProc("UiaHUiaNodeFromVariant")
	nodeRelease         = automation.NewProc("UiaNodeRelease")
	safeArrayDestroy    = oleaut32.NewProc("SafeArrayDestroy")
	safeArrayGetElement = oleaut32.NewProc("SafeArrayGetElement")
	sysFreeString       = oleaut32.NewProc("SysFreeString")
	variantClear        = oleaut32.NewProc("VariantClear")
	findWindowEx        = user32.NewProc("FindWindowExW")
)

type variant struct {
	kind  uint16
	_     [3]uint16
	value unsafe.Pointer
	_     uint64
}

// everything is a UiaCondition that every node meets; nothing
// is a UiaCacheRequest for the node alone.
var (
	everything = struct{ kind int32 }{}
	nothing    = struct {
		view       unsafe.Pointer
		scope      int32
		properties uintptr
		count      int32
		patterns   uintptr
		counted    int32
		mode       int32
	}{view: unsafe.Pointer(&everything), scope: 1, mode: 1}
)

const (
	next  = 1
	first = 3
)

// property returns a property of a node: a string, a number, a bool, or nil.
func property(node uintptr, id uintptr) any {
	var v variant
	if hr, _, _ := getPropertyValue.Call(node, id, uintptr(unsafe.Pointer(&v))); hr != 0 {
		return nil
	}
	defer variantClear.Call(uintptr(unsafe.Pointer(&v)))
	switch v.kind {
	case 3:
		return int(int32(uintptr(v.value)))
	case 8:
		return windows.UTF16PtrToString((*uint16)(v.value))
	case 11:
		return uint16(uintptr(v.value)) != 0
	}
	return nil
}

// Found is an object on the screen as a client finds it.
type Found struct {
	Depth, Type int
	ID, Name    string
	Help        string `json:",omitzero"`
	Off         bool   `json:",omitzero"`
	Focused     bool   `json:",omitzero"`
	Focusable   bool   `json:",omitzero"`
	Dialog      bool   `json:",omitzero"`
	Live        int    `json:",omitzero"`
	Which       [2]int `json:",omitzero"`
}

func look(node uintptr, depth int) (f Found) {
	f.Depth = depth
	f.Type, _ = property(node, 30003).(int)
	f.Name, _ = property(node, 30005).(string)
	f.ID, _ = property(node, 30011).(string)
	f.Help, _ = property(node, 30013).(string)
	on, is := property(node, 30010).(bool)
	f.Off = is && !on
	f.Focused, _ = property(node, 30008).(bool)
	f.Focusable, _ = property(node, 30009).(bool)
	f.Dialog, _ = property(node, 30174).(bool)
	f.Live, _ = property(node, 30135).(int)
	f.Which[0], _ = property(node, 30152).(int)
	f.Which[1], _ = property(node, 30153).(int)
	return f
}

// beside returns the neighbour of a node in a direction, or 0 if there is none.
func beside(node, direction uintptr) (to uintptr, err error) {
	var data, shape uintptr
	hr, _, _ := navigate.Call(node, direction, uintptr(unsafe.Pointer(&everything)), uintptr(unsafe.Pointer(&nothing)),
		uintptr(unsafe.Pointer(&data)), uintptr(unsafe.Pointer(&shape)))
	if hr != 0 {
		return 0, fmt.Errorf("navigate %d: %x", direction, hr)
	}
	defer sysFreeString.Call(shape)
	if data == 0 {
		return 0, nil
	}
	defer safeArrayDestroy.Call(data)
	var v variant
	at := [2]int32{}
	if hr, _, _ := safeArrayGetElement.Call(data, uintptr(unsafe.Pointer(&at)), uintptr(unsafe.Pointer(&v))); hr != 0 {
		return 0, nil
	}
	defer variantClear.Call(uintptr(unsafe.Pointer(&v)))
	nodeFromVariant.Call(uintptr(unsafe.Pointer(&v)), uintptr(unsafe.Pointer(&to)))
	return to, nil
}

// walk calls f for a node and all nodes below it.
func walk(node uintptr, depth int, f func(node uintptr, depth int)) error {
	f(node, depth)
	c, err := beside(node, first)
	for c != 0 && err == nil {
		if err = walk(c, depth+1, f); err == nil {
			c, err = beside(c, next)
		}
	}
	return err
}

// visible returns the visible windows of a class.
func visible(class string) (all []uintptr) {
	name, err := windows.UTF16PtrFromString(class)
	if err != nil {
		return nil
	}
	for h := uintptr(0); ; {
		h, _, _ = findWindowEx.Call(0, h, uintptr(unsafe.Pointer(name)), 0)
		if h == 0 {
			return all
		}
		if windows.IsWindowVisible(windows.HWND(h)) {
			all = append(all, h)
		}
	}
}

// Explore reports what is in the visible windows of a class, as screen readers find it over
// UI Automation. It uses the functions that wine 8 has: wine lacks CUIAutomation, the objects
// that readers use, and its functions support the tree and most properties, but no
// rectangles, values, actions or events. The calling goroutine must be locked to its thread,
// with COM initialised (COINIT_MULTITHREADED).
//
// wine's RPC between processes may hang: RpcServerUnregisterIf does not always notice that the
// last call of a released object has ended.
func Explore(class string, tell func(Found)) (err error) {
	var all []uintptr
	for _, h := range visible(class) {
		var node uintptr
		if hr, _, _ := nodeFromHandle.Call(h, uintptr(unsafe.Pointer(&node))); hr != 0 || node == 0 {
			continue // a window without a provider
		}
		err = errors.Join(err, walk(node, 0, func(node uintptr, depth int) {
			all = append(all, node)
			tell(look(node, depth))
		}))
	}
	for _, node := range all {
		nodeRelease.Call(node)
	}
	return err
}
