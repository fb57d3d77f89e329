//go:build linux

package window

import (
	"image"
	"strings"

	"github.com/jezek/xgb/xproto"

	"wiebelt/internal/native/xconn"
)

// onWayland reports whether the server is XWayland: newer versions say so,
// older ones name their outputs accordingly.
func (d *x11) onWayland() bool {
	if d.conn.Extensions[xconn.XWayland] != 0 {
		return true
	}
	if !d.randr {
		return false
	}
	_, list := d.areas()
	return strings.HasPrefix(list[0].Name, "XWAYLAND")
}

func (d *x11) Kind() Kind {
	switch {
	case !d.xwayland:
		return X11
	case len(d.reportedAreas()) == 0:
		return XWaylandPanels
	}
	return XWayland
}

// restackCards moves the cards above a window that was, or may have been, raised.
// The compositor shows cards above all windows, whatever their order in X, but
// clicks go to the topmost X window. Other programs' menus stay where they are.
// It must be called on the events goroutine.
func (d *x11) restackCards(other xproto.Window, unmanaged bool) {
	if unmanaged || d.window(other) != nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, w := range d.windows {
		if c, ok := w.(*x11Card); ok && c.shown.Load() {
			xproto.ConfigureWindow(d.conn, c.id, xproto.ConfigWindowStackMode, []uint32{xproto.StackModeAbove})
		}
	}
}

// reportedAreas returns the areas without panels as reported by a Wayland compositor, whose own
// panels have no X window that could reserve space: one for each monitor, or one for all. The
// result is empty if the compositor does not report them.
func (d *x11) reportedAreas() []image.Rectangle {
	if !d.xwayland {
		return nil
	}
	v := d.values(d.root, d.atoms.workAreas, xproto.AtomCardinal, 64)
	if len(v) == 0 { // the same for every desktop, or nearly so
		v = d.values(d.root, d.atoms.workArea, xproto.AtomCardinal, 4)
	}
	var all []image.Rectangle
	for ; len(v) >= 4; v = v[4:] {
		x, y := int(int32(v[0])), int(int32(v[1]))
		all = append(all, image.Rect(x, y, x+int(min(v[2], maxSide)), y+int(min(v[3], maxSide))))
	}
	return all
}

// within returns the largest part of area within one of the reported areas.
func within(area image.Rectangle, told []image.Rectangle) (best image.Rectangle) {
	for _, r := range told {
		if r = r.Intersect(area); r.Dx()*r.Dy() > best.Dx()*best.Dy() {
			best = r
		}
	}
	return best
}
