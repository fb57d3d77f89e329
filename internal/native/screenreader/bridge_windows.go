package screenreader

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Bridge exposes what is on screen to UI Automation clients.
type Bridge struct{ screen }

// running is the bridge that serves this program's windows.
var running atomic.Pointer[Bridge]

// Run serves this program's windows until ctx ends, which is no error.
func (b *Bridge) Run(ctx context.Context) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if windows.CoInitializeEx(0, coMultithreaded) == nil { // events are queried on this thread
		defer windows.CoUninitialize()
	}
	running.Store(b)
	defer func() {
		running.CompareAndSwap(b, nil)
		b.set(Tree{})
		b.disconnect()
	}()
	for {
		select {
		case <-ctx.Done():
			return nil
		case t := <-b.next:
			b.take(t)
		}
	}
}

// take makes t the tree that clients find from now on, and notifies them.
func (b *Bridge) take(t Tree) {
	old, now := b.set(t) // first: readers query on every event
	b.disconnect()
	if listening() {
		for _, c := range changes(old, now) {
			b.notify(c)
		}
	}
}

// disconnect makes the system, and through it the
// clients, release what is no longer on screen.
func (b *Bridge) disconnect() {
	v := b.now.Load()
	var gone []*face
	objects.Lock()
	for n, o := range objects.of {
		if n.b == b && !o.left && v.find(n.id) == nil {
			o.left = true
			o.count++
			gone = append(gone, &o.faces[asSimple])
		}
	}
	objects.Unlock()
	for _, f := range gone {
		disconnectProvider.Call(uintptr(unsafe.Pointer(f)))
		f.release()
	}
}

// change is a change of which readers are notified.
type change struct {
	of      *place
	event   uintptr // or a property, or neither: its children have changed
	was, is any     // of a property
}

// changing lists the properties whose changes are reported.
var changing = []uintptr{propertyName, propertyValue, propertyEnabled, propertyHelpText, propertyValid, propertyToggled, propertyExpanded, propertySelected}

// changes returns the differences between two views on which readers act, or without
// which they would use outdated data. News of a card is a system alert: of everything
// that a background program can send, NVDA announces only this, and only once. News
// of a window is a live region, which all readers announce for the foreground
// program; a window's initial contents are not news.
func changes(old, now *view) (all []change) {
	for _, p := range now.inOrder {
		was := old.nodes[p.ID]
		if was == nil {
			continue
		}
		if !slices.EqualFunc(was.Children, p.Children, func(a, b *Node) bool { return a.ID == b.ID }) {
			all = append(all, change{of: p})
		}
		for _, id := range changing {
			of := properties[id]
			if a, b := of(target{v: old, place: was}), of(target{v: now, place: p}); a != b {
				all = append(all, change{p, id, a, b})
			}
		}
		if p.chosen() && !was.chosen() {
			all = append(all, change{of: p, event: eventElementSelected})
		}
	}
	if p, was := now.focused(), old.focused(); p != nil && (was == nil || was.ID != p.ID) {
		all = append(all, change{of: p, event: eventFocusChanged})
	}
	for _, p := range now.newsSince(old) { // last: it takes longest to speak
		event := uintptr(eventLiveRegionChanged)
		if p.top().Role == Card {
			event = eventSystemAlert
		}
		all = append(all, change{of: p, event: event})
	}
	return all
}

// focused returns the innermost place with the keyboard focus, or nil if there is none.
func (v *view) focused() *place {
	for _, p := range slices.Backward(v.inOrder) {
		if p.Focused {
			return p
		}
	}
	return nil
}

// notify notifies readers of a change.
func (b *Bridge) notify(c change) {
	f := b.provide(c.of, asSimple)
	if f == nil {
		return
	}
	defer f.release()
	switch provider := uintptr(unsafe.Pointer(f)); c.event {
	case 0:
		if wineOnly.Find() != nil { // wine 8 ends a program that calls it
			raiseStructureChanged.Call(provider, childrenInvalidated, 0, 0)
		}
	case eventFocusChanged, eventElementSelected, eventSystemAlert, eventLiveRegionChanged:
		raiseEvent.Call(provider, c.event)
	default:
		was, is := variantOf(c.was), variantOf(c.is)
		// Passed by value, which means by address for this size.
		raisePropertyChanged.Call(provider, c.event, uintptr(unsafe.Pointer(&was)), uintptr(unsafe.Pointer(&is)))
		variantClear.Call(uintptr(unsafe.Pointer(&was)))
		variantClear.Call(uintptr(unsafe.Pointer(&is)))
	}
}

// attached maps windows to the nodes that represent them.
var attached = struct {
	sync.Mutex
	nodes map[uintptr]ID
}{nodes: map[uintptr]ID{}}

// Attach sets which node in future trees represents a system window.
func Attach(window uintptr, n ID) {
	attached.Lock()
	defer attached.Unlock()
	attached.nodes[window] = n
}

// Detach must be called on a window's thread when the window is destroyed.
func Detach(window uintptr) {
	attached.Lock()
	_, was := attached.nodes[window]
	delete(attached.nodes, window)
	attached.Unlock()
	if was {
		returnProvider.Call(window, 0, 0, 0) // the system releases what it holds of the window
	}
}

func windowOf(n ID) uintptr {
	attached.Lock()
	defer attached.Unlock()
	for window, is := range attached.nodes {
		if is == n {
			return window
		}
	}
	return 0
}

// asked is set once a client has queried one of this
// program's windows; whenAsked is called then.
var (
	asked     atomic.Bool
	whenAsked atomic.Pointer[func()]
)

// WhenAsked sets f to be called, on a window's thread, once Wanted is true because a client
// has queried that window. f must not block; nil removes it.
func WhenAsked(f func()) { whenAsked.Store(&f) }

// Answer handles a window's WM_GETOBJECT, on its thread. If it
// returns false, the system handles the message.
func Answer(window, wParam, lParam uintptr) (uintptr, bool) {
	const client = -4 // OBJID_CLIENT: older readers, for which the system translates
	what := int32(lParam)
	if what != rootObject && what != client {
		return 0, false
	}
	if what == rootObject && asked.CompareAndSwap(false, true) {
		if f := whenAsked.Load(); f != nil && *f != nil {
			(*f)()
		}
	}
	b := running.Load()
	if b == nil {
		return 0, false
	}
	attached.Lock()
	id := attached.nodes[window]
	attached.Unlock()
	f := b.provide(b.now.Load().nodes[id], asSimple)
	if f == nil {
		return 0, false
	}
	defer f.release()
	r, _, _ := returnProvider.Call(window, wParam, lParam, uintptr(unsafe.Pointer(f)))
	return r, r != 0
}

// Wanted reports whether there is a screen reader or another program that explores others:
// it has announced itself, listens for events, or has queried one of our windows.
func Wanted() bool {
	const getScreenReader = 0x46
	var on int32
	systemParametersInfo.Call(getScreenReader, 0, uintptr(unsafe.Pointer(&on)), 0)
	return on != 0 || asked.Load() || listening()
}
