package screenreader

import (
	"image"
	"strconv"
	"strings"

	"github.com/godbus/dbus/v5"
)

type reference struct {
	Name string
	Path dbus.ObjectPath
}

// relation, action and rectangle have the bus's wire format.
type (
	relation struct {
		Kind uint32
		To   []reference
	}
	action    struct{ Name, About, Key string }
	rectangle struct{ X, Y, W, H int32 }
)

var nullReference = reference{"", folder + "null"}

func (id ID) path() dbus.ObjectPath {
	return objects + "/" + dbus.ObjectPath(strconv.Itoa(int(id)))
}

// Roles and states as numbered by AT-SPI.
var roles = [...]struct {
	number uint32
	name   string
}{
	Button: {43, "push button"}, Entry: {79, "entry"}, Label: {29, "label"}, News: {101, "notification"},
	List: {31, "list"}, Item: {32, "list item"}, Card: {2, "alert"}, Window: {23, "frame"}, Dialog: {16, "dialog"},
	Heading: {83, "heading"}, CheckBox: {7, "check box"}, Radio: {44, "radio button"}, ComboBox: {11, "combo box"},
	TabList: {38, "page tab list"}, Tab: {37, "page tab"}, Menu: {33, "menu"}, MenuItem: {35, "menu item"},
	Group: {39, "panel"}, application: {75, "application"},
}

// application is the role of the program itself.
const application = Group + 1

const rolePassword = uint32(40)

const (
	active     = uint64(1 << 1)
	checked    = uint64(1 << 4)
	collapsed  = uint64(1 << 5)
	editable   = uint64(1 << 7)
	enabled    = uint64(1<<8 | 1<<24) // and sensitive
	expandable = uint64(1 << 9)
	expanded   = uint64(1 << 10)
	focusable  = uint64(1 << 11)
	focused    = uint64(1 << 12)
	modal      = uint64(1 << 16)
	multiLine  = uint64(1 << 17)
	selected   = uint64(1<<23 | 1<<22) // and selectable; objects never selected have neither
	showing    = uint64(1 << 25)
	singleLine = uint64(1 << 26)
	visible    = uint64(1 << 30)
	invalid    = uint64(1 << 36)
	checkable  = uint64(1 << 41)
)

// object is the target of one call: something on screen, or the program itself.
type object struct {
	b         *Bridge
	v         *view
	*treeNode // nil for the program
}

// resolve returns the object that a call is for, in the current view.
func (b *Bridge) resolve(m dbus.Message) (object, *dbus.Error) {
	o := object{b: b, v: b.now.Load()}
	path, _ := m.Headers[dbus.FieldPath].Value().(dbus.ObjectPath)
	if path == root {
		o.treeNode = &treeNode{Node: &Node{Role: application, Name: "Wiebelt", Children: o.v.Windows}, index: -1}
		return o, nil
	}
	id, err := strconv.ParseUint(strings.TrimPrefix(string(path), string(objects)+"/"), 10, 32)
	if o.treeNode = o.v.find(ID(id)); err != nil || o.treeNode == nil {
		return o, dbus.NewError("org.freedesktop.DBus.Error.UnknownObject", []any{"it is not on screen"})
	}
	return o, nil
}

func (b *Bridge) ref(p dbus.ObjectPath) reference { return reference{b.conn.Names()[0], p} }

func (o object) children() []reference {
	refs := make([]reference, len(o.Children))
	for i, n := range o.Children {
		refs[i] = o.b.ref(n.ID.path())
	}
	return refs
}

func (o object) child(i int32) reference {
	if all := o.children(); i >= 0 && int(i) < len(all) {
		return all[i]
	}
	return nullReference
}

func (o object) parent() reference {
	switch {
	case o.Role == application:
		return *o.b.desktop.Load()
	case o.treeNode.parent == nil:
		return o.b.ref(root)
	}
	return o.b.ref(o.treeNode.parent.ID.path())
}

func (o object) role() (uint32, string) {
	if o.Role == Entry && o.Is(Password) {
		return rolePassword, "password text"
	}
	return roles[o.Role].number, roles[o.Role].name
}

var roleStates = map[Role]uint64{Dialog: modal, CheckBox: checkable, Radio: checkable, Entry: editable}

