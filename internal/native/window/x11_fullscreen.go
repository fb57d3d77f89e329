//go:build linux

package window

import (
	"image"
	"slices"

	"github.com/jezek/xgb/xproto"

	"wiebelt/internal/native/xconn"
)

// stacked returns the windows under the window manager's control, lowest first.
func (d *x11) stacked() []uint32 {
	const most = 1024 // windows
	list := func(property xproto.Atom) []uint32 {
		return xconn.Values(xproto.GetProperty(d.conn, false, d.root, property, xproto.AtomWindow, 0, most).Reply())
	}
	if clients := list(d.atoms.stacking); len(clients) > 0 {
		return clients
	}
	return list(d.atoms.clients) // xfwm4 has no such list before a window was raised; newer windows are higher
}

// FullScreen checks the windows on the desktop from the top, and decides by the first
// that covers the monitor's work area: a window in front of a presentation does not
// end it, unless it covers it completely. A program that fills the screen without
// telling the window manager goes unnoticed.
func (d *x11) FullScreen(area image.Rectangle) bool {
	work := area
	for _, m := range d.Monitors() {
		if m.Area == area {
			work = m.Work
		}
	}
	clients := d.stacked()
	type asked struct {
		shown xproto.GetWindowAttributesCookie
		size  xproto.GetGeometryCookie
		place xproto.TranslateCoordinatesCookie
		state xproto.GetPropertyCookie
		kind  xproto.GetPropertyCookie
	}
	questions := make([]asked, len(clients))
	for i, id := range clients {
		w := xproto.Window(id)
		questions[i] = asked{
			xproto.GetWindowAttributes(d.conn, w),
			xproto.GetGeometry(d.conn, xproto.Drawable(w)),
			xproto.TranslateCoordinates(d.conn, w, d.root, 0, 0),
			xproto.GetProperty(d.conn, false, w, d.atoms.state, xproto.AtomAtom, 0, 32),
			xproto.GetProperty(d.conn, false, w, d.atoms.windowType, xproto.AtomAtom, 0, 8),
		}
	}
	full := false // of the topmost window that covers it, which is checked last
	for _, q := range questions {
		shown, err1 := q.shown.Reply()
		size, err2 := q.size.Reply()
		place, err3 := q.place.Reply()
		state, kind := xconn.Values(q.state.Reply()), xconn.Values(q.kind.Reply())
		if err1 != nil || err2 != nil || err3 != nil || shown.MapState != xproto.MapStateViewable ||
			slices.Contains(kind, uint32(d.atoms.desktop)) {
			continue
		}
		min := image.Pt(int(place.DstX), int(place.DstY))
		r := image.Rectangle{Min: min, Max: min.Add(image.Pt(int(size.Width), int(size.Height)))}
		switch {
		case area.In(r) && slices.Contains(state, uint32(d.atoms.fullScreen)):
			full = true
		case work.In(r), d.maximized(state) && r.Min.Add(r.Size().Div(2)).In(area):
			full = false
		}
	}
	return full
}

func (d *x11) maximized(state []uint32) bool {
	return slices.Contains(state, uint32(d.atoms.maxVert)) && slices.Contains(state, uint32(d.atoms.maxHorz))
}
