//go:build linux

package window

import (
	"errors"
	"image"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/xtest"
)

// TestToldAreas imitates XWayland, whose panels have no windows: the work area that the
// compositor announces is what counts, that of each monitor before that of the desktop.
func TestToldAreas(t *testing.T) {
	s := xtest.Start(t, "", xtest.Options{Width: 800, Height: 600})
	d := open(t, s)
	whole, told := image.Rect(0, 0, 800, 600), image.Rect(0, 32, 800, 560)
	is := func(kind Kind, work image.Rectangle) {
		t.Helper()
		if got := d.Monitors()[0].Work; d.Kind() != kind || got != work {
			t.Errorf("%s: %v, want %s: %v", d.Kind(), got, kind, work)
		}
	}
	set := func(name, value string) { s.Run("xprop", "-root", "-f", name, "32c", "-set", name, value) }
	set("_NET_WORKAREA", "0,32,800,528,0,0,800,600")
	is(X11, whole) // on plain X11 the panels are more precise
	d.xwayland = true
	is(XWayland, told)
	set("_GTK_WORKAREAS_D0", "800,0,640,480,0,0,800,580")
	is(XWayland, image.Rect(0, 0, 800, 580))
	set("_GTK_WORKAREAS_D0", "800,0,640,480") // of a monitor that is gone
	is(XWayland, whole)
	for _, name := range []string{"_GTK_WORKAREAS_D0", "_NET_WORKAREA"} {
		s.Run("xprop", "-root", "-remove", name)
	}
	is(XWaylandPanels, whole)
}

// TestEnteredByMotion imitates XWayland: a card that appears under the pointer, as far as X
// knows, is entered once the pointer moves there.
func TestEnteredByMotion(t *testing.T) {
	s := xtest.Start(t, "", xtest.Options{})
	s.Move(230, 140)
	d := open(t, s)
	d.xwayland = true
	rec := newRecorder()
	w := newWindow(t, d, rec)
	must.Do(t, w.Show(image.Rect(200, 100, 400, 200), plain(200, 100, red)))
	must.Do(t, w.Sync())
	s.Move(231, 140)
	if got := <-rec.lines; got != "move (31,40)" {
		t.Errorf("first it hears %q", got)
	}
	s.Move(10, 10)
	rec.wait(t, "left")
}

// TestWaylandClipboard imitates compositors: one without data-control is left alone; one with
// it gets the text for whoever pastes, until another program copies.
func TestWaylandClipboard(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_RUNTIME_DIR", dir)
	t.Setenv("WAYLAND_DISPLAY", "wayland-7")
	l := must.Get(net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, "wayland-7"), Net: "unix"}))(t)
	defer l.Close()
	var c waylandClipboard
	defer c.close()
	accept := func(text, manager string) *net.UnixConn {
		t.Helper()
		c.offer([]byte(text))
		conn := must.Get(l.AcceptUnix())(t)
		t.Cleanup(func() { conn.Close() })
		var b []byte
		for i, name := range []string{"wl_compositor", "wl_seat", manager} {
			b = request(b, waylandRegistry, registryGlobal, uint32(10+i), name, 2)
		}
		must.Get(conn.Write(request(b, waylandSynced, 0, 1)))(t)
		return conn
	}
	ended := func(what string, conn *net.UnixConn) {
		t.Helper()
		if _, err := io.Copy(io.Discard, conn); err != nil && !errors.Is(err, unix.ECONNRESET) { // it may not have read all
			t.Errorf("%s: %v", what, err)
		}
	}
	ended("without data-control", accept("first", "wl_shm"))

	conn := accept("second", "zwlr_data_control_manager_v1")
	r, w, err := os.Pipe()
	must.Do(t, err)
	defer r.Close()
	event := request(nil, waylandSource, sourceSend, "text/plain")
	must.Get(conn.Write(event[:5]))(t) // an event that arrives in parts is one event
	_, _, err = conn.WriteMsgUnix(event[5:], unix.UnixRights(int(w.Fd())), nil)
	must.Do(t, err)
	w.Close()
	if got := string(must.Get(io.ReadAll(r))(t)); got != "second" {
		t.Errorf("pasted %q", got)
	}
	third := accept("third", "ext_data_control_manager_v1")
	ended("another text of ours", conn)
	must.Get(third.Write(request(nil, waylandSource, sourceCancelled)))(t)
	ended("somebody else's text", third)
	broken := accept("fourth", "ext_data_control_manager_v1")
	must.Get(broken.Write(make([]byte, 16)))(t) // an event of length zero
	ended("a compositor that is none", broken)
	last := accept("last", "ext_data_control_manager_v1")
	c.close()
	ended("closed", last)
}
