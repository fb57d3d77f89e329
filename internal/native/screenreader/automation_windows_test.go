package screenreader

import (
	"context"
	"encoding/binary"
	"fmt"
	"image"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/windows"

	"wiebelt/internal/native/win32"
	"wiebelt/internal/testutil/must"
)

// openWindow opens a window on its own thread, which ends with the test.
func openWindow(t *testing.T) (hwnd uintptr) {
	t.Helper()
	made, done := make(chan error), make(chan struct{})
	handle := func(what uint32, wParam, lParam uintptr) (uintptr, bool) {
		switch what {
		case 0x3D: // WM_GETOBJECT
			return HandleGetObject(hwnd, wParam, lParam)
		case win32.WMClose:
			Detach(hwnd)
			win32.Destroy(hwnd)
			win32.Quit()
			return 0, true
		}
		return 0, false
	}
	go func() {
		defer close(done)
		runtime.LockOSThread()
		const popup, topmost = 0x90000000, 8
		var err error
		hwnd, err = win32.Create("WiebeltTest", "test", popup, topmost, handle)
		made <- err
		win32.Loop()
	}()
	must.Do(t, <-made)
	t.Cleanup(func() { win32.Post(hwnd, win32.WMClose, 0, 0); <-done })
	return hwnd
}

// begin runs a bridge until the end of the test.
func begin(t *testing.T) *Bridge {
	t.Helper()
	b := New()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- b.Run(ctx) }()
	t.Cleanup(func() { cancel(); must.Do(t, <-ended) })
	for activeBridge.Load() != b {
		runtime.Gosched()
	}
	return b
}

// shows calls Show with a tree and waits until it is in place.
func (b *Bridge) shows(t Tree) {
	b.Show(t)
	for v := b.now.Load(); len(v.Windows) != len(t.Windows) || len(t.Windows) > 0 && v.Windows[0] != t.Windows[0]; v = b.now.Load() {
		runtime.Gosched()
	}
}

// call calls a method of a face as the system does.
func call(f *comInterface, method int, args ...uintptr) uintptr {
	r, _, _ := syscall.SyscallN(unsafe.Slice(f.methods, 12)[method], append([]uintptr{uintptr(unsafe.Pointer(f))}, args...)...)
	return r
}

// into passes p as the place for a result. It is on the heap, since callbacks move the stack.
func into[T any](p *T) uintptr {
	kept.Store((*byte)(unsafe.Pointer(p)))
	return uintptr(unsafe.Pointer(p))
}

var kept atomic.Pointer[byte]

var (
	safeArrayDestroy    = oleaut32.NewProc("SafeArrayDestroy")
	safeArrayGetElement = oleaut32.NewProc("SafeArrayGetElement")
	sysFreeString       = oleaut32.NewProc("SysFreeString")
)

// answered returns the result of a method that takes no further arguments.
func answered[T any](t *testing.T, f *comInterface, method int, args ...uintptr) (v T) {
	t.Helper()
	if hr := call(f, method, append(args, into(&v))...); hr != sOK {
		t.Errorf("method %d: %x", method, hr)
	}
	return v
}

// query returns another interface of f's object, to which f's reference moves.
func (f *comInterface) query(t *testing.T, iid windows.GUID) *comInterface {
	t.Helper()
	other := answered[*comInterface](t, f, 0, into(&iid))
	if other != nil {
		f.release()
	}
	return other
}

// property returns one of a node's properties.
func (f *comInterface) property(t *testing.T, id uintptr) any {
	t.Helper()
	v := answered[variant](t, f, 5, id)
	defer variantClear.Call(into(&v))
	switch v.kind {
	case kindText:
		return read(uintptr(v.value))
	case kindNumber:
		return int(int32(v.value))
	case kindBool:
		return uint16(v.value) == 0xFFFF
	}
	return nil
}

// read returns the string at an address that the system returned.
func read(text uintptr) string { return windows.UTF16PtrToString(*(**uint16)(unsafe.Pointer(&text))) }

// Methods of IRawElementProviderFragment.
const (
	methodNavigate  = 3
	methodRuntimeID = 4
	methodRectangle = 5
	methodSetFocus  = 7
	methodRoot      = 8
)

// beside returns the neighbour in a direction.
func (f *comInterface) beside(t *testing.T, direction uintptr) *comInterface {
	t.Helper()
	return answered[*comInterface](t, f, methodNavigate, direction)
}

