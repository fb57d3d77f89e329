package calls

import (
	"slices"
	"testing"

	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/store/callactions"
	"wiebelt/internal/store/history"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/uitest"
)

// TestViews: each view requests its calls, and has a text for when there
// are none. In a ring group, colleagues' calls appear only under all calls.
func TestViews(t *testing.T) {
	b := newHarness(t, uitest.Greeting(text.Dutch))
	b.Show(windowapi.WindowCalls)
	b.read([]history.Entry{customer()}, nil)
	if got := b.calls.viewList(); !slices.Equal(got, []history.View{history.ViewAll, history.ViewMissed, history.ViewElsewhere, history.ViewUnsure}) {
		t.Errorf("views %v", got)
	}
	for i, page := range []string{pageMissed, pageOthers, pageUnsure} {
		view := b.calls.viewAt(i + 1)
		b.calls.show(view)
		if w := b.wanted(); w.query.View != view {
			t.Errorf("view %d asks for %d", view, w.query.View)
		}
		b.read(nil, nil)
		if b.calls.page != page || !b.calls.tools.Visible() {
			t.Errorf("view %d without calls: page %q", view, b.calls.page)
		}
	}
	b.state(callactions.State{Group: true})
	if got := b.calls.viewList(); !slices.Equal(got, []history.View{history.ViewMine, history.ViewMissed, history.ViewAll}) {
		t.Errorf("in a group: %v", got)
	}
	if !slices.Contains(b.calls.viewList(), b.calls.query.View) {
		t.Errorf("in a group it stays on view %d, which is not offered", b.calls.query.View)
	}
	b.calls.show(history.ViewMissed)
	b.calls.filter.SetText("vries")
	b.Tell(t, windowapi.KindWelcome, uitest.Greeting(text.English))
	if w := b.wanted(); w.query != (history.Query{View: history.ViewMissed, Filter: "vries"}) || b.calls.filter.Text != "vries" {
		t.Errorf("in another language it asks for %+v, and the field has %q", w.query, b.calls.filter.Text)
	}
}
