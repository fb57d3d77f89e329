package explore

import (
	"reflect"
	"strings"

	"fyne.io/fyne/v2"

	"wiebelt/internal/native/screenreader"
)

// menuItem describes a line of one of Fyne's menus, false for anything else. Fyne does not
// export the type, nor which line of the menu has the focus.
func menuItem(o fyne.CanvasObject) (Description, bool) {
	v := reflect.ValueOf(o)
	if v.Kind() != reflect.Pointer || v.Type().String() != "*widget.menuItem" {
		return Description{}, false
	}
	v = v.Elem()
	at, ok := v.Type().FieldByNameFunc(func(name string) bool { return strings.EqualFold(name, "item") })
	if !ok {
		return Description{}, false
	}
	item, ok := v.FieldByIndex(at.Index).Interface().(*fyne.MenuItem)
	if !ok {
		return Description{}, false
	}
	s := Description{Role: screenreader.MenuItem, State: screenreader.Focusable, Name: item.Label, Disabled: item.Disabled, Leaf: true}
	if menu := v.FieldByName("parent"); menu.IsValid() && !menu.IsNil() {
		on := menu.Elem().FieldByName("activeItem")
		s.Focused = on.IsValid() && on.Pointer() == v.Addr().Pointer()
	}
	return s, true
}
