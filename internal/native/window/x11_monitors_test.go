//go:build linux

package window

import (
	"fmt"
	"image"
	"image/color"
	"slices"
	"testing"

	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/xtest"
)

// TestTwoMonitors covers two monitors of different sizes, each with a panel at
// the bottom, at two scales: a card in the corner of each, above a full-screen
// window, and one whose monitor disappears.
func TestTwoMonitors(t *testing.T) {
	left, right := image.Rect(0, 0, 1024, 768), image.Rect(1024, 0, 1824, 600)
	for _, wm := range []string{"openbox", "xfwm4"} {
		for _, scale := range []int{1, 2} {
			t.Run(fmt.Sprint(wm, " scale ", scale), func(t *testing.T) {
				s := xtest.Start(t, wm, xtest.Options{Monitors: []image.Rectangle{left, right}, DPI: 96 * scale})
				s.Run("xsetroot", "-solid", "#101010")
				d := open(t, s)
				rec := newRecorder()
				w := newWindow(t, d, rec)

				// Reserved space counts from the edge of the whole screen.
				examplePanel(t, s, image.Rect(0, 738, 1024, 768), 30)
				examplePanel(t, s, image.Rect(1024, 580, 1824, 600), 768-600+20)
				want := []Monitor{
					{"DUMMY0", left, image.Rect(0, 0, 1024, 738), float32(scale)},
					{"DUMMY1", right, image.Rect(1024, 0, 1824, 580), float32(scale)},
				}
				var got []Monitor
				s.Until("the monitors are as they are", func() bool { got = d.Monitors(); return slices.Equal(got, want) },
					func() []any { return []any{got, want} })

				size := image.Pt(380*scale, 260*scale)
				corner := func(m Monitor) image.Rectangle {
					edge := int(16 * m.Scale)
					max := m.Work.Max.Sub(image.Pt(edge, edge))
					return image.Rectangle{Min: max.Sub(size), Max: max}
				}
				visible := func(r image.Rectangle, c color.RGBA) {
					t.Helper()
					must.Do(t, w.Sync())
					for _, p := range []image.Point{r.Min, r.Max.Sub(image.Pt(1, 1)), {r.Min.X, r.Max.Y - 1}, {r.Max.X - 1, r.Min.Y}} {
						if got := s.Pixel(p.X, p.Y); got != c {
							t.Errorf("%v has %v, want %v", p, got, c)
						}
					}
				}
				for i, m := range want {
					area := m.Area.Inset(60)
					term := s.Terminal(image.Rectangle{Min: area.Min, Max: area.Min.Add(image.Pt(400, 300))})
					s.Run("wmctrl", "-i", "-r", term.ID, "-e", fmt.Sprintf("0,%d,%d,400,300", area.Min.X, area.Min.Y))
					s.Until("the active monitor is that of the keyboard", func() bool { return d.Active() == i })
					place := corner(m)
					must.Do(t, w.Show(place, plain(size.X, size.Y, red)))
					visible(place, red)
					must.Do(t, w.Hide())
					if wm == "xfwm4" && i > 0 {
						// Its toolkit ignores monitors that the dummy driver calls
						// disconnected, and fills the first.
						term.Close()
						continue
					}

					full := func(of int) bool { return d.FullScreen(want[of].Area) }
					if full(0) || full(1) {
						t.Error("full screen without a reason")
					}
					s.Run("wmctrl", "-i", "-r", term.ID, "-b", "add,fullscreen")
					s.Until("the monitor is filled", func() bool { return full(i) }, func() []any {
						return []any{i, s.Run("xwininfo", "-id", term.ID), s.Run("xprop", "-id", term.ID, "_NET_WM_STATE"), s.Run("xprop", "-root", "_NET_CLIENT_LIST_STACKING")}
					})
					if full(1 - i) {
						t.Error("the other monitor is filled too")
					}
					must.Do(t, w.Show(place, plain(size.X, size.Y, green)))
					visible(place, green)
					must.Do(t, w.Hide())
					// A small window in front does not end full screen;
					// one that covers everything does.
					small := s.Terminal(image.Rectangle{Min: area.Min, Max: area.Min.Add(image.Pt(300, 200))})
					if !full(i) {
						t.Error("ended by a small window in front")
					}
					s.Run("wmctrl", "-i", "-r", small.ID, "-b", "add,maximized_vert,maximized_horz")
					s.Until("the monitor is covered", func() bool { return !full(i) })
					small.Close()
					term.Close()
					s.Until("the monitor is free", func() bool { return !full(i) })
				}

				// The monitor disappears while the card is on it.
				must.Do(t, w.Show(corner(want[1]), plain(size.X, size.Y, blue)))
				must.Do(t, w.Sync())
				for len(rec.lines) > 0 {
					<-rec.lines
				}
				s.Run("xrandr", "--output", "DUMMY1", "--off")
				rec.wait(t, "changed")
				s.Until("one monitor is left", func() bool { return len(d.Monitors()) == 1 })
				if i := d.Active(); i != 0 {
					t.Errorf("active is %d", i)
				}
				place := corner(d.Monitors()[0])
				must.Do(t, w.Show(place, plain(size.X, size.Y, blue)))
				visible(place, blue)
				// It comes back.
				s.Run("xrandr", "--output", "DUMMY1", "--mode", "800x600", "--pos", "1024x0")
				rec.wait(t, "changed")
				s.Until("two monitors again", func() bool { return slices.Equal(d.Monitors(), want) })
			})
		}
	}
}

// TestFullScreenAlone checks that a window that fills the screen is detected even if it is the
// only window there ever was, under both window managers.
func TestFullScreenAlone(t *testing.T) {
	underEach(t, func(t *testing.T, s *xtest.Server, d *x11) {
		full := func() bool { return d.FullScreen(d.Monitors()[0].Area) }
		film := s.Terminal(image.Rect(20, 20, 500, 300))
		if full() {
			t.Error("a small window fills the screen")
		}
		s.Run("wmctrl", "-i", "-r", film.ID, "-b", "add,fullscreen")
		s.Until("the film fills the screen", full)
		s.Run("wmctrl", "-i", "-r", film.ID, "-b", "remove,fullscreen")
		s.Until("it does no more", func() bool { return !full() })
	})
}
