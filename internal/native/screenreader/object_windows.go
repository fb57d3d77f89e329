package screenreader

import (
	"sync"
	"unsafe"

	"golang.org/x/sys/windows"
)

// The interfaces of objects, in the order of their faces.
const (
	asSimple = iota // IRawElementProviderSimple, and IUnknown
	asFragment
	asRoot
	asInvoke
	asSelection
	asValue
	asExpand
	asWindow
	asSelectionItem
	asToggle
	interfaces
)

var iids = [interfaces]windows.GUID{
	asSimple:        {Data1: 0xd6dd68d1, Data2: 0x86fd, Data3: 0x4332, Data4: [8]byte{0x86, 0x66, 0x9a, 0xbe, 0xde, 0xa2, 0xd2, 0x4c}},
	asFragment:      {Data1: 0xf7063da8, Data2: 0x8359, Data3: 0x439c, Data4: [8]byte{0x92, 0x97, 0xbb, 0xc5, 0x29, 0x9a, 0x7d, 0x87}},
	asRoot:          {Data1: 0x620ce2a5, Data2: 0xab8f, Data3: 0x40a9, Data4: [8]byte{0x86, 0xcb, 0xde, 0x3c, 0x75, 0x59, 0x9b, 0x58}},
	asInvoke:        {Data1: 0x54fcb24b, Data2: 0xe18e, Data3: 0x47a2, Data4: [8]byte{0xb4, 0xd3, 0xec, 0xcb, 0xe7, 0x75, 0x99, 0xa2}},
	asSelection:     {Data1: 0xfb8b03af, Data2: 0x3bdf, Data3: 0x48d4, Data4: [8]byte{0xbd, 0x36, 0x1a, 0x65, 0x79, 0x3b, 0xe1, 0x68}},
	asValue:         {Data1: 0xc7935180, Data2: 0x6fb3, Data3: 0x4201, Data4: [8]byte{0xb1, 0x74, 0x7d, 0xf7, 0x3a, 0xdb, 0xf6, 0x4a}},
	asExpand:        {Data1: 0xd847d3a5, Data2: 0xcab0, Data3: 0x4a98, Data4: [8]byte{0x8c, 0x32, 0xec, 0xb4, 0x5c, 0x59, 0xad, 0x24}},
	asWindow:        {Data1: 0x987df77b, Data2: 0xdb06, Data3: 0x4d77, Data4: [8]byte{0x8f, 0x8a, 0x86, 0xa9, 0xc3, 0xbb, 0x90, 0xb9}},
	asSelectionItem: {Data1: 0x2acad808, Data2: 0xb2d4, Data3: 0x452d, Data4: [8]byte{0xa4, 0x07, 0x91, 0xff, 0x1a, 0xd1, 0x67, 0xb2}},
	asToggle:        {Data1: 0x56d00bd0, Data2: 0xc4f4, Data3: 0x433c, Data4: [8]byte{0xa8, 0x36, 0x1a, 0x52, 0xa5, 0x7e, 0x08, 0x92}},
}

var iidUnknown = windows.GUID{Data4: [8]byte{0xC0, 0, 0, 0, 0, 0, 0, 0x46}}

// comInterface is an object as one of its interfaces: COM calls the methods at its address. It is
// in system memory, which Go's collector does not know, so tables keeps the methods
// alive, and a number refers to the object.
type comInterface struct {
	methods *uintptr
	object  uintptr // key in objects.all
}

// object is what clients hold for a node. It has the interfaces of all patterns;
// clients query which of them currently apply.
type object struct {
	nodeRef
	faces *[interfaces]comInterface // one of each kind: what the system holds of the object
	root  bool
	count int  // reference count
	left  bool // the system was told that it is no longer on screen
}

func (o *object) has(i int) bool { return i != asRoot || o.root }

type nodeRef struct {
	b  *Bridge
	id ID
}

// objects has the objects that clients hold. An object lives until all clients have
// released it, whatever happens to its node.
var objects = struct {
	sync.Mutex
	last uintptr
	all  map[uintptr]*object
	of   map[nodeRef]*object
}{all: map[uintptr]*object{}, of: map[nodeRef]*object{}}

// provide returns p as one of its interfaces, to be
// released by the caller, or nil if p is nil.
func (b *Bridge) provide(p *treeNode, as int) *comInterface {
	if p == nil {
		return nil
	}
	tables.once.Do(makeTables)
	objects.Lock()
	defer objects.Unlock()
	o := objects.of[nodeRef{b, p.ID}]
	if o == nil {
		at, err := windows.LocalAlloc(windows.LPTR, uint32(unsafe.Sizeof([interfaces]comInterface{})))
		if err != nil {
			return nil
		}
		objects.last++
		o = &object{nodeRef: nodeRef{b, p.ID}, faces: *(**[interfaces]comInterface)(unsafe.Pointer(&at)), root: p.parent == nil}
		for i := range o.faces {
			o.faces[i] = comInterface{methods: &tables.methods[i][0], object: objects.last}
		}
		objects.all[objects.last], objects.of[o.nodeRef] = o, o
	}
	if !o.has(as) {
		return nil
	}
	o.count++
	return &o.faces[as]
}

// heldObject returns the object of a face, to which the caller has a reference.
func (f *comInterface) heldObject() *object {
	objects.Lock()
	defer objects.Unlock()
	return objects.all[f.object]
}