// walked returns the ids of all nodes in a fragment and releases the fragment.
func walked(t *testing.T, f *comInterface) (ids []string) {
	t.Helper()
	simple := f.query(t, iids[asSimple])
	id, _ := simple.property(t, propertyAutomationID).(string)
	ids = append(ids, id)
	f = simple.query(t, iids[asFragment])
	for c := f.beside(t, toFirst); c != nil; {
		after := c.beside(t, toNext)
		ids = append(ids, walked(t, c)...)
		c = after
	}
	f.release()
	return ids
}

// held returns how many objects clients hold.
func held() int {
	objects.Lock()
	defer objects.Unlock()
	return len(objects.all)
}

// shown shows a card on a window and returns its provider as a client gets it.
func shown(t *testing.T) (*Bridge, *comInterface, chan ID) {
	t.Helper()
	b, pressed := New(), make(chan ID, 10)
	Attach(openWindow(t), 1)
	b.setTree(Tree{Windows: []*Node{testCard(2, "Inkomend", true)}, Press: func(id ID) { pressed <- id }})
	return b, b.provide(b.now.Load().nodes[1], asSimple), pressed
}

// on calls ask with a node's provider and releases the provider.
func on(t *testing.T, b *Bridge, id ID, as int, ask func(*comInterface)) {
	t.Helper()
	f := b.provide(b.now.Load().nodes[id], as)
	if f == nil {
		t.Fatalf("%d has no interface %d", id, as)
	}
	defer f.release()
	ask(f)
}

// TestNothingWithoutClients checks that nothing is created for a window until a client asks
// for it. It must be the first test of the process.
func TestNothingWithoutClients(t *testing.T) {
	if HasClients() {
		t.Error("nobody is there, and is heard")
	}
	b := begin(t)
	Attach(openWindow(t), 1)
	for i := range ID(100) {
		b.shows(Tree{Windows: []*Node{testCard(10+i, "Inkomend", false)}})
	}
	if objects.last != 0 || tables.methods[0] != nil {
		t.Errorf("%d objects were made", objects.last)
	}
}

// TestProviders makes the calls that clients make, through the method tables.
func TestProviders(t *testing.T) {
	b, root, pressed := shown(t)
	if host := answered[uintptr](t, root, 6); host == 0 {
		t.Error("the window has no provider of the system")
	} else {
		h := *(**comInterface)(unsafe.Pointer(&host))
		call(h, 2)
	}
	if options := answered[int32](t, root, 3); options != serverSide {
		t.Errorf("options %d", options)
	}
	fragment := root.query(t, iids[asFragment])
	addRef(fragment)
	if got := strings.Join(walked(t, fragment), " "); got != "1 2 3 5 4 6 8 9" {
		t.Errorf("walked %s", got)
	}
	propertiesOf(t, b)
	places(t, b, fragment)
	patternsOf(t, b, pressed)

	simple := fragment.query(t, iidUnknown)
	if same := simple.query(t, iids[asSimple]); same != simple {
		t.Error("an object is another one as IUnknown")
	}
	var none *comInterface
	if hr := call(simple, 0, into(&windows.GUID{Data1: 1}), into(&none)); hr != eNoInterface || none != nil {
		t.Errorf("an unknown interface: %x", hr)
	}
	if hr := call(simple, 0, into(&iids[asRoot]), into(&none)); hr != sOK || none == nil {
		t.Errorf("a card as a window: %x", hr)
	} else {
		none.release()
	}
	on(t, b, 2, asSimple, func(f *comInterface) { // news, whose text is kept as long as the card exists
		addRef(f)
		b.setTree(Tree{Windows: []*Node{testCard(7, "Inkomend: A. Bakker", false)}})
		if name := f.property(t, propertyName); name != "Inkomend" {
			t.Errorf("a slow reader finds that %q was said", name)
		}
		b.setTree(Tree{})
		var v variant
		if hr := call(f, 5, propertyName, into(&v)); hr != eNotAvailable {
			t.Errorf("what has gone: %x", hr)
		}
		release(f)
	})
	if got := release(simple); got != 0 || held() != 0 {
		t.Errorf("%d hold the card, %d objects are left", got, held())
	}
}

