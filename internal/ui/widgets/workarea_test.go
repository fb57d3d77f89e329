package widgets

import (
	"fmt"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/test"

	"wiebelt/internal/instance/windowapi"
)

// TestPlaceInWorkArea: on every screen, with a task bar at any
// side and at every scale, a window opens within the work area,
// including its frame, and at its preferred size if possible.
func TestPlaceInWorkArea(t *testing.T) {
	for _, screen := range [][2]int{{1366, 768}, {1920, 1080}, {2560, 1440}} {
		for _, scale := range []float32{1, 1.25, 1.5, 1.75, 2, 2.5, 3} {
			bar := int(40*scale + 0.5)
			for _, r := range []windowapi.WorkArea{
				{Width: screen[0], Height: screen[1], Scale: scale},
				{Width: screen[0], Height: screen[1] - bar, Scale: scale},
				{Y: bar, Width: screen[0], Height: screen[1] - bar, Scale: scale},
				{X: bar, Width: screen[0] - bar, Height: screen[1], Scale: scale},
				{X: 1920, Y: 312, Width: screen[0] - bar, Height: screen[1], Scale: scale}, // the right one of two
			} {
				for _, want := range []fyne.Size{fyne.NewSize(720, 688), fyne.NewSize(560, 480), fyne.NewSize(300, 100)} {
					what := fmt.Sprintf("%v in %+v", want, r)
					at, size := Place(r, want)
					left, right := float32(at.X)-frameSide*scale, float32(at.X)+(size.Width+frameSide)*scale
					top, bottom := float32(at.Y)-frameTop*scale, float32(at.Y)+(size.Height+frameSide)*scale
					if left < float32(r.X)-1 || top < float32(r.Y)-1 || right > float32(r.X+r.Width)+1 || bottom > float32(r.Y+r.Height)+1 {
						t.Errorf("%s: at %v, %v large", what, at, size)
					}
					if fits := (want.Width+2*frameSide)*scale <= float32(r.Width); fits != (size.Width == want.Width) {
						t.Errorf("%s: %v wide", what, size.Width)
					}
				}
			}
		}
	}
}

// TestFittingScrolls: content that needs more than the
// available space scrolls, and never requests more.
func TestFittingScrolls(t *testing.T) {
	test.NewTempApp(t)
	tall := canvas.NewRectangle(nil)
	tall.SetMinSize(fyne.NewSize(300, 2000))
	r := windowapi.WorkArea{Width: 1000, Height: 700, Scale: 2}
	w := test.NewWindow(limitMinSize(tall, fyne.NewSize(400, 400), r))
	defer w.Close()
	if min := w.Content().MinSize(); min != fyne.NewSize(300, 350-frameTop-frameSide) {
		t.Errorf("it needs %v", min)
	}
	for opens, want := range map[fyne.Size]fyne.Size{
		fyne.NewSize(600, 500):  fyne.NewSize(450, 250), // if the content needs less
		fyne.NewSize(500, 2000): fyne.NewSize(375, 350-frameTop-frameSide),
	} {
		if min := limitMinSize(canvas.NewRectangle(nil), opens, r).MinSize(); min != want {
			t.Errorf("a window that opens with %v can be made %v", opens, min)
		}
	}
	if tall.Size().Height != 2000 {
		t.Errorf("%v of it can be reached", tall.Size())
	}
}
