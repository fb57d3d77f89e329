package screenreader

import (
	"reflect"
	"slices"

	"github.com/godbus/dbus/v5"
)

type table = map[string]any

// method creates a bus method from a function of the object and the arguments.
func (b *Bridge) method(f any) any {
	says := reflect.ValueOf(f)
	in, out := slices.Collect(says.Type().Ins()), slices.Collect(says.Type().Outs())
	in[0] = reflect.TypeFor[dbus.Message]()
	kind := reflect.FuncOf(in, append(out[:len(out):len(out)], reflect.TypeFor[*dbus.Error]()), false)
	return reflect.MakeFunc(kind, func(args []reflect.Value) (answers []reflect.Value) {
		o, err := b.resolve(args[0].Interface().(dbus.Message))
		if err == nil {
			args[0] = reflect.ValueOf(o)
			answers = says.Call(args)
		} else {
			for _, t := range out {
				answers = append(answers, reflect.Zero(t))
			}
		}
		return append(answers, reflect.ValueOf(err))
	}).Interface()
}

// layerOfWindows is AT-SPI's layer for windows above other programs.
const layerOfWindows = uint32(7)

// methods returns the methods that readers may call, by interface.
func (b *Bridge) methods() map[string]table {
	empty := func(object, int32) string { return "" }
	roleName := func(o object) string { _, name := o.role(); return name }
	all := map[string]table{
		iface + "Accessible": {
			"GetChildAtIndex": object.child, "GetChildren": object.children,
			"GetIndexInParent": func(o object) int32 { return int32(o.index) },
			"GetRole":          func(o object) uint32 { n, _ := o.role(); return n }, "GetRoleName": roleName, "GetLocalizedRoleName": roleName,
			"GetState":       func(o object) []uint32 { s := o.state(); return []uint32{uint32(s), uint32(s >> 32)} },
			"GetAttributes":  object.attributes,
			"GetApplication": func(object) reference { return b.ref(root) },
			"GetInterfaces":  object.interfaces,
			"GetRelationSet": func(object) []relation { return nil },
		},
		iface + "Application": {"GetLocale": func(object, uint32) string { return "" }},
		iface + "Action": {
			"GetActions": object.actions, "DoAction": object.press,
			"GetName":          func(object, int32) string { return "click" },
			"GetLocalizedName": empty, "GetDescription": empty, "GetKeyBinding": empty,
		},
		iface + "Component": {
			"GetExtents": func(o object, from uint32) rectangle {
				x, y, w, h := o.extents(from)
				return rectangle{x, y, w, h}
			},
			"Contains":             func(o object, x, y int32, from uint32) bool { return o.objectAt(x, y, from) != nullReference },
			"GetAccessibleAtPoint": object.objectAt,
			"GetLayer":             func(object) uint32 { return layerOfWindows },
			"GetMDIZOrder":         func(object) int16 { return 0 },
			"GetAlpha":             func(object) float64 { return 1 },
			"GrabFocus":            func(object) bool { return false }, // only the user moves focus
		},
		iface + "Selection": {
			"GetSelectedChild": func(o object, i int32) reference {
				if all := o.selectedChildren(); i >= 0 && int(i) < len(all) {
					return all[i]
				}
				return nullReference
			},
			"IsChildSelected": func(o object, i int32) bool {
				return i >= 0 && int(i) < len(o.Children) && o.Children[i].Is(Selected)
			},
		},
		iface + "Text": textMethods(),
	}
	for _, t := range all {
		for name, f := range t {
			t[name] = b.method(f)
		}
	}
	all["org.freedesktop.DBus.Properties"] = table{
		"GetAll": b.method(object.properties),
		"Get": func(m dbus.Message, of, name string) (dbus.Variant, *dbus.Error) {
			o, err := b.resolve(m)
			if err != nil {
				return dbus.Variant{}, err
			}
			v, ok := o.properties(of)[name]
			if !ok {
				err = dbus.NewError("org.freedesktop.DBus.Error.UnknownProperty", nil)
			}
			return v, err
		},
		"Set": func(string, string, dbus.Variant) *dbus.Error { return nil }, // the registry numbers its programs
	}
	return all
}
