package explore

import (
	"reflect"

	"fyne.io/fyne/v2"

	"wiebelt/internal/native/screenreader"
)

// menuItem describes a line of one of Fyne's menus, false for anything else. Fyne does not
// export the type, nor which line of the menu has the focus; a test notices if it renames them.
func menuItem(o fyne.CanvasObject) (Description, bool) {
	v := reflect.ValueOf(o)
	if v.Kind() != reflect.Pointer || v.Type().String() != "*widget.menuItem" {
		return Description{}, false
	}
	item := v.Elem().FieldByName("Item").Interface().(*fyne.MenuItem)
	active := v.Elem().FieldByName("parent").Elem().FieldByName("activeItem")
	return Description{Role: screenreader.MenuItem, State: screenreader.Focusable, Name: item.Label, Disabled: item.Disabled,
		Focused: active.Pointer() == v.Pointer(), Leaf: true}, true
}
