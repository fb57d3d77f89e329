package windowapp

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"fyne.io/fyne/v2"

	"wiebelt/internal/text"
	"wiebelt/internal/ui/uitest"
)

// TestEscapeCloses: Escape closes every window, as it opens and from
// each of our widgets that Tab reaches, at the latest the second time:
// first a list releases the focus, and a search field is cleared.
func TestEscapeCloses(t *testing.T) {
	const most = 12
	pressed := 0
	for _, name := range slices.Sorted(maps.Keys(openers(nil))) {
		open := func() (*uitest.Harness, fyne.Window) {
			b := allWindows(t, uitest.Greeting(text.Dutch, uitest.DemoCalls...))
			b.Show(name)
			return b, b.Page(name).Window()
		}
		_, first := open()
		seen := map[string]bool{} // kinds of widgets that Tab has reached in this window
		for n := range most {
			on := first.Canvas().Focused()
			first.Canvas().FocusNext()
			what := reflect.TypeOf(on)
			if seen[fmt.Sprint(what)] {
				continue
			}
			seen[fmt.Sprint(what)] = true
			if on != nil && !strings.Contains(what.Elem().PkgPath(), "wiebelt") {
				continue // Fyne's lists and selects keep Escape for themselves
			}
			pressed++
			b, w := open()
			for range n {
				w.Canvas().FocusNext()
			}
			for range 2 {
				if b.Page(name) == nil {
					break
				}
				e := &fyne.KeyEvent{Name: fyne.KeyEscape}
				if f := w.Canvas().Focused(); f != nil {
					f.TypedKey(e)
				} else {
					w.Canvas().OnTypedKey()(e)
				}
			}
			if b.Page(name) != nil {
				t.Errorf("%s: Escape does not close it from %v", name, what)
				w.Close()
			}
		}
		first.Close()
	}
	if pressed < 15 {
		t.Errorf("pressed in %d places only", pressed)
	}
}