// propertiesOf checks what a client in another process does not, which finds the others
// (TestWindows).
func propertiesOf(t *testing.T, b *Bridge) {
	for _, is := range []struct {
		of       ID
		property uintptr
		want     any
	}{
		{1, propertyProcessID, os.Getpid()}, {3, propertyLiveSetting, nil}, {3, propertyHelpText, nil}, {3, propertySizeOfSet, nil},
		{4, propertyHasFocus, true}, {4, propertyEnabled, true}, {4, propertyIsDialog, false},
		{6, propertyFocusable, false}, {6, propertyHasFocus, false}, {9, 30999, nil},
	} {
		on(t, b, is.of, asSimple, func(f *comInterface) {
			if got := f.property(t, is.property); got != is.want {
				t.Errorf("property %d of %d: %v, want %v", is.property, is.of, got, is.want)
			}
		})
	}
}

// places checks where nodes are and which node is at a point.
func places(t *testing.T, b *Bridge, root *comInterface) {
	on(t, b, 4, asFragment, func(f *comInterface) {
		if got := answered[[4]float64](t, f, methodRectangle); got != [4]float64{110, 250, 90, 30} {
			t.Errorf("the button is at %v", got)
		}
		if id := answered[uintptr](t, f, methodRuntimeID); id == 0 {
			t.Error("the button has no id")
		} else {
			safeArrayDestroy.Call(id)
		}
		if hr := call(f, 0, into(&iids[asRoot]), into(new(*comInterface))); hr != eNoInterface {
			t.Errorf("a button as a window: %x", hr)
		}
		if hr := call(f, methodSetFocus); hr != eInvalidOperation {
			t.Errorf("a client takes the keyboard: %x", hr)
		}
		up := answered[*comInterface](t, f, methodRoot)
		if up.object != root.object {
			t.Error("the button stands in another window")
		}
		up.release()
		for direction, want := range map[uintptr]uintptr{toParent: 5, toNext: 0, toBefore: 0, toFirst: 0, toLast: 0} {
			if got := b.idOf(f.beside(t, direction)); got != ID(want) {
				t.Errorf("in direction %d of the button is %d, want %d", direction, got, want)
			}
		}
	})
	if got := b.idOf(root.beside(t, toLast)); got != 9 {
		t.Errorf("the last of the card is %d", got)
	}
	if got := b.idOf(root.beside(t, toParent)); got != 0 {
		t.Errorf("the card stands in %d", got)
	}
	on(t, b, 1, asRoot, func(f *comInterface) {
		if got := b.idOf(answered[*comInterface](t, f, 4)); got != 4 {
			t.Errorf("%d has the keyboard", got)
		}
		for at, want := range map[image.Point]ID{{120, 260}: 4, {300, 270}: 5, {101, 201}: 1, {10, 10}: 0} {
			var out *comInterface
			if hr := callPoint(t, f, float64(at.X), float64(at.Y), &out); hr != sOK {
				t.Errorf("at %v: %x", at, hr)
			}
			if got := b.idOf(out); got != want {
				t.Errorf("at %v is %d, want %d", at, got, want)
			}
		}
	})
}

// callPoint calls ElementProviderFromPoint with nothing in the integer registers: Go passes
// arguments in both kinds, Windows does not.
func callPoint(t *testing.T, f *comInterface, x, y float64, out **comInterface) uintptr {
	t.Helper()
	code := []byte{0x31, 0xD2, 0x45, 0x31, 0xC0, 0x48, 0xB8} // xor edx, edx; xor r8d, r8d; mov rax, ...
	code = binary.LittleEndian.AppendUint64(code, uint64(unsafe.Slice(f.methods, 4)[3]))
	code = append(code, 0xFF, 0xE0) // jmp rax
	at := must.Get(windows.VirtualAlloc(0, uintptr(len(code)), windows.MEM_COMMIT|windows.MEM_RESERVE, windows.PAGE_EXECUTE_READWRITE))(t)
	defer windows.VirtualFree(at, 0, windows.MEM_RELEASE)
	copy(unsafe.Slice(*(**byte)(unsafe.Pointer(&at)), len(code)), code)
	hr, _, _ := syscall.SyscallN(at, uintptr(unsafe.Pointer(f)), uintptr(math.Float64bits(x)), uintptr(math.Float64bits(y)), into(out))
	return hr
}

// idOf returns the id of a provider's node, 0 for none, and releases the provider.
func (b *Bridge) idOf(f *comInterface) ID {
	if f == nil {
		return 0
	}
	defer f.release()
	return f.heldObject().id
}

