//go:build linux

package window

import (
	"image"
	"image/color"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/jezek/xgb/xproto"

	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/xtest"
)

func TestClipboard(t *testing.T) {
	s := xtest.Start(t, "openbox", xtest.Options{})
	d := open(t, s)
	const name = "Zoë van der Straße — 12 €"
	must.Do(t, d.Copy("something older"))
	must.Do(t, d.Copy(name))
	paste := func(target string) string {
		t.Helper()
		return s.Run("xclip", "-o", "-selection", "clipboard", "-target", target)
	}
	for _, target := range []string{"UTF8_STRING", "text/plain;charset=utf-8", "text/plain"} {
		if got := paste(target); got != name {
			t.Errorf("%s: %q", target, got)
		}
	}
	// As STRING, whose bytes xclip writes unconverted.
	if got := paste("STRING"); got != "Zo\xeb van der Stra\xdfe ? 12 ?" && got != "Zoë van der Straße ? 12 ?" {
		t.Errorf("STRING: %q", got)
	}
	targets := strings.Fields(paste("TARGETS"))
	for _, want := range []string{"TARGETS", "TIMESTAMP", "UTF8_STRING", "STRING", "text/plain;charset=utf-8"} {
		if !slices.Contains(targets, want) {
			t.Errorf("TARGETS without %s: %q", want, targets)
		}
	}
	if got := strings.TrimSpace(paste("TIMESTAMP")); got == "" || got == "0" {
		t.Errorf("TIMESTAMP %q", got)
	}
	// Another program copies, then we do.
	other := s.Command("xclip", "-i", "-quiet", "-selection", "clipboard")
	other.Stdin = strings.NewReader("theirs")
	must.Do(t, other.Start())
	t.Cleanup(func() { other.Process.Kill(); other.Wait() })
	s.Until("the other program owns the clipboard", func() bool { return s.Run("xclip", "-o", "-selection", "clipboard") == "theirs" })
	// The desktop refuses a copy, since no window can own it.
	xproto.DestroyWindow(d.conn, d.clipboard.window)
	if err := d.Copy("refused"); err == nil {
		t.Error("copied for a window that is not there")
	}
	xproto.CreateWindow(d.conn, 0, d.clipboard.window, d.root, -1, -1, 1, 1, 0, xproto.WindowClassInputOnly, 0,
		xproto.CwEventMask, []uint32{xproto.EventMaskPropertyChange})
	if got, err := d.Paste(); got != "theirs" || err != nil {
		t.Errorf("pasted %q, %v", got, err)
	}
	must.Do(t, d.Copy("ours again"))
	if got := paste("UTF8_STRING"); got != "ours again" {
		t.Errorf("after copying again: %q", got)
	}
	if err := d.Copy(strings.Repeat("x", maxCopy+1)); err == nil {
		t.Error("a text too long was taken")
	}
}

// TestFrameGrows checks that an area that was exposed and not yet drawn shows the background.
func TestFrameGrows(t *testing.T) {
	s := xtest.Start(t, "", xtest.Options{})
	d := open(t, s)
	f := must.Get(d.NewFrame(&cardAsFrame{CardHandler: newRecorder()}, FrameOptions{Size: image.Pt(200, 200), Background: [3]uint8{255, 255, 255}}))(t)
	must.Do(t, f.Show(), f.Draw(image.Point{}, plain(200, 200, red)), f.Resize(image.Pt(250, 250)))
	exposed := make(chan bool, 1)
	d.post(func() { exposed <- true }) // runs after the server's report of the new size
	must.Receive(t, exposed, "the new size")
	must.Do(t, f.(*x11Frame).Sync())
	white := color.RGBA{255, 255, 255, 255}
	for p, want := range map[image.Point]color.RGBA{{199, 199}: red, {200, 100}: white, {100, 249}: white, {249, 249}: white} {
		if got := s.Pixel(p.X, p.Y); got != want {
			t.Errorf("%v is %v, want %v", p, got, want)
		}
	}
}

// sized is a frame's handler that records its sizes.
type sized struct {
	cardAsFrame
	sizes chan image.Point
}

func (s *sized) FrameResized(size image.Point) { s.sizes <- size }

