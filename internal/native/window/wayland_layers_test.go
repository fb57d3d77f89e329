//go:build linux

package window

import (
	"errors"
	"image"
	"image/color"
	"os"
	"path/filepath"
	"testing"

	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/xtest"
)

// inCompositor starts a compositor without an X server and points this process at it.
func inCompositor(t *testing.T, name string) *xtest.Server {
	t.Helper()
	s := xtest.Start(t, "", xtest.Options{Width: 800, Height: 600})
	s.PlainBus()
	s.Compositor(name, false)
	t.Setenv("DISPLAY", "")
	s.Enter()
	return s
}

// TestLayers checks, in a real compositor without an X server, that a card appears where it is
// put, beside the panels, changes, receives pointer events, follows the scale, and disappears.
func TestLayers(t *testing.T) {
	s := inCompositor(t, "sway")
	d := must.Get(OpenCards())(t).(*layers)
	t.Cleanup(func() { d.Close(); <-d.Done() })
	if got := d.Monitors(); len(got) != 1 || got[0].Work != image.Rect(0, 0, 800, 600) || got[0].Scale != 1 || got[0].Name != "X11-1" || d.Kind() != Layers {
		t.Errorf("%v: %+v", d.Kind(), got)
	}
	desktop := color.RGBA{0x20, 0x40, 0x60, 255}
	rec := newRecorder()
	w := newWindow(t, d, rec)
	if err := w.Update(image.Point{}, plain(1, 1, red)); !errors.Is(err, errNotShown) {
		t.Errorf("update before it was shown: %v", err)
	}
	shows := func(what string, x, y int, want color.RGBA) {
		t.Helper()
		s.Until(what, func() bool { return s.Pixel(x, y) == want }, func() []any { return []any{s.Pixel(x, y)} })
	}
	must.Do(t, w.Show(image.Rect(500, 400, 780, 580), plain(280, 180, red)))
	shows("its first corner", 500, 400, red)
	shows("its last", 779, 579, red)
	shows("beside it", 499, 399, desktop)
	must.Do(t, w.Update(image.Pt(10, 20), plain(30, 40, green)))
	shows("what has changed", 510, 420, green)
	shows("its end", 539, 459, green)
	shows("beside that", 540, 460, red)

	s.Move(505, 405)
	s.Move(510, 410)
	rec.wait(t, "move (10,10)")
	s.Turn(1)
	rec.wait(t, "press (10,10) 1")
	rec.wait(t, "release (10,10) 1")
	s.Turn(5)
	rec.wait(t, "scroll (10,10) -1")
	s.Move(100, 100)
	rec.wait(t, "left")
	must.Do(t, w.Show(image.Rect(0, 0, 100, 50), plain(100, 50, blue)))
	shows("another place and size", 99, 49, blue)
	shows("where it was", 600, 500, desktop)

	// A panel: another program's surface that reserves room.
	panel := must.Get(d.NewCard(newRecorder()))(t).(*layerCard)
	must.Do(t, panel.Show(image.Rect(0, 0, 800, 30), plain(800, 30, green)))
	must.Do(t, panel.do(func() error {
		d.sendRequest(panel.layer, layerAnchor, top|left|right)
		const exclusiveZone = 2
		d.sendRequest(panel.layer, exclusiveZone, 30)
		d.sendRequest(panel.surface, surfaceCommit)
		return nil
	}))
	rec.wait(t, "changed")
	if got := d.Monitors()[0].Work; got != image.Rect(0, 0, 800, 570) {
		t.Errorf("beside a panel %v", got)
	}
	shows("below the panel", 0, 31, blue)
	must.Do(t, panel.Close())
	rec.wait(t, "changed")

	// A monitor that, as far as we are told, goes and comes back shows its card again.
	tell := func(code uint16, args ...any) {
		d.post(func() {
			d.handleRegistry(&waylandEvent{waylandRegistry, code, request(nil, 0, 0, args...)[waylandHead:]})
		})
	}
	var number uint32
	must.Do(t, w.(*layerCard).do(func() error {
		for number = range d.outputs {
		}
		return nil
	}))
	tell(registryGlobalRemove, number)
	shows("no card without its monitor", 99, 49, desktop)
	tell(registryGlobal, number, "wl_output", 4)
	rec.wait(t, "changed")
	shows("the card of a monitor that is back", 99, 49, blue)
	s.Move(300, 300)
	s.Move(50, 20)
	rec.wait(t, "move (50,20)")

	// At another scale a picture has more pixels in the same place.
	socket := must.Get(filepath.Glob(filepath.Join(os.Getenv("XDG_RUNTIME_DIR"), "sway-ipc.*.sock")))(t)
	s.Run("swaymsg", "--socket", socket[0], "output", "X11-1", "scale", "2")
	rec.wait(t, "changed")
	if got := d.Monitors()[0]; got.Scale != 2 || got.Work != image.Rect(0, 0, 800, 600) {
		t.Errorf("at 200 %% %+v", got)
	}
	must.Do(t, w.Show(image.Rect(100, 100, 201, 151), plain(101, 51, red)))
	shows("each pixel is one of the screen", 200, 150, red)
	shows("whole units", 201, 151, red)
	shows("and no more", 202, 152, desktop)
	s.Move(150, 120)
	rec.wait(t, "move (50,20)")

	must.Do(t, w.Hide())
	must.Do(t, w.Hide())
	shows("nothing", 150, 120, desktop)
	must.Do(t, w.Sync())
	if err := w.TakeKeyboard(); !errors.Is(err, ErrUnsupported) {
		t.Errorf("the keyboard: %v", err)
	}
	must.Do(t, w.Close())
	if err := w.Show(image.Rect(0, 0, 1, 1), plain(1, 1, red)); !errors.Is(err, ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}

// TestNoLayers checks that compositors without layers are reported as unsupported.
func TestNoLayers(t *testing.T) {
	inCompositor(t, "weston")
	if d, err := OpenCards(); !errors.Is(err, ErrWayland) || d != nil {
		t.Errorf("%v, %v", d, err)
	}
}