// patternsOf performs the actions that nodes offer.
func patternsOf(t *testing.T, b *Bridge, pressed chan ID) {
	on(t, b, 1, asSimple, func(f *comInterface) { kindWanted{50032, []uintptr{patternWindow}}.check(t, f, 1) })
	on(t, b, 4, asInvoke, func(f *comInterface) {
		if hr := call(f, 3); hr != sOK || <-pressed != 4 {
			t.Errorf("pressed: %x", hr)
		}
	})
	on(t, b, 6, asInvoke, func(f *comInterface) {
		if hr := call(f, 3); hr != eNotEnabled || len(pressed) != 0 {
			t.Errorf("what is off was pressed: %x", hr)
		}
	})
	on(t, b, 8, asValue, func(f *comInterface) {
		v := answered[uintptr](t, f, 4)
		if got := read(v); got != "vis" {
			t.Errorf("typed %q", got)
		}
		sysFreeString.Call(v)
	})
	on(t, b, 1, asWindow, func(f *comInterface) {
		if idle := answered[int32](t, f, 5, 100); idle != 1 {
			t.Error("the card is busy")
		}
		if modal, top := answered[int32](t, f, 8), answered[int32](t, f, 11); modal != 0 || top != 1 {
			t.Errorf("modal %d, above others %d", modal, top)
		}
		if hr := call(f, 4); hr != eInvalidOperation {
			t.Errorf("a client closes the window: %x", hr)
		}
	})
}

// testWindow returns an ordinary window with one node of each role.
func testWindow(s State) *Node {
	w := &Node{ID: 1, Role: Window, Name: "Instellingen", Focused: true}
	for r := range Group + 1 {
		if n := (&Node{ID: ID(100 + r), Role: r, Name: "x", Value: "was"}); r != Card && r != Window {
			n.State = s
			w.Children = append(w.Children, n)
		}
	}
	tabs := w.Children[slices.IndexFunc(w.Children, func(n *Node) bool { return n.Role == TabList })]
	tabs.Children = []*Node{{ID: 50, Role: Tab, Name: "a", State: Selected}, {ID: 51, Role: Tab, Name: "b"}}
	return w
}

// TestRoles checks that each role has its control type and its patterns, through
// which a client reads and changes its state.
func TestRoles(t *testing.T) {
	b := New()
	did := make(chan string, 1)
	b.setTree(Tree{Windows: []*Node{testWindow(Focusable)}, Press: func(id ID) { did <- fmt.Sprint("press ", id) },
		Focus: func(id ID) { did <- fmt.Sprint("focus ", id) }, Set: func(id ID, s string) { did <- fmt.Sprint("set ", id, " ", s) }})
	expect := func(want string, hr uintptr) {
		t.Helper()
		if hr != sOK || len(did) == 0 && want != "" || len(did) > 0 && <-did != want {
			t.Errorf("%x, want %s", hr, want)
		}
	}
	invoke := []uintptr{patternInvoke}
	for role, want := range map[Role]kindWanted{
		Button: {50000, invoke}, Entry: {50004, []uintptr{patternInvoke, patternValue}}, Label: {50020, nil}, News: {50020, nil}, List: {50008, nil},
		Item: {50007, nil}, Dialog: {50032, []uintptr{patternWindow}}, Heading: {50020, nil}, CheckBox: {50002, []uintptr{patternToggle}},
		Radio: {50013, []uintptr{patternSelectionItem}}, ComboBox: {50003, []uintptr{patternExpandCollapse, patternValue}},
		TabList: {50018, []uintptr{patternSelection}}, Tab: {50019, []uintptr{patternSelectionItem}}, Menu: {50009, nil}, MenuItem: {50011, invoke},
		Group: {50026, nil},
	} {
		on(t, b, ID(100+role), asSimple, func(f *comInterface) { want.check(t, f, ID(100+role)) })
	}
	if len(kinds) != int(Group)+1 {
		t.Errorf("%d roles are known of %d", len(kinds), Group+1)
	}
	on(t, b, ID(100+CheckBox), asToggle, func(f *comInterface) {
		expect(fmt.Sprint("press ", 100+CheckBox), call(f, 3))
		if on := answered[int32](t, f, 4); on != 0 {
			t.Errorf("a check box is %d", on)
		}
	})
	on(t, b, ID(100+Radio), asSelectionItem, func(f *comInterface) { expect(fmt.Sprint("press ", 100+Radio), call(f, 3)) })
	on(t, b, 50, asSelectionItem, func(f *comInterface) {
		expect("", call(f, 3))
		in := answered[*comInterface](t, f, 7)
		if got := b.idOf(in); answered[int32](t, f, 6) != 1 || got != ID(100+TabList) {
			t.Errorf("the tab is in %d", got)
		}
	})
	on(t, b, ID(100+TabList), asSelection, func(f *comInterface) {
		all := answered[uintptr](t, f, 3)
		var first *comInterface
		safeArrayGetElement.Call(all, into(new(int32)), into(&first))
		if got := b.idOf(first); got != 50 {
			t.Errorf("%d is selected", got)
		}
		safeArrayDestroy.Call(all)
	})
	on(t, b, ID(100+ComboBox), asExpand, func(f *comInterface) {
		expect("", call(f, 4)) // it is collapsed
		expect(fmt.Sprint("press ", 100+ComboBox), call(f, 3))
	})
	on(t, b, ID(100+Entry), asValue, func(f *comInterface) {
		expect(fmt.Sprint("set ", 100+Entry, " é"), call(f, 3, uintptr(unsafe.Pointer(must.Get(windows.UTF16PtrFromString("é"))(t)))))
		if answered[int32](t, f, 5) != 0 {
			t.Error("a field is read-only")
		}
	})
	on(t, b, ID(100+Entry), asFragment, func(f *comInterface) { expect(fmt.Sprint("focus ", 100+Entry), call(f, methodSetFocus)) })
	b.setTree(Tree{})
	if held() != 0 {
		t.Errorf("%d objects are left", held())
	}
}

