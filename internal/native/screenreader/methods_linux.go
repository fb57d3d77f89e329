package screenreader

import "github.com/godbus/dbus/v5"

type table = map[string]any

// answer, answer1, answer2 and answer3 make a method of what an object says to a
// question with as many arguments.
func answer[T any](b *Bridge, f func(object) T) any {
	return func(m dbus.Message) (t T, _ *dbus.Error) {
		o, err := b.asked(m)
		if err == nil {
			t = f(o)
		}
		return t, err
	}
}

func answer1[A, T any](b *Bridge, f func(object, A) T) any {
	return func(m dbus.Message, a A) (t T, _ *dbus.Error) {
		o, err := b.asked(m)
		if err == nil {
			t = f(o, a)
		}
		return t, err
	}
}

func answer2[A, B, T any](b *Bridge, f func(object, A, B) T) any {
	return func(m dbus.Message, x A, y B) (t T, _ *dbus.Error) {
		o, err := b.asked(m)
		if err == nil {
			t = f(o, x, y)
		}
		return t, err
	}
}

func answer3[A, B, C, T any](b *Bridge, f func(object, A, B, C) T) any {
	return func(m dbus.Message, x A, y B, z C) (t T, _ *dbus.Error) {
		o, err := b.asked(m)
		if err == nil {
			t = f(o, x, y, z)
		}
		return t, err
	}
}

// layerOfWindows is AT-SPI's word for what lies over other programs.
const layerOfWindows = uint32(7)

// methods are what readers may ask, by interface.
func (b *Bridge) methods() map[string]table {
	empty := func(object, int32) string { return "" }
	roleName := answer(b, func(o object) string { _, name := o.role(); return name })
	return map[string]table{
		iface + "Accessible": {
			"GetChildAtIndex": answer1(b, object.child), "GetChildren": answer(b, object.children),
			"GetIndexInParent": answer(b, func(o object) int32 {
				if o.place == nil {
					return -1
				}
				return int32(o.index)
			}),
			"GetRole": answer(b, func(o object) uint32 { n, _ := o.role(); return n }), "GetRoleName": roleName, "GetLocalizedRoleName": roleName,
			"GetState":       answer(b, func(o object) []uint32 { s := o.state(); return []uint32{uint32(s), uint32(s >> 32)} }),
			"GetAttributes":  answer(b, object.attributes),
			"GetApplication": answer(b, func(object) reference { return b.ref(root) }),
			"GetInterfaces":  answer(b, object.interfaces),
			"GetRelationSet": answer(b, func(object) []relation { return nil }),
		},
		iface + "Application": {"GetLocale": answer1(b, func(object, uint32) string { return "" })},
		iface + "Action": {
			"GetActions": answer(b, object.actions), "DoAction": answer1(b, object.press),
			"GetName":          answer1(b, func(object, int32) string { return "click" }),
			"GetLocalizedName": answer1(b, empty), "GetDescription": answer1(b, empty), "GetKeyBinding": answer1(b, empty),
		},
		iface + "Component": {
			"GetExtents": answer1(b, func(o object, from uint32) rectangle {
				r := o.bounds(from)
				return rectangle{int32(r.Min.X), int32(r.Min.Y), int32(r.Dx()), int32(r.Dy())}
			}),
			"Contains":             answer3(b, func(o object, x, y int32, from uint32) bool { return o.under(x, y, from) != nobody }),
			"GetAccessibleAtPoint": answer3(b, object.under),
			"GetLayer":             answer(b, func(object) uint32 { return layerOfWindows }),
			"GetMDIZOrder":         answer(b, func(object) int16 { return 0 }),
			"GetAlpha":             answer(b, func(object) float64 { return 1 }),
			"GrabFocus":            answer(b, func(object) bool { return false }), // it is the user's to give
		},
		iface + "Selection": {
			"GetSelectedChild": answer1(b, func(o object, i int32) reference {
				if all := o.chosen(); i >= 0 && int(i) < len(all) {
					return all[i]
				}
				return nobody
			}),
			"IsChildSelected": answer1(b, func(o object, i int32) bool {
				return o.place != nil && i >= 0 && int(i) < len(o.Children) && o.Children[i].Is(Selected)
			}),
		},
		iface + "Text": b.textMethods(),
		"org.freedesktop.DBus.Properties": {
			"GetAll": answer1(b, object.properties),
			"Get": func(m dbus.Message, of, name string) (dbus.Variant, *dbus.Error) {
				o, err := b.asked(m)
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
		},
	}
}