// TestResizeRefused checks that a frame that fills its monitor, and asks for another size, is
// told the size that it keeps.
func TestResizeRefused(t *testing.T) {
	underEach(t, func(t *testing.T, s *xtest.Server, d *x11) {
		h := &sized{cardAsFrame{CardHandler: newRecorder()}, make(chan image.Point, 100)}
		f := must.Get(d.NewFrame(h, FrameOptions{Title: "frame", Size: image.Pt(200, 200)}))(t)
		must.Do(t, f.Show())
		s.Run("wmctrl", "-i", "-r", s.FindWindow("^frame$"), "-b", "add,maximized_vert,maximized_horz")
		full := must.Until(t, h.sizes, "a size that fills the monitor", func(size image.Point) bool { return size.X >= 1000 && size.Y >= 600 })
		must.Do(t, f.Resize(image.Pt(300, 250)))
		if got := must.Receive(t, h.sizes, "its size"); got != full {
			t.Errorf("told %v, want %v", got, full)
		}
	})
}

func TestScaleAndWorkArea(t *testing.T) {
	s := xtest.Start(t, "openbox", xtest.Options{DPI: 192})
	d := open(t, s)
	rec := newRecorder()
	newWindow(t, d, rec)
	m := d.Monitors()
	if len(m) != 1 || m[0].Scale != 2 || m[0].Area != image.Rect(0, 0, 1280, 800) || m[0].Work != m[0].Area || m[0].Name == "" {
		t.Fatalf("%+v", m)
	}
	merge := func(dpi string) {
		t.Helper()
		f := s.Dir + "/resources"
		must.Do(t, os.WriteFile(f, []byte("Xft.dpi: "+dpi+"\n"), 0o600))
		s.Run("xrdb", "-nocpp", "-load", f)
		rec.wait(t, "changed")
	}
	merge("144")
	if got := d.Monitors()[0].Scale; got != 1.5 {
		t.Errorf("after a change: %v", got)
	}
	// A panel of 30 pixels at the bottom.
	examplePanel(t, s, image.Rect(0, 770, 1280, 800), 30)
	rec.wait(t, "changed")
	s.Until("the work area ends at the panel", func() bool { return d.Monitors()[0].Work == image.Rect(0, 0, 1280, 770) })
}

// example is a window of another program.
type example struct {
	*x11
	id xproto.Window
}

func exampleWindow(t *testing.T, s *xtest.Server, r image.Rectangle) example {
	t.Helper()
	d := open(t, s)
	id := must.Get(xproto.NewWindowId(d.conn))(t)
	must.Do(t, xproto.CreateWindowChecked(d.conn, d.screen.RootDepth, id, d.root, int16(r.Min.X), int16(r.Min.Y),
		uint16(r.Dx()), uint16(r.Dy()), 0, xproto.WindowClassInputOutput, d.screen.RootVisual, 0, nil).Check())
	return example{d, id}
}

// examplePanel opens a panel that reserves space at the bottom of the screen.
func examplePanel(t *testing.T, s *xtest.Server, r image.Rectangle, bottom int) {
	t.Helper()
	e := exampleWindow(t, s, r)
	e.setNumbers(e.id, e.atoms.strutPartial, xproto.AtomCardinal, 0, 0, 0, uint32(bottom), 0, 0, 0, 0, 0, 0,
		uint32(r.Min.X), uint32(r.Max.X-1))
	e.setNumbers(e.id, e.atoms.windowType, xproto.AtomAtom, uint32(e.atoms.dock))
	must.Do(t, xproto.MapWindowChecked(e.conn, e.id).Check())
}

func (e example) setSettings(all map[string]any) {
	e.setText(e.id, e.atoms.xsettings, e.atoms.xsettings, string(xsettings(all)))
}

// ownSettings makes the window the desktop's settings manager and announces it, as the
// protocol requires.
func (e example) ownSettings(t *testing.T) {
	t.Helper()
	must.Do(t, xproto.SetSelectionOwnerChecked(e.conn, e.id, e.atoms.xsettingsOwner, xproto.TimeCurrentTime).Check())
	e.message(e.root, xproto.EventMaskStructureNotify, e.root, e.atoms.manager, 0, uint32(e.atoms.xsettingsOwner), uint32(e.id))
}