type kindWanted struct {
	control  int
	patterns []uintptr
}

func (want kindWanted) check(t *testing.T, f *comInterface, of ID) {
	t.Helper()
	if got := f.property(t, propertyControlType); got != want.control {
		t.Errorf("%d is of type %v, want %d", of, got, want.control)
	}
	for pattern := range patterns {
		p := answered[*comInterface](t, f, 4, pattern)
		if (p != nil) != slices.Contains(want.patterns, pattern) {
			t.Errorf("pattern %d of %d: %v", pattern, of, p != nil)
		}
		if p != nil {
			p.release()
		}
	}
}

// TestChanges checks that news is announced once when a card appears and each time it changes,
// and that besides news only other changes and the focus are reported.
func TestChanges(t *testing.T) {
	var v *view
	step := func(what string, want string, cards ...*Node) {
		t.Helper()
		old := v
		if old == nil {
			old = viewOf(Tree{}, nil)
		}
		v = viewOf(Tree{Windows: cards}, old.news)
		var got []string
		for _, c := range changes(old, v) {
			got = append(got, fmt.Sprint(c.event, " of ", c.of.ID))
		}
		if s := strings.Join(got, ", "); s != want {
			t.Errorf("%s: told %q, want %q", what, s, want)
		}
	}
	step("a card comes", "20023 of 2", testCard(2, "Inkomend", false))
	step("nothing", "", testCard(2, "Inkomend", false))
	step("it gets the keyboard", "20005 of 4", testCard(2, "Inkomend", true))
	step("the contact comes", "0 of 1, 30005 of 1, 20023 of 7", testCard(7, "Inkomend: A. Bakker", true))
	other := testCard(7, "Inkomend: A. Bakker", false)
	other.Children[2].Disabled, other.Children[3].Value = false, "viss"
	step("a key", "30010 of 6, 30045 of 8", other)
	folded := &Node{ID: 1, Role: Card, Name: "Inkomend: A. Bakker"}
	step("it folds", "0 of 1", folded)
	step("it unfolds", "0 of 1", other)
	step("it goes", "")

	step("a window comes", "20005 of 1", testWindow(0)) // its News is part of what it opens with
	w := testWindow(0)
	for _, n := range w.Children {
		switch n.Role {
		case CheckBox, Radio:
			n.State |= Checked
		case ComboBox:
			n.State, n.Value = Expanded, "is"
		case Entry:
			n.State, n.Help, n.Focused = Invalid, "wrong", true
		case News:
			n.ID, n.Name = 60, "not saved"
		case TabList:
			n.Children[0].State, n.Children[1].State = 0, Selected
		}
	}
	step("all changes", fmt.Sprintf("0 of 1, 30013 of %d, 30103 of %[1]d, 30086 of %d, 30079 of %d, 20012 of %[3]d, 30045 of %d, 30070 of %[4]d, "+
		"30079 of 50, 30079 of 51, 20012 of 51, 20005 of %[1]d, 20024 of 60", 100+Entry, 100+CheckBox, 100+Radio, 100+ComboBox), w)
}
