package kit

import (
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/test"

	"wiebelt/internal/deskapi"
	"wiebelt/internal/text"
)

// On every screen, with a task bar below or beside and at every scale, a window
// with its frame is no larger than its room, and as large as it wants to be where
// it can.
func TestNoLargerThanItsRoom(t *testing.T) {
	for _, screen := range [][2]int{{1366, 768}, {1920, 1080}, {2560, 1440}} {
		for _, scale := range []float32{1, 1.25, 1.5, 1.75, 2, 2.5, 3} {
			bar := int(40*scale + 0.5)
			for _, r := range []deskapi.Room{
				{Width: screen[0], Height: screen[1], Scale: scale},
				{Width: screen[0], Height: screen[1] - bar, Scale: scale},
				{Width: screen[0] - bar, Height: screen[1], Scale: scale},
			} {
				app := test.NewTempApp(t)
				d := NewDesk(Params{App: app, Post: func(func()) {}}, deskapi.Welcome{Language: "nl", Room: r})
				for _, want := range []fyne.Size{fyne.NewSize(720, 688), fyne.NewSize(560, 480), fyne.NewSize(300, 100)} {
					w := d.Window(text.HelpTitle, canvas.NewRectangle(nil), want)
					size := w.Canvas().Size()
					wide, high := (size.Width+2*frameSide)*scale, (size.Height+frameTop+frameSide)*scale
					if wide > float32(r.Width)+1 || high > float32(r.Height)+1 {
						t.Errorf("%v in %+v: %v large", want, r, size)
					}
					if fits := (want.Width+2*frameSide)*scale <= float32(r.Width); fits != (size.Width == want.Width) {
						t.Errorf("%v in %+v: %v wide", want, r, size.Width)
					}
					w.Close()
				}
			}
		}
	}
}

// A content that needs more than the room scrolls, and never asks for more.
func TestFittingScrolls(t *testing.T) {
	test.NewTempApp(t)
	tall := canvas.NewRectangle(nil)
	tall.SetMinSize(fyne.NewSize(300, 2000))
	r := deskapi.Room{Width: 1000, Height: 700, Scale: 2}
	w := test.NewWindow(fitting(tall, r))
	defer w.Close()
	if min := w.Content().MinSize(); min != fyne.NewSize(300, 350-frameTop-frameSide) {
		t.Errorf("it needs %v", min)
	}
	if tall.Size().Height != 2000 {
		t.Errorf("%v of it can be reached", tall.Size())
	}
}
