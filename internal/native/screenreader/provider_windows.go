package screenreader

import (
	"image"
	"math"
	"os"
	"strconv"

	"golang.org/x/sys/windows"
)

// kind is how UI Automation sees a role.
type kind struct {
	control  int   // type of control
	patterns []int // what it can do, as interfaces
}

// kinds has the roles; those that are not in it say by what they do what they are.
var kinds = map[Role]kind{
	Button: {typeButton, []int{asInvoke}},
	Entry:  {typeEdit, []int{asInvoke, asValue}},
	Label:  {control: typeText},
	News:   {control: typeText},
	List:   {control: typeList},
	Item:   {control: typeListItem},
	Card:   {typeWindow, []int{asWindow}},
}

func kindOf(n *Node) kind {
	k, known := kinds[n.Role]
	switch {
	case known:
	case n.Acts():
		k = kind{typeCustom, []int{asInvoke}}
	case len(n.Children) > 0:
		k = kind{control: typeCustom}
	default:
		k = kind{control: typeText}
	}
	return k
}

// patterns are the interfaces by the numbers that clients have for them.
var patterns = map[uintptr]int{patternInvoke: asInvoke, patternValue: asValue, patternWindow: asWindow}

func interfacesOf(p *place) (has [interfaces]bool) {
	has[asSimple], has[asFragment], has[asRoot] = true, true, p.parent == nil
	for _, i := range kindOf(p.Node).patterns {
		has[i] = true
	}
	return has
}

// target is what a method is about, at this moment.
type target struct {
	o *object
	v *view
	*place
}

// target finds out; false if it is on screen no more.
func (f *face) target() (target, bool) {
	t := target{o: f.held()}
	if t.o == nil {
		return t, false
	}
	t.v = t.o.b.now.Load()
	t.place = t.v.find(t.o.id)
	return t, t.place != nil
}

// host is what the system itself knows of the window, for its node only.
func (t target) host() (host uintptr) {
	if t.parent == nil {
		host = hostOf(windowOf(t.ID))
	}
	return host
}

// runtimeID tells nodes of a window from each other; the window has the system's.
func (t target) runtimeID() uintptr {
	if t.parent == nil {
		return 0
	}
	return numbers(appendRuntimeID, int32(t.ID))
}

// rectangle is a UiaRect: left, top, width, height.
func (t target) rectangle() [4]float64 {
	b := t.Bounds
	return [4]float64{float64(b.Min.X), float64(b.Min.Y), float64(b.Dx()), float64(b.Dy())}
}

// focus is what has the keyboard in the window.
func (t target) focus() *face {
	p := t.v.focused()
	if p == nil || p.parent == nil || p.root().ID != t.ID {
		return nil
	}
	return t.o.b.provide(p, asFragment)
}

func (t target) press() uintptr {
	if !t.Acts() {
		return eNotEnabled
	}
	t.v.Press(t.ID)
	return ok
}

// under is the innermost that is at a place.
func (t target) under(at image.Point) *face {
	if !at.In(t.Bounds) {
		return nil
	}
	p := t.place
down:
	for {
		for i, c := range p.Children {
			if at.In(c.Bounds) {
				p = &place{c, p, i}
				continue down
			}
		}
		return t.o.b.provide(p, asFragment)
	}
}

// beside is what stands in a direction; nil for nothing.
func (t target) beside(direction uintptr) *place {
	in, i := t.parent, t.index
	switch direction {
	case toParent:
		return in
	case toFirst:
		in, i = t.place, 0
	case toLast:
		in, i = t.place, len(t.Children)-1
	case toNext:
		i++
	case toBefore:
		i--
	}
	if in == nil || i < 0 || i >= len(in.Children) {
		return nil
	}
	return &place{in.Children[i], in, i}
}

func navigate(this *face, direction uintptr, out **face) uintptr {
	if out == nil {
		return ePointer
	}
	*out = nil
	t, there := this.target()
	if !there {
		return eNotAvailable
	}
	*out = t.o.b.provide(t.beside(direction), asFragment)
	return ok
}

func patternProvider(this *face, pattern uintptr, out **face) uintptr {
	if out == nil {
		return ePointer
	}
	*out = nil
	if i, known := patterns[pattern&math.MaxUint32]; known {
		*out = this.as(i)
	}
	return ok
}

func propertyValueOf(this *face, property uintptr, out *variant) uintptr {
	if out == nil {
		return ePointer
	}
	*out = variant{}
	t, there := this.target()
	if !there {
		return eNotAvailable
	}
	if f := properties[property&math.MaxUint32]; f != nil {
		*out = f(t)
	}
	return ok
}

// properties are what clients may want to know of a node; the rest the system knows
// by itself, or nobody does. AutomationId stays the same as long as the thing is the
// same.
var properties = map[uintptr]func(target) variant{
	propertyProcessID:    func(target) variant { return number(os.Getpid()) },
	propertyControlType:  func(t target) variant { return number(kindOf(t.Node).control) },
	propertyName:         func(t target) variant { return text(t.Name) },
	propertyHasFocus:     func(t target) variant { return boolean(t.Focused) },
	propertyFocusable:    func(t target) variant { return boolean(t.Acts()) },
	propertyEnabled:      func(t target) variant { return boolean(!t.Off) },
	propertyAutomationID: func(t target) variant { return text(strconv.Itoa(int(t.ID))) },
	propertyHelpText: func(t target) variant {
		if t.Position[0] > 0 { // which is said already
			return variant{}
		}
		return text(t.About)
	},
	propertyLiveSetting: func(t target) variant {
		if t.Role != News {
			return variant{}
		}
		return number(assertive)
	},
	propertyPositionInSet: func(t target) variant { return position(t.Position[0]) },
	propertySizeOfSet:     func(t target) variant { return position(t.Position[1]) },
	propertyIsDialog:      func(t target) variant { return boolean(t.Role == Card) },
}

func position(n int) variant {
	if n == 0 {
		return variant{}
	}
	return number(n)
}

// fromPointEntry is where clients begin who ask what is at a place, and fromPoint is
// where they come from there (point_windows_amd64.s).
var fromPointEntry, fromPoint uintptr

// pointCallback is ElementProviderFromPoint. Its two float64 travel in registers that
// callbacks of Go do not look at.
func pointCallback() uintptr {
	if fromPointEntry == 0 { // how they travel is known for one processor only
		return windows.NewCallback(func(*face, *face) uintptr { return eNotThatWay })
	}
	fromPoint = windows.NewCallback(func(this *face, x, y uintptr, out **face) uintptr {
		if out == nil {
			return ePointer
		}
		*out = nil
		t, there := this.target()
		if !there {
			return eNotAvailable
		}
		*out = t.under(image.Pt(int(math.Float64frombits(uint64(x))), int(math.Float64frombits(uint64(y)))))
		return ok
	})
	return fromPointEntry
}
