//go:build !windows && !darwin

package window

import (
	"image"
	"strconv"
	"strings"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/randr"
	"github.com/jezek/xgb/xproto"
)

// desktop is what was found out about monitors and appearance. It is asked for
// once and again after a change, so that a ring does not wait for it.
type desktop struct {
	monitors []Monitor
	dark     bool
}

func (d *x11) desktop() *desktop {
	d.mu.Lock()
	got := d.desk
	d.mu.Unlock()
	if got != nil {
		return got
	}
	dpi, theme := d.xsettings()
	if dpi == 0 {
		dpi = d.xftDPI()
	}
	scale := float32(1)
	if dpi >= 48 && dpi <= 960 {
		scale = float32(dpi) / 96
	}
	got = &desktop{monitors: d.monitors(scale), dark: strings.Contains(strings.ToLower(theme), "dark")}
	d.mu.Lock()
	d.desk = got
	d.mu.Unlock()
	return got
}

// Monitors lists the monitors.
func (d *x11) Monitors() []Monitor { return d.desktop().monitors }

// Dark reports whether the desktop's theme is a dark one.
func (d *x11) Dark() bool { return d.desktop().dark }

func (d *x11) monitors(scale float32) []Monitor {
	whole := image.Rect(0, 0, int(d.screen.WidthInPixels), int(d.screen.HeightInPixels))
	if g, err := xproto.GetGeometry(d.conn, xproto.Drawable(d.root)).Reply(); err == nil {
		whole = image.Rect(0, 0, int(g.Width), int(g.Height))
	}
	var all []Monitor
	if r, err := randr.GetMonitors(d.conn, d.root, true).Reply(); err == nil {
		for _, m := range r.Monitors {
			mon := Monitor{Name: d.atomName(m.Name), Scale: scale,
				Area: image.Rect(int(m.X), int(m.Y), int(m.X)+int(m.Width), int(m.Y)+int(m.Height))}
			if mon.Area.Empty() {
				continue
			}
			if m.Primary {
				all = append([]Monitor{mon}, all...)
			} else {
				all = append(all, mon)
			}
		}
	}
	if len(all) == 0 {
		all = []Monitor{{Name: "screen", Area: whole, Scale: scale}}
	}
	for i := range all {
		all[i].Work = all[i].Area
	}
	for _, s := range d.struts() {
		for i := range all {
			all[i].Work = s.cut(all[i], whole)
		}
	}
	return all
}

func (d *x11) atomName(a xproto.Atom) string {
	if r, err := xproto.GetAtomName(d.conn, a).Reply(); err == nil {
		return r.Name
	}
	return ""
}

// reserved is the room a panel takes at the edges of the whole desktop:
// left, right, top, bottom, and where along each edge.
type reserved [12]int

func (d *x11) struts() []reserved {
	var all []reserved
	list, err := xproto.GetProperty(d.conn, false, d.root, d.atoms.clientList, xproto.AtomWindow, 0, 4096).Reply()
	if err != nil {
		return nil
	}
	for i := 0; i+4 <= len(list.Value); i += 4 {
		w := xproto.Window(xgb.Get32(list.Value[i:]))
		if v := d.cardinals(w, d.atoms.strutPartial, 12); v != nil {
			all = append(all, reserved(v))
		} else if v := d.cardinals(w, d.atoms.strut, 4); v != nil {
			const far = 1 << 20
			all = append(all, reserved{v[0], v[1], v[2], v[3], 0, far, 0, far, 0, far, 0, far})
		}
	}
	return all
}

func (d *x11) cardinals(w xproto.Window, p xproto.Atom, n int) []int {
	r, err := xproto.GetProperty(d.conn, false, w, p, xproto.AtomCardinal, 0, uint32(n)).Reply()
	if err != nil || r.Format != 32 || len(r.Value) < 4*n {
		return nil
	}
	v := make([]int, n)
	for i := range v {
		v[i] = int(xgb.Get32(r.Value[4*i:]))
	}
	return v
}