func (o object) state() uint64 {
	s := visible | roleStates[o.Role]
	for _, has := range []struct {
		it  bool
		bit uint64
	}{
		{!o.Disabled, enabled}, {!o.Is(OffScreen), showing}, {o.focusable(), focusable},
		{o.Focused && o.treeNode.parent == nil, active}, {o.Focused && o.treeNode.parent != nil, focused},
		{o.Is(Checked), checked}, {o.Is(Selected), selected}, {o.Is(Invalid), invalid},
		{o.Is(Expandable), expandable}, {o.Is(Expanded), expanded}, {o.Is(Expandable) && !o.Is(Expanded), collapsed},
		{o.Role == Entry && o.Is(Multiline), multiLine}, {o.Role == Entry && !o.Is(Multiline), singleLine},
	} {
		if has.it {
			s |= has.bit
		}
	}
	return s
}

func (o object) attributes() map[string]string {
	all := map[string]string{}
	if o.Position[0] > 0 {
		all["posinset"], all["setsize"] = strconv.Itoa(o.Position[0]), strconv.Itoa(o.Position[1])
	}
	if o.Level > 0 {
		all["level"] = strconv.Itoa(o.Level)
	}
	return all
}

func (o object) interfaces() []string {
	names := []string{iface + "Accessible"}
	if o.Role == application {
		return append(names, iface+"Application")
	}
	names = append(names, iface+"Component")
	if o.CanPress() {
		names = append(names, iface+"Action")
	}
	if o.Role == Entry {
		names = append(names, iface+"Text")
	}
	if o.hasSelection() {
		names = append(names, iface+"Selection")
	}
	return names
}

func (o object) selectedChildren() (all []reference) {
	for _, n := range o.Children {
		if n.Is(Selected) {
			all = append(all, o.b.ref(n.ID.path()))
		}
	}
	return all
}

// actions returns an object's actions, of which there is at most one: the click.
func (o object) actions() []action {
	if !o.CanPress() {
		return nil
	}
	return []action{{Name: "click"}}
}

func (o object) press(i int32) bool {
	if int(i) < 0 || int(i) >= len(o.actions()) {
		return false
	}
	o.v.Press(o.ID)
	return true
}

// Origins of the coordinates that readers pass or request.
const (
	fromWindow = 1
	fromParent = 2
)

func (o object) bounds(from uint32) image.Rectangle {
	switch {
	case from == fromWindow:
		return o.Bounds.Sub(o.top().Bounds.Min)
	case from == fromParent && o.treeNode.parent != nil:
		return o.Bounds.Sub(o.treeNode.parent.Bounds.Min)
	}
	return o.Bounds
}

func (o object) objectAt(x, y int32, from uint32) reference {
	at := image.Pt(int(x), int(y))
	if !at.In(o.bounds(from)) {
		return nullReference
	}
	at = at.Sub(o.bounds(from).Min).Add(o.Bounds.Min)
	return o.b.ref(o.treeNode.nodeAt(at).ID.path())
}

// description returns additional information, which includes the position in a list:
// readers omit it, or say it only on request.
func (o object) description() string {
	if o.Position[0] == 0 || o.v.PositionText == nil {
		return o.Help
	}
	return JoinSentences(o.Help, o.v.PositionText(o.Position[0], o.Position[1]))
}

func (o object) properties(name string) map[string]dbus.Variant {
	all := map[string]any{}
	switch strings.TrimPrefix(name, iface) {
	case "Accessible":
		all = map[string]any{"Name": o.Name, "Description": o.description(), "Parent": o.parent(), "ChildCount": int32(len(o.children())),
			"Locale": "", "AccessibleId": "", "HelpText": ""}
	case "Application":
		all = map[string]any{"ToolkitName": "Wiebelt", "Version": "1", "ToolkitVersion": "1", "AtspiVersion": "2.1", "Id": int32(0)}
	case "Text":
		all = map[string]any{"CharacterCount": int32(len(o.runes())), "CaretOffset": int32(o.Caret)}
	case "Selection":
		all = map[string]any{"NSelectedChildren": int32(len(o.selectedChildren()))}
	case "Action":
		all = map[string]any{"NActions": int32(len(o.actions()))}
	}
	out := map[string]dbus.Variant{}
	for k, v := range all {
		out[k] = dbus.MakeVariant(v)
	}
	return out
}
