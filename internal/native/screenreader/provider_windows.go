package screenreader

import (
	"image"
	"math"
	"os"
	"slices"
	"strconv"
	"unsafe"

	"golang.org/x/sys/windows"
)

type kind struct {
	control  int   // control type (UIA_ButtonControlTypeId and so on)
	patterns []int // supported patterns, as interfaces
}

var kinds = map[Role]kind{
	Button:   {50000, []int{asInvoke}},
	Entry:    {50004, []int{asInvoke, asValue}},
	Label:    {control: 50020},
	News:     {control: 50020},
	List:     {control: 50008},
	Item:     {control: 50007},
	Card:     {50032, []int{asWindow}},
	Window:   {control: 50032}, // the system can close it
	Dialog:   {50032, []int{asWindow}},
	Heading:  {control: 50020},
	CheckBox: {50002, []int{asToggle}},
	Radio:    {50013, []int{asSelectionItem}},
	ComboBox: {50003, []int{asExpand, asValue}},
	TabList:  {control: 50018},
	Tab:      {50019, []int{asSelectionItem}},
	Menu:     {control: 50009},
	MenuItem: {50011, []int{asInvoke}},
	Group:    {control: 50026},
}

// patterns are the interfaces by their client-side IDs.
var patterns = map[uintptr]int{patternInvoke: asInvoke, patternSelection: asSelection, patternValue: asValue, patternExpandCollapse: asExpand,
	patternWindow: asWindow, patternSelectionItem: asSelectionItem, patternToggle: asToggle}

func (p *treeNode) supports(i int) bool {
	switch {
	case slices.Contains(kinds[p.Role].patterns, i):
		return true
	case i == asInvoke:
		return p.Is(Pressable)
	case i == asExpand:
		return p.Is(Expandable)
	case i == asSelection:
		return p.hasSelection()
	case i == asSelectionItem:
		return p.Role == Item && p.parent != nil && p.parent.supports(asSelection)
	}
	return false
}

// isSelectedOne reports whether p is the selected one of several.
func (p *treeNode) isSelectedOne() bool { return p.Is(Selected) || p.Role == Radio && p.Is(Checked) }

// target is the node on which a method is called, in the current view.
type target struct {
	o *object
	v *view
	*treeNode
}

// target returns the target of a method, or false if it is no longer on screen.
func (f *comInterface) target() (target, bool) {
	t := target{o: f.heldObject()}
	if t.o == nil {
		return t, false
	}
	t.v = t.o.b.now.Load()
	t.treeNode = t.v.find(t.o.id)
	return t, t.treeNode != nil
}

// host returns the system's own provider of the window, for the window's node only.
func (t target) host() (host uintptr) {
	if t.parent == nil {
		hostProviderFromHwnd.Call(windowOf(t.ID), uintptr(unsafe.Pointer(&host)))
	}
	return host
}

// runtimeID returns an ID that is unique within a
// window; the window itself has the system's ID.
func (t target) runtimeID() uintptr {
	if t.parent == nil {
		return 0
	}
	return numberArray(appendRuntimeID, int32(t.ID))
}

func (t target) rectangle() [4]float64 {
	b := t.Bounds
	return [4]float64{float64(b.Min.X), float64(b.Min.Y), float64(b.Dx()), float64(b.Dy())}
}

func (t target) focus() *comInterface {
	p := t.v.focused()
	if p == nil || p.parent == nil || p.top().ID != t.ID {
		return nil
	}
	return t.o.b.provide(p, asFragment)
}

func (t target) press() uintptr {
	if !t.CanPress() {
		return eNotEnabled
	}
	t.v.Press(t.ID)
	return sOK
}

// pressUnless presses the node unless it is already in the wanted state.
func (t target) pressUnless(already bool) uintptr {
	if already {
		return sOK
	}
	return t.press()
}

// takeKeyboard is called when the window is already in front, where the client has brought it.
func (t target) takeKeyboard() uintptr {
	if t.v.Focus == nil || !t.focusable() {
		return eInvalidOperation // only the user moves the focus
	}
	t.v.Focus(t.ID)
	return sOK
}

func (t target) selection() uintptr {
	var all []*comInterface
	for i, n := range t.Children {
		if n.Is(Selected) {
			if f := t.o.b.provide(&treeNode{n, t.treeNode, i}, asSimple); f != nil {
				all = append(all, f)
			}
		}
	}
	return providerArray(all)
}

// selectedIn returns the container in which the node is selected.
func (t target) selectedIn() *comInterface {
	if t.parent == nil || !t.parent.supports(asSelection) {
		return nil
	}
	return t.o.b.provide(t.parent, asSimple)
}

