//go:build linux

package window

import (
	"encoding/binary"
	"strconv"
	"strings"

	"github.com/jezek/xgb/xproto"
)

// settings are the desktop's settings for all programs.
type settings struct {
	scale float32 // of screen and text combined, since desktops put both into Xft/DPI
	Appearance
}

// readSettings reads them again and reports whether they have changed. Only the
// events goroutine and prepare may call it.
func (d *x11) readSettings() bool {
	s := &settings{scale: 1}
	resource := xproto.GetProperty(d.conn, false, d.root, xproto.AtomResourceManager, xproto.AtomString, 0, 1<<16)
	owner := xproto.GetSelectionOwner(d.conn, d.atoms.xsettingsOwner)
	var x map[string]any
	if o, err := owner.Reply(); err == nil && o.Owner != 0 {
		if d.manager != o.Owner {
			xproto.ChangeWindowAttributes(d.conn, o.Owner, xproto.CwEventMask,
				[]uint32{xproto.EventMaskPropertyChange | xproto.EventMaskStructureNotify})
		}
		d.manager = o.Owner
		if p, err := xproto.GetProperty(d.conn, false, o.Owner, d.atoms.xsettings, d.atoms.xsettings, 0, 1<<16).Reply(); err == nil {
			x = parseXSettings(p.Value)
		}
	} else {
		d.manager = 0
	}
	if r, err := resource.Reply(); err == nil {
		if v, ok := scaleOf(resourceDPI(string(r.Value))); ok {
			s.scale = v
		}
	}
	dpi, _ := x["Xft/DPI"].(int32)
	if v, ok := scaleOf(float64(dpi) / 1024); ok {
		s.scale = v
	}
	theme, _ := x["Net/ThemeName"].(string)
	scheme, _ := x["Net/ColorScheme"].(string)
	s.HighContrast = contrastTheme(theme)
	animations, ok := x["Gtk/EnableAnimations"].(int32)
	s.LessMotion = ok && animations == 0
	s.Dark = darkTheme(theme) || scheme == "prefer-dark"

	old := d.settings.Swap(s)
	return old != nil && *old != *s
}

// Appearance combines both of the desktop's settings. That of the portal, if the desktop has
// one and it has a preference, decides between dark and light.
func (d *x11) Appearance() Appearance {
	own, portal := d.settings.Load().Appearance, *d.portal.look.Load()
	if portal.scheme != preferDark && portal.scheme != preferLight {
		portal.Dark = own.Dark
	}
	return Appearance{portal.Dark, portal.HighContrast || own.HighContrast, portal.LessMotion || own.LessMotion}
}

// scaleOf converts dots per inch to pixels per unit. It ignores implausible values,
// since desktops write 0 or -1 for "default".
func scaleOf(dpi float64) (float32, bool) {
	s := float32(dpi / 96)
	return s, s >= 0.5 && s <= 8
}

// resourceDPI finds Xft.dpi in the text of RESOURCE_MANAGER, or returns 0 if it is missing.
func resourceDPI(text string) float64 {
	for line := range strings.Lines(text) {
		name, value, ok := strings.Cut(line, ":")
		if name = strings.TrimSpace(name); ok && (name == "Xft.dpi" || name == "Xft*dpi" || name == "*dpi") {
			v, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			if err == nil {
				return v
			}
		}
	}
	return 0
}

// darkTheme recognises dark themes, which are usually named "Something-dark".
func darkTheme(name string) bool {
	name = strings.ToLower(name)
	return strings.Contains(name, "-dark") || strings.HasSuffix(name, "dark") || name == "highcontrastinverse"
}

// contrastTheme recognises the high-contrast themes that desktops include.
func contrastTheme(name string) bool {
	return strings.HasPrefix(strings.ToLower(name), "highcontrast") || strings.HasPrefix(strings.ToLower(name), "contrasthigh")
}

// parseXSettings parses the property of the XSETTINGS protocol: byte order, a serial, a count, and per
// setting a type (0 number, 1 text, 2 colour), a name, a serial and a value, all padded to four bytes.
// Colours are skipped. If it is broken, the result is what was read before.
func parseXSettings(b []byte) map[string]any {
	all := map[string]any{}
	if len(b) < 12 {
		return all
	}
	var order binary.ByteOrder = binary.LittleEndian
	if b[0] == 1 {
		order = binary.BigEndian
	}
	in := reader{rest: b[12:], order: order}
	for range order.Uint32(b[8:]) {
		head := in.take(4)
		name := string(in.take(int(order.Uint16(head[2:]))))
		in.take(4) // the serial
		var v any
		switch head[0] {
		case 0:
			v = int32(in.number())
		case 1:
			v = string(in.take(int(int32(in.number()))))
		case 2:
			in.take(8)
		default:
			in.broken = true
		}
		if in.broken {
			break
		}
		if v != nil {
			all[name] = v
		}
	}
	return all
}

// reader parses data sent by the server or another program.
type reader struct {
	rest   []byte
	order  binary.ByteOrder
	broken bool // the data was too short
}

// take returns n bytes and skips the padding after them, up to a multiple of four. If
// there are fewer, the result is meaningless.
func (r *reader) take(n int) []byte {
	padded := (n + 3) &^ 3
	if r.broken = r.broken || n < 0 || padded < n || padded > len(r.rest); r.broken {
		return make([]byte, 8)
	}
	b := r.rest[:n]
	r.rest = r.rest[padded:]
	return b
}

func (r *reader) number() uint32 { return r.order.Uint32(r.take(4)) }
