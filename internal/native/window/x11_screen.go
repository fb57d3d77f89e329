//go:build linux

package window

import (
	"image"
	"slices"

	"github.com/jezek/xgb/randr"
	"github.com/jezek/xgb/xproto"

	"wiebelt/internal/native/xconn"
)

// strut is the space that one window reserves along an edge of the screen.
type strut struct {
	edge edge
	area image.Rectangle
}

type edge uint8

const (
	leftEdge edge = iota
	rightEdge
	topEdge
	bottomEdge
)

// Monitors queries the server every time: three round trips with many requests each are
// cheaper than watching every window for its reserved space.
func (d *x11) Monitors() []Monitor {
	scale := d.settings.Load().scale
	screen, areas := d.areas()
	struts := d.struts(screen)
	told := d.reportedAreas()
	for i := range areas {
		areas[i].Work = workArea(areas[i].Area, struts)
		if r := within(areas[i].Work, told); !r.Empty() {
			areas[i].Work = r
		}
		areas[i].Scale = scale
	}
	return areas
}

// areas returns the screen's size and its monitors, primary first.
func (d *x11) areas() (image.Rectangle, []Monitor) {
	screen := rectAt(0, 0, d.screen.WidthInPixels, d.screen.HeightInPixels)
	geometry := xproto.GetGeometry(d.conn, xproto.Drawable(d.root))
	var list []Monitor
	if d.randr {
		if r, err := randr.GetMonitors(d.conn, d.root, true).Reply(); err == nil && r != nil {
			for _, m := range r.Monitors {
				mon := Monitor{
					Name: d.atomName(m.Name),
					Area: rectAt(m.X, m.Y, m.Width, m.Height),
				}
				same := func(o Monitor) bool { return o.Area == mon.Area } // a mirrored one
				if mon.Area.Empty() || slices.ContainsFunc(list, same) {
					continue
				}
				if m.Primary {
					list = slices.Insert(list, 0, mon)
				} else {
					list = append(list, mon)
				}
			}
		}
	}
	if g, err := geometry.Reply(); err == nil {
		screen = rectAt(0, 0, g.Width, g.Height)
	}
	if len(list) == 0 {
		list = []Monitor{{Name: "screen", Area: screen}}
	}
	return screen, list
}

func (d *x11) atomName(a xproto.Atom) string {
	d.mu.Lock()
	name, ok := d.names[a]
	d.mu.Unlock()
	if ok {
		return name
	}
	r, err := xproto.GetAtomName(d.conn, a).Reply()
	if err != nil {
		return ""
	}
	d.mu.Lock()
	d.names[a] = r.Name
	d.mu.Unlock()
	return r.Name
}

func (d *x11) struts(screen image.Rectangle) []strut {
	clients := d.values(d.root, d.atoms.clients, xproto.AtomWindow, maxClients)
	type asked struct{ partial, full xproto.GetPropertyCookie }
	questions := make([]asked, len(clients))
	for i, id := range clients {
		questions[i].partial = xproto.GetProperty(d.conn, false, xproto.Window(id), d.atoms.strutPartial, xproto.AtomCardinal, 0, 12)
		questions[i].full = xproto.GetProperty(d.conn, false, xproto.Window(id), d.atoms.strut, xproto.AtomCardinal, 0, 4)
	}
	var all []strut
	for _, q := range questions {
		v, full := xconn.Values(q.partial.Reply()), xconn.Values(q.full.Reply())
		switch {
		case len(v) == 12:
		case len(full) == 4:
			w, h := uint32(screen.Dx()-1), uint32(screen.Dy()-1)
			v = append(full, 0, h, 0, h, 0, w, 0, w)
		default:
			continue
		}
		all = append(all, parseStrut(v, screen)...)
	}
	return all
}