func setValue(this *comInterface, value *uint16) uintptr {
	t, there := this.target()
	switch {
	case !there:
		return eNotAvailable
	case t.v.Set == nil || t.Role != Entry:
		return eInvalidOperation // text comes from the keyboard
	case t.Disabled:
		return eNotEnabled
	}
	t.v.Set(t.ID, windows.UTF16PtrToString(value))
	return sOK
}

func (t target) providerAt(at image.Point) *comInterface {
	if !at.In(t.Bounds) {
		return nil
	}
	return t.o.b.provide(t.treeNode.nodeAt(at), asFragment)
}

// neighbour returns the neighbour in a direction, or nil if there is none.
func (t target) neighbour(direction uintptr) *treeNode {
	in, i := t.parent, t.index
	switch direction {
	case toParent:
		return in
	case toFirst:
		in, i = t.treeNode, 0
	case toLast:
		in, i = t.treeNode, len(t.Children)-1
	case toNext:
		i++
	case toBefore:
		i--
	}
	if in == nil || i < 0 || i >= len(in.Children) {
		return nil
	}
	return &treeNode{in.Children[i], in, i}
}

func navigate(this *comInterface, direction uintptr, out **comInterface) uintptr {
	return writeValue(this, out, func(t target) *comInterface { return t.o.b.provide(t.neighbour(direction), asFragment) })
}

func patternProvider(this *comInterface, pattern uintptr, out **comInterface) uintptr {
	return writeValue(this, out, func(t target) *comInterface {
		if i, known := patterns[pattern&math.MaxUint32]; known && t.supports(i) {
			return this.as(i)
		}
		return nil
	})
}

func propertyValueOf(this *comInterface, property uintptr, out *variant) uintptr {
	return writeValue(this, out, func(t target) (v variant) {
		if f := properties[property&math.MaxUint32]; f != nil {
			v = variantOf(f(t))
		}
		return v
	})
}

// properties has the properties that clients may query of a node. The system knows the others,
// or nobody does. AutomationId stays the same as long as the object does.
var properties = map[uintptr]func(target) any{
	propertyProcessID:     func(target) any { return os.Getpid() },
	propertyControlType:   func(t target) any { return kinds[t.Role].control },
	propertyName:          func(t target) any { return t.Name },
	propertyHasFocus:      func(t target) any { p := t.v.focused(); return p != nil && p.ID == t.ID },
	propertyFocusable:     func(t target) any { return t.focusable() },
	propertyEnabled:       func(t target) any { return !t.Disabled },
	propertyAutomationID:  func(t target) any { return strconv.Itoa(int(t.ID)) },
	propertyHelpText:      func(t target) any { return t.Help },
	propertyPassword:      func(t target) any { return t.Is(Password) },
	propertyOffscreen:     func(t target) any { return valueIf(t.parent != nil, t.Is(OffScreen)) },
	propertyValue:         func(t target) any { return valueIf(t.supports(asValue), t.Value) },
	propertyExpanded:      func(t target) any { return valueIf(t.supports(asExpand), int(boolNumber(t.Is(Expanded)))) },
	propertySelected:      func(t target) any { return valueIf(t.supports(asSelectionItem), t.isSelectedOne()) },
	propertyToggled:       func(t target) any { return valueIf(t.supports(asToggle), int(boolNumber(t.Is(Checked)))) },
	propertyValid:         func(t target) any { return !t.Is(Invalid) },
	propertyLiveSetting:   func(t target) any { return valueIf(t.Role == News, assertive) },
	propertyPositionInSet: func(t target) any { return valueIf(t.Position[0] > 0, t.Position[0]) },
	propertySizeOfSet:     func(t target) any { return valueIf(t.Position[1] > 0, t.Position[1]) },
	propertyHeadingLevel:  func(t target) any { return valueIf(t.Level > 0, noHeading+t.Level) },
	propertyIsDialog:      func(t target) any { return t.Role == Card || t.Role == Dialog },
}

// valueIf returns v if some is true, and otherwise nil.
func valueIf[T any](some bool, v T) any {
	if some {
		return v
	}
	return nil
}

// fromPointEntry is the function that clients call to find what is at a position, and
// fromPoint the one that it calls (point_windows_amd64.s).
var fromPointEntry, fromPoint uintptr

// pointCallback returns ElementProviderFromPoint, whose two float64 arguments are in
// registers that Go's callbacks do not read.
func pointCallback() uintptr {
	if fromPointEntry == 0 { // we know the calling convention of only one processor
		return windows.NewCallback(func(*comInterface, *comInterface) uintptr { return eInvalidOperation })
	}
	fromPoint = windows.NewCallback(func(this *comInterface, x, y uintptr, out **comInterface) uintptr {
		return writeValue(this, out, func(t target) *comInterface {
			return t.providerAt(image.Pt(int(math.Float64frombits(uint64(x))), int(math.Float64frombits(uint64(y)))))
		})
	})
	return fromPointEntry
}