// as returns the object as another interface, to be released by
// the caller, or nil if it does not have it.
func (f *comInterface) as(i int) *comInterface {
	objects.Lock()
	defer objects.Unlock()
	o := objects.all[f.object]
	if o == nil || !o.has(i) {
		return nil
	}
	o.count++
	return &o.faces[i]
}

func (f *comInterface) release() int { return f.refer(-1) }

// refer changes the object's reference count and returns it. Without references the object is gone.
func (f *comInterface) refer(more int) int {
	objects.Lock()
	defer objects.Unlock()
	o := objects.all[f.object]
	if o == nil {
		return 0
	}
	if o.count += more; o.count == 0 {
		delete(objects.all, f.object)
		delete(objects.of, o.nodeRef)
		windows.LocalFree(windows.Handle(unsafe.Pointer(o.faces)))
	}
	return o.count
}

// Methods of IUnknown.

func queryInterface(f *comInterface, iid *windows.GUID, out **comInterface) uintptr {
	if out == nil || iid == nil {
		return ePointer
	}
	*out = nil
	for i := range iids {
		if *iid == iids[i] || i == asSimple && *iid == iidUnknown {
			*out = f.as(i)
		}
	}
	if *out == nil {
		return eNoInterface
	}
	return sOK
}

func addRef(f *comInterface) uintptr { return uintptr(f.refer(1)) }

func release(f *comInterface) uintptr { return uintptr(f.release()) }

// tables has the methods of all interfaces, by face. Since callbacks are never freed, they are
// created once, for the first client, and shared by all objects.
var tables struct {
	once    sync.Once
	methods [interfaces][]uintptr
}

func makeTables() {
	unknown := []uintptr{windows.NewCallback(queryInterface), windows.NewCallback(addRef), windows.NewCallback(release)}
	for i, own := range [interfaces][]uintptr{
		asSimple: {
			valueMethod(func(target) int32 { return serverSide }), // callable on any thread, since a view never changes
			windows.NewCallback(patternProvider),
			windows.NewCallback(propertyValueOf),
			valueMethod(target.host),
		},
		asFragment: {
			windows.NewCallback(navigate),
			valueMethod(target.runtimeID),
			valueMethod(target.rectangle),
			valueMethod(func(target) uintptr { return 0 }), // our windows contain no others
			actionMethod(target.takeKeyboard),
			valueMethod(func(t target) *comInterface { return t.o.b.provide(t.top(), asRoot) }),
		},
		asRoot: {
			pointCallback(),
			valueMethod(target.focus),
		},
		asInvoke: {actionMethod(target.press)},
		asSelection: {
			valueMethod(target.selection),
			valueMethod(zeroValue), valueMethod(zeroValue), // we have neither multiple nor required selection
		},
		asValue: {
			windows.NewCallback(setValue),
			valueMethod(func(t target) uintptr { return systemText(t.Value) }),
			valueMethod(func(t target) int32 { return boolNumber(t.Role != Entry || t.Disabled) }),
		},
		asExpand: {
			actionMethod(func(t target) uintptr { return t.pressUnless(t.Is(Expanded)) }),
			actionMethod(func(t target) uintptr { return t.pressUnless(!t.Is(Expanded)) }),
			valueMethod(func(t target) int32 { return boolNumber(t.Is(Expanded)) }),
		},
		asWindow: {
			windows.NewCallback(func(*comInterface, uintptr) uintptr { return eInvalidOperation }),
			actionMethod(func(target) uintptr { return eInvalidOperation }), // a button does that
			windows.NewCallback(func(_ *comInterface, _ uintptr, idle *int32) uintptr { *idle = 1; return sOK }),
			valueMethod(zeroValue), valueMethod(zeroValue), // maximized, minimized
			valueMethod(func(t target) int32 { return boolNumber(t.Role == Dialog) }),
			valueMethod(zeroValue), // which is "normal" of a WindowVisualState
			valueMethod(func(target) int32 { return readyForInput }),
			valueMethod(func(t target) int32 { return boolNumber(t.Role == Card) }), // above all others
		},
		asSelectionItem: {
			actionMethod(func(t target) uintptr { return t.pressUnless(t.isSelectedOne()) }),
			actionMethod(func(t target) uintptr { return t.pressUnless(t.isSelectedOne()) }),
			actionMethod(func(target) uintptr { return eInvalidOperation }),
			valueMethod(func(t target) int32 { return boolNumber(t.isSelectedOne()) }),
			valueMethod(target.selectedIn),
		},
		asToggle: {
			actionMethod(target.press),
			valueMethod(func(t target) int32 { return boolNumber(t.Is(Checked)) }),
		},
	} {
		tables.methods[i] = append(unknown[:len(unknown):len(unknown)], own...)
	}
}

func zeroValue(target) int32 { return 0 }

// valueMethod makes a method that returns a value of a node.
func valueMethod[T any](f func(target) T) uintptr {
	return windows.NewCallback(func(this *comInterface, out *T) uintptr { return writeValue(this, out, f) })
}

func writeValue[T any](this *comInterface, out *T, f func(target) T) uintptr {
	if out == nil {
		return ePointer
	}
	var none T
	*out = none
	t, there := this.target()
	if !there {
		return eNotAvailable
	}
	*out = f(t)
	return sOK
}

// actionMethod makes a method that performs an action on a node.
func actionMethod(f func(target) uintptr) uintptr {
	return windows.NewCallback(func(this *comInterface) uintptr {
		t, there := this.target()
		if !there {
			return eNotAvailable
		}
		return f(t)
	})
}
