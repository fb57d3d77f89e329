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

// Bridge shows what is on screen to programs that ask for it over UI Automation.
type Bridge struct{ screen }

// running is the bridge that answers for the windows of this program.
var running atomic.Pointer[Bridge]

// Run answers for the windows of this program until ctx ends, which is no error.
func (b *Bridge) Run(ctx context.Context) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if windows.CoInitializeEx(0, coMultithreaded) == nil { // what is told is asked for on this thread
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

// take makes t what clients find from now on, and tells them.
func (b *Bridge) take(t Tree) {
	old, now := b.set(t) // first: readers ask back
	b.disconnect()
	if listening() {
		for _, c := range changes(old, now) {
			b.tell(c)
		}
	}
}

// disconnect has the system, and clients through it, let go of what is on screen no
// more.
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

// change is something that readers are told of.
type change struct {
	of      *place
	event   uintptr // or a property, or neither: other things stand in it
	was, is any     // of a property
}

// changing are the properties of which a change is told.
var changing = []uintptr{propertyName, propertyValue, propertyEnabled, propertyHelpText, propertyValid, propertyToggled, propertyExpanded, propertySelected}

// changes are those between two views, as far as readers act on them or would
// otherwise go on with what they know. News of a card is an alert of the system: of all
// that a program in the background can say, NVDA reads out only this, and it reads it
// once. News of a window is a live region, which all readers say of the program in front;
// what a window opens with is none.
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
	for _, p := range now.newsSince(old) { // last: it takes the longest to say
		event := uintptr(eventLiveRegionChanged)
		if p.top().Role == Card {
			event = eventSystemAlert
		}
		all = append(all, change{of: p, event: event})
	}
	return all
}

// focused is the innermost that has the keyboard; nil for none.
func (v *view) focused() *place {
	for _, p := range slices.Backward(v.inOrder) {
		if p.Focused {
			return p
		}
	}
	return nil
}

// tell tells readers of a change.
func (b *Bridge) tell(c change) {
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
		// Passed by value, which is by address for things of this size.
		raisePropertyChanged.Call(provider, c.event, uintptr(unsafe.Pointer(&was)), uintptr(unsafe.Pointer(&is)))
		variantClear.Call(uintptr(unsafe.Pointer(&was)))
		variantClear.Call(uintptr(unsafe.Pointer(&is)))
	}
}

// attached are windows, and the node that stands for each.
var attached = struct {
	sync.Mutex
	nodes map[uintptr]ID
}{nodes: map[uintptr]ID{}}

// Attach says which node of the trees to come a window of the system is.
func Attach(window uintptr, n ID) {
	attached.Lock()
	defer attached.Unlock()
	attached.nodes[window] = n
}

// Detach is called when a window ends, on its thread.
func Detach(window uintptr) {
	attached.Lock()
	_, was := attached.nodes[window]
	delete(attached.nodes, window)
	attached.Unlock()
	if was {
		returnProvider.Call(window, 0, 0, 0) // the system lets go of what it has of it
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

func hostOf(window uintptr) (host uintptr) {
	hostProviderFromHwnd.Call(window, uintptr(unsafe.Pointer(&host)))
	return host
}

// asked is set once a client has asked for a window of this program, and whenAsked is
// called then.
var (
	asked     atomic.Bool
	whenAsked atomic.Pointer[func()]
)

// WhenAsked has f called, on the thread of a window, once Wanted is true because a
// client has asked for that window. It must not wait. nil ends that.
func WhenAsked(f func()) {
	if f == nil {
		whenAsked.Store(nil)
		return
	}
	whenAsked.Store(&f)
}

// Answer deals with WM_GETOBJECT of a window, on its thread; false leaves it to the
// system.
func Answer(window, wParam, lParam uintptr) (uintptr, bool) {
	const client = -4 // OBJID_CLIENT: older readers, which the system translates for
	what := int32(lParam)
	if what != rootObject && what != client {
		return 0, false
	}
	if what == rootObject && asked.CompareAndSwap(false, true) {
		if f := whenAsked.Load(); f != nil {
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

// Wanted reports whether there is a screen reader, or another program that explores
// others: it has said so, listens, or has asked for a window of ours.
func Wanted() bool {
	const getScreenReader = 0x46
	var on int32
	systemParametersInfo.Call(getScreenReader, 0, uintptr(unsafe.Pointer(&on)), 0)
	return on != 0 || asked.Load() || listening()
}