// cut takes a panel's room away from the work area of a monitor it touches.
func (s reserved) cut(m Monitor, whole image.Rectangle) image.Rectangle {
	work := m.Work
	touches := func(r image.Rectangle) bool { return r.Overlaps(m.Area) }
	if x := s[0]; x > 0 && touches(image.Rect(0, s[4], x, s[5]+1)) && x < m.Area.Max.X {
		work.Min.X = max(work.Min.X, x)
	}
	if x := whole.Max.X - s[1]; s[1] > 0 && touches(image.Rect(x, s[6], whole.Max.X, s[7]+1)) && x > m.Area.Min.X {
		work.Max.X = min(work.Max.X, x)
	}
	if y := s[2]; y > 0 && touches(image.Rect(s[8], 0, s[9]+1, y)) && y < m.Area.Max.Y {
		work.Min.Y = max(work.Min.Y, y)
	}
	if y := whole.Max.Y - s[3]; s[3] > 0 && touches(image.Rect(s[10], y, s[11]+1, whole.Max.Y)) && y > m.Area.Min.Y {
		work.Max.Y = min(work.Max.Y, y)
	}
	if work.Dx() < m.Area.Dx()/4 || work.Dy() < m.Area.Dy()/4 {
		return m.Work // a panel cannot take nearly all of it
	}
	return work
}

// Active is the monitor of the window with the focus, else of the pointer.
func (d *x11) Active() int {
	all := d.Monitors()
	if len(all) == 1 {
		return 0
	}
	if f, err := xproto.GetInputFocus(d.conn).Reply(); err == nil && f.Focus > xproto.InputFocusPointerRoot && f.Focus != d.root {
		if g, err := xproto.GetGeometry(d.conn, xproto.Drawable(f.Focus)).Reply(); err == nil {
			if t, err := xproto.TranslateCoordinates(d.conn, f.Focus, d.root, int16(g.Width/2), int16(g.Height/2)).Reply(); err == nil {
				if i := on(all, image.Pt(int(t.DstX), int(t.DstY))); i >= 0 {
					return i
				}
			}
		}
	}
	if p, err := xproto.QueryPointer(d.conn, d.root).Reply(); err == nil {
		return max(0, on(all, image.Pt(int(p.RootX), int(p.RootY))))
	}
	return 0
}

func on(all []Monitor, p image.Point) int {
	for i, m := range all {
		if p.In(m.Area) {
			return i
		}
	}
	return -1
}

// xftDPI reads Xft.dpi of the resource database, 0 if it is not there.
func (d *x11) xftDPI() int {
	r, err := xproto.GetProperty(d.conn, false, d.root, xproto.AtomResourceManager, xproto.AtomString, 0, 1<<16).Reply()
	if err != nil {
		return 0
	}
	for l := range strings.Lines(string(r.Value)) {
		if v, ok := strings.CutPrefix(strings.TrimSpace(l), "Xft.dpi:"); ok {
			f, _ := strconv.ParseFloat(strings.TrimSpace(v), 64)
			return int(f + 0.5)
		}
	}
	return 0
}

// xsettings asks the desktop's settings for the resolution (in dots per inch,
// 0 if unset) and the name of the theme.
func (d *x11) xsettings() (dpi int, theme string) {
	owner, err := xproto.GetSelectionOwner(d.conn, d.atoms.xsettingsOwner).Reply()
	if err != nil || owner.Owner == 0 {
		return 0, ""
	}
	r, err := xproto.GetProperty(d.conn, false, owner.Owner, d.atoms.xsettings, d.atoms.xsettings, 0, 1<<16).Reply()
	if err != nil || len(r.Value) < 12 || r.Value[0] != 0 {
		return 0, ""
	}
	return parseXSettings(r.Value)
}

// parseXSettings reads the two settings of interest from the property of an
// XSETTINGS manager with little-endian byte order.
func parseXSettings(b []byte) (dpi int, theme string) {
	n := int(xgb.Get32(b[8:]))
	b = b[12:]
	pad := func(k int) int { return (k + 3) &^ 3 }
	for ; n > 0 && len(b) >= 4; n-- {
		kind, length := b[0], int(xgb.Get16(b[2:]))
		head := 4 + pad(length) + 4
		if len(b) < head {
			return dpi, theme
		}
		name := string(b[4 : 4+length])
		b = b[head:]
		switch kind {
		case 0:
			if len(b) < 4 {
				return dpi, theme
			}
			if name == "Xft/DPI" {
				dpi = int(int32(xgb.Get32(b))) / 1024
			}
			b = b[4:]
		case 1:
			if len(b) < 4 {
				return dpi, theme
			}
			size := int(xgb.Get32(b))
			if size < 0 || len(b) < 4+pad(size) {
				return dpi, theme
			}
			if name == "Net/ThemeName" {
				theme = string(b[4 : 4+size])
			}
			b = b[4+pad(size):]
		case 2:
			if len(b) < 8 {
				return dpi, theme
			}
			b = b[8:]
		default:
			return dpi, theme
		}
	}
	return dpi, theme
}
