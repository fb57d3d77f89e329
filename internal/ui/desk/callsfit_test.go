package desk

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/software"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"

	"wiebelt/internal/deskapi"
	"wiebelt/internal/history"
	"wiebelt/internal/text"
)

// uncut fails if a word of ours is cut or reaches over the window's border; names
// and numbers, which can be as long as they like, end in an ellipsis.
func uncut(t *testing.T, what string, w fyne.Window, data ...string) {
	t.Helper()
	c := w.Canvas()
	var walk func(o fyne.CanvasObject, at fyne.Position)
	walk = func(o fyne.CanvasObject, at fyne.Position) {
		if !o.Visible() {
			return
		}
		at = at.Add(o.Position())
		switch o := o.(type) {
		case *canvas.Text:
			if o.Text == "" {
				return
			}
			if need := o.MinSize().Width; at.X+need > c.Size().Width+1 && o.Alignment == fyne.TextAlignLeading {
				t.Errorf("%s: %q reaches to %v of %v", what, o.Text, at.X+need, c.Size().Width)
			}
			if strings.HasSuffix(o.Text, "…") && o.Text != text.Dutch.T(text.CallsLooking) && o.Text != text.English.T(text.CallsLooking) {
				cut := strings.TrimSuffix(o.Text, "…")
				for _, d := range data {
					if strings.Contains(d, strings.TrimSpace(cut)) || strings.HasPrefix(cut, d) {
						return
					}
				}
				t.Errorf("%s: %q is cut", what, o.Text)
			}
		case *widget.Button:
			if o.Size().Width+0.5 < o.MinSize().Width {
				t.Errorf("%s: the button %q is %v wide and needs %v", what, o.Text, o.Size().Width, o.MinSize().Width)
			}
		case *fyne.Container:
			for _, child := range o.Objects {
				walk(child, at)
			}
		case fyne.Widget:
			for _, child := range test.WidgetRenderer(o).Objects() {
				walk(child, at)
			}
		}
	}
	walk(c.Content(), fyne.NewPos(0, 0))
}

// scaled gives a window its size on a screen of a scale.
func scaled(w fyne.Window, size fyne.Size, scale float32) {
	if c, ok := w.Canvas().(software.WindowlessCanvas); ok {
		c.SetScale(scale)
	}
	w.Resize(size)
}

var scales = []float32{1, 1.25, 1.5, 1.75, 2}

// No word of the calls window is cut, in either language and at every scale, in
// the window as it opens and in the smallest that it can be made.
func TestCallsWindowFits(t *testing.T) {
	long := customer()
	long.Name, long.Line, long.Via = "Mw. A.E. van der Meulen-Oosterhuis tot Nederhorst den Berg", "Schade en verzuim buitendienst", "Receptie Nieuwegein"
	longDetail := "06 12 34 56 78 · "
	var all []history.Entry
	for i, result := range []string{history.ResultLive, history.ResultAnswered, history.ResultMissed, history.ResultElsewhere, history.ResultRejected, history.ResultNotHere, history.ResultUnknown} {
		for j, e := range []history.Entry{customer(), long} {
			e.ID, e.Result = int64(i*10+j+1), result
			e.Rang = noon.AddDate(0, -3*i, -i)
			if result != history.ResultAnswered {
				e.Answered, e.Ended = time.Time{}, time.Time{}
			}
			if i%2 == 0 && result == history.ResultMissed {
				e.Handled = noon
			}
			all = append(all, e)
		}
	}
	for _, l := range []text.Language{text.Dutch, text.English} {
		for _, scale := range scales {
			b := newCallsBench(t, greeting(l))
			b.read(all, nil)
			b.show(deskapi.WindowCalls)
			for _, state := range []deskapi.CallsState{
				{Manual: true, CallBack: true, Missed: 12},
				{Group: true, Manual: true, CallBack: true, Missed: 12, Fault: l.T(text.CallsFault("read_only"), "Jan Willem van der Meulen (IT), toestel 140")},
				{Manual: true, Notice: l.T(text.CallsNotice("damaged"))},
			} {
				for _, size := range []fyne.Size{fyne.NewSize(720, 640), fyne.NewSize(b.calls.win.Content().MinSize().Width, 480)} {
					raw, _ := json.Marshal(state)
					b.handle(deskapi.KindCallsState, raw)
					b.read(all, nil)
					scaled(b.calls.win, size, scale)
					for y := float32(0); y < b.calls.plan.y(len(all)); y += 300 {
						b.calls.list.scrollTo(y)
						uncut(t, string(l), b.calls.win, long.Name, longDetail, customer().Name)
						for _, v := range b.calls.list.views {
							for _, w := range []*words{v.time, v.day, v.res, v.more} {
								if v.Visible() && w.width() > w.Size().Width {
									t.Errorf("%s: %q needs %v of %v", l, w.text, w.width(), w.Size().Width)
								}
							}
						}
					}
				}
			}
		}
	}
}