// parseStrut parses the twelve numbers of _NET_WM_STRUT_PARTIAL: widths at the left, right,
// top and bottom of the screen, and their start and end positions.
func parseStrut(v []uint32, screen image.Rectangle) []strut {
	var n [12]int
	for i := range n {
		n[i] = int(min(v[i], maxSide))
	}
	w, h := screen.Dx(), screen.Dy()
	var all []strut
	for e, r := range []image.Rectangle{
		leftEdge:   image.Rect(0, n[4], n[0], n[5]+1),
		rightEdge:  image.Rect(w-n[1], n[6], w, n[7]+1),
		topEdge:    image.Rect(n[8], 0, n[9]+1, n[2]),
		bottomEdge: image.Rect(n[10], h-n[3], n[11]+1, h),
	} {
		if r = r.Intersect(screen); !r.Empty() {
			all = append(all, strut{edge(e), r})
		}
	}
	return all
}

// workArea subtracts reserved space from a monitor. Reserved space is measured from the edge
// of the whole screen, so that a panel between two monitors seems to cover the outer one
// completely. Therefore space of more than half a monitor is not meant for that monitor.
func workArea(area image.Rectangle, struts []strut) image.Rectangle {
	work := area
	for _, s := range struts {
		part := s.area.Intersect(area)
		if part.Empty() || 2*part.Dx() > area.Dx() && 2*part.Dy() > area.Dy() {
			continue
		}
		switch s.edge {
		case leftEdge:
			work.Min.X = max(work.Min.X, part.Max.X)
		case rightEdge:
			work.Max.X = min(work.Max.X, part.Min.X)
		case topEdge:
			work.Min.Y = max(work.Min.Y, part.Max.Y)
		case bottomEdge:
			work.Max.Y = min(work.Max.Y, part.Min.Y)
		}
	}
	if work.Empty() {
		return area
	}
	return work
}

func (d *x11) Active() int {
	screen, list := d.areas()
	if len(list) == 1 || d.xwayland {
		return 0
	}
	if r, ok := d.focused(); ok && !r.Eq(screen) {
		if i := MonitorOf(list, r); i >= 0 {
			return i
		}
	}
	if p, err := xproto.QueryPointer(d.conn, d.root).Reply(); err == nil {
		return max(0, slices.IndexFunc(list, func(m Monitor) bool { return pointAt(p.RootX, p.RootY).In(m.Area) }))
	}
	return 0
}

// focused returns the area of the outermost window around the one with the
// focus, since toolkits often focus a one-pixel child. It returns false if no
// window, or only the root window, has the focus.
func (d *x11) focused() (image.Rectangle, bool) {
	f, err := xproto.GetInputFocus(d.conn).Reply()
	if err != nil || f.Focus <= xproto.InputFocusPointerRoot || f.Focus == d.root {
		return image.Rectangle{}, false
	}
	id := f.Focus
	for range 32 { // deeper than any real tree
		t, err := xproto.QueryTree(d.conn, id).Reply()
		if err != nil {
			return image.Rectangle{}, false
		}
		if t.Parent == d.root || t.Parent == 0 {
			break
		}
		id = t.Parent
	}
	g, err := xproto.GetGeometry(d.conn, xproto.Drawable(id)).Reply()
	if err != nil {
		return image.Rectangle{}, false
	}
	return rectAt(g.X, g.Y, g.Width, g.Height), true
}

// stacked returns the windows under the window manager's control, lowest first.
func (d *x11) stacked() []uint32 {
	if clients := d.values(d.root, d.atoms.stacking, xproto.AtomWindow, maxClients); len(clients) > 0 {
		return clients
	}
	// xfwm4 has no such list before a window was raised; newer windows are higher.
	return d.values(d.root, d.atoms.clients, xproto.AtomWindow, maxClients)
}

const maxClients = 1024

// values returns at most so many numbers of a window's property.
func (d *x11) values(w xproto.Window, property, kind xproto.Atom, most uint32) []uint32 {
	return xconn.Values(xproto.GetProperty(d.conn, false, w, property, kind, 0, most).Reply())
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
		r := rectAt(place.DstX, place.DstY, size.Width, size.Height)
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
