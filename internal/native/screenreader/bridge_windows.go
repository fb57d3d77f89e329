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
type Bridge struct{ treeState }

var activeBridge atomic.Pointer[Bridge]

// Run serves this program's windows until ctx ends, which is no error.
func (b *Bridge) Run(ctx context.Context) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if windows.CoInitializeEx(0, coMultithreaded) == nil { // events are queried on this thread
		defer windows.CoUninitialize()
	}
	activeBridge.Store(b)
	defer func() {
		activeBridge.CompareAndSwap(b, nil)
		b.set(Tree{})
		b.disconnect()
	}()
	for {
		select {
		case <-ctx.Done():
			return nil
		case t := <-b.next:
			b.setTree(t)
		}
	}
}

// setTree makes t the tree that clients find from now on, and notifies them.
func (b *Bridge) setTree(t Tree) {
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
	var gone []*comInterface
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
	of      *treeNode
	event   uintptr // or a property, or neither: its children have changed
	was, is any     // of a property
}

// reportedProperties lists the properties whose changes are reported.
var reportedProperties = []uintptr{propertyName, propertyValue, propertyEnabled, propertyHelpText, propertyValid, propertyToggled, propertyExpanded, propertySelected}

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
		for _, id := range reportedProperties {
			of := properties[id]
			if a, b := of(target{v: old, treeNode: was}), of(target{v: now, treeNode: p}); a != b {
				all = append(all, change{p, id, a, b})
			}
		}
		if p.isSelectedOne() && !was.isSelectedOne() {
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

// focused returns the innermost node with the keyboard focus, or nil if there is none.
func (v *view) focused() *treeNode {
	for _, p := range slices.Backward(v.inOrder) {
		if p.Focused {
			return p
		}
	}
	return nil
}

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

var windowNodes = struct {
	sync.Mutex
	nodes map[uintptr]ID
}{nodes: map[uintptr]ID{}}

// Attach sets which node in future trees represents a system window.
func Attach(window uintptr, n ID) {
	windowNodes.Lock()
	defer windowNodes.Unlock()
	windowNodes.nodes[window] = n
}

// Detach must be called on a window's thread when the window is destroyed.
func Detach(window uintptr) {
	windowNodes.Lock()
	_, was := windowNodes.nodes[window]
	delete(windowNodes.nodes, window)
	windowNodes.Unlock()
	if was {
		returnProvider.Call(window, 0, 0, 0) // the system releases what it holds of the window
	}
}

func windowOf(n ID) uintptr {
	windowNodes.Lock()
	defer windowNodes.Unlock()
	for window, is := range windowNodes.nodes {
		if is == n {
			return window
		}
	}
	return 0
}

// queried is set once a client has queried one of this
// program's windows; onFirstQuery is called then.
var (
	queried      atomic.Bool
	onFirstQuery atomic.Pointer[func()]
)

// OnFirstQuery sets f to be called, on a window's thread, once HasClients is true because a client
// has queried that window. f must not block; nil removes it.
func OnFirstQuery(f func()) { onFirstQuery.Store(&f) }

// HandleGetObject handles a window's WM_GETOBJECT, on its thread. If it
// returns false, the system handles the message.
func HandleGetObject(window, wParam, lParam uintptr) (uintptr, bool) {
	const client = -4 // OBJID_CLIENT: older readers, for which the system translates
	what := int32(lParam)
	if what != rootObject && what != client {
		return 0, false
	}
	if what == rootObject && queried.CompareAndSwap(false, true) {
		if f := onFirstQuery.Load(); f != nil && *f != nil {
			(*f)()
		}
	}
	b := activeBridge.Load()
	if b == nil {
		return 0, false
	}
	windowNodes.Lock()
	id := windowNodes.nodes[window]
	windowNodes.Unlock()
	f := b.provide(b.now.Load().nodes[id], asSimple)
	if f == nil {
		return 0, false
	}
	defer f.release()
	r, _, _ := returnProvider.Call(window, wParam, lParam, uintptr(unsafe.Pointer(f)))
	return r, r != 0
}

// HasClients reports whether there is a screen reader or another program that explores others:
// it has announced itself, listens for events, or has queried one of our windows.
func HasClients() bool {
	const getScreenReader = 0x46
	var on int32
	systemParametersInfo.Call(getScreenReader, 0, uintptr(unsafe.Pointer(&on)), 0)
	return on != 0 || queried.Load() || listening()
}
