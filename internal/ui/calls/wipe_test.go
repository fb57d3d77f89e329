package calls

import (
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/store/history"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/uitest"
)

// TestWipe: everything is deleted only after confirmation;
// what was removed before can then no longer be restored.
func TestWipe(t *testing.T) {
	for _, l := range []text.Language{text.Dutch, text.English} {
		b := newHarness(t, uitest.Greeting(l))
		b.Show(windowapi.WindowCalls)
		b.read([]history.Entry{customer()}, nil)
		gone, _ := b.calls.row(0)
		b.calls.remove(gone)
		top := func() fyne.CanvasObject { return b.calls.win.Canvas().Overlays().Top() }
		asked := func() fyne.CanvasObject {
			t.Helper()
			b.calls.askWipe()
			if top() == nil {
				t.Fatal("nobody is asked")
			}
			return top()
		}
		b.did()
		p := asked()
		uitest.Uncut(t, string(l), b.calls.win)
		uitest.PressIn(t, p, l.T(text.WindowFyneCancel))
		b.wantDid(t, "cancelled, it")
		if top() != nil || len(b.calls.undos) != 1 {
			t.Errorf("cancelled, %d can come back", len(b.calls.undos))
		}
		asked()
		b.calls.win.Canvas().Focused().TypedKey(&fyne.KeyEvent{Name: fyne.KeyEscape})
		b.wantDid(t, "Escape")
		if top() != nil || b.calls.asking != nil {
			t.Error("after Escape it still asks")
		}
		p = asked()
		uitest.PressIn(t, p, l.T(text.CallsWipeYes))
		b.wantDid(t, "the button", "wipe")
		if top() != nil || len(b.calls.undos) != 0 {
			t.Errorf("%d can come back", len(b.calls.undos))
		}
		// The menu offers it with and without calls.
		for _, all := range [][]history.Entry{{customer()}, nil} {
			b.read(all, nil)
			uitest.PressIn(t, b.calls.title, l.T(text.CallsMenu))
			if top() == nil {
				t.Fatalf("no way to it with %d calls", len(all))
			}
			for _, m := range uitest.All[*widget.Menu](top()) {
				if m.Position().X+m.Size().Width > b.calls.win.Canvas().Size().Width {
					t.Errorf("its menu stands at %v", m.Position())
				}
			}
			b.calls.win.Canvas().Overlays().Remove(top())
		}
	}
}
