//go:build !windows && !darwin

package window

import (
	"image"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/randr"
	"github.com/jezek/xgb/xproto"
)

// events reads what the server reports until the connection ends. Errors of
// single requests say nothing that anybody could act on.
func (d *x11) events() {
	defer close(d.done)
	for {
		ev, err := d.conn.WaitForEvent()
		if ev == nil && err == nil {
			d.mu.Lock()
			d.lost = true
			d.mu.Unlock()
			return
		}
		switch e := ev.(type) {
		case xproto.MotionNotifyEvent:
			d.to(e.Event, func(h Handler) { h.PointerMoved(image.Pt(int(e.EventX), int(e.EventY))) })
		case xproto.EnterNotifyEvent:
			d.to(e.Event, func(h Handler) { h.PointerMoved(image.Pt(int(e.EventX), int(e.EventY))) })
		case xproto.LeaveNotifyEvent:
			// A click makes the server report leaving by a grab; nobody has left.
			if e.Mode == xproto.NotifyModeNormal {
				d.to(e.Event, func(h Handler) { h.PointerLeft() })
			}
		case xproto.ButtonPressEvent:
			d.pressed(e)
		case xproto.ButtonReleaseEvent:
			if b, ok := button(e.Detail); ok {
				d.to(e.Event, func(h Handler) { h.PointerReleased(image.Pt(int(e.EventX), int(e.EventY)), b) })
			}
		case xproto.SelectionRequestEvent:
			d.clip.serve(d, e)
		case xproto.SelectionClearEvent:
			d.clip.clear(e.Selection, d.atoms.clipboard)
		case xproto.PropertyNotifyEvent:
			if e.Window == d.root && d.atoms.desktopProperty(e.Atom) {
				d.changed(e.Atom == xproto.AtomResourceManager)
			}
		case randr.ScreenChangeNotifyEvent, randr.NotifyEvent:
			d.changed(true)
		}
	}
}

func (d *x11) to(id xproto.Window, tell func(Handler)) {
	d.mu.Lock()
	w := d.windows[id]
	d.mu.Unlock()
	if w != nil {
		tell(w.h)
	}
}

func (d *x11) pressed(e xproto.ButtonPressEvent) {
	at := image.Pt(int(e.EventX), int(e.EventY))
	switch e.Detail {
	case 4:
		d.to(e.Event, func(h Handler) { h.Scrolled(at, 1) })
	case 5:
		d.to(e.Event, func(h Handler) { h.Scrolled(at, -1) })
	default:
		if b, ok := button(e.Detail); ok {
			d.to(e.Event, func(h Handler) { h.PointerPressed(at, b) })
		}
	}
}

func button(detail xproto.Button) (Button, bool) {
	switch detail {
	case 1:
		return Left, true
	case 2:
		return Middle, true
	case 3:
		return Right, true
	}
	return 0, false
}

// changed makes the next question about monitors be asked anew, and tells the
// windows where the change can concern a card that is up.
func (d *x11) changed(tell bool) {
	d.mu.Lock()
	d.desk = nil
	var hs []Handler
	for _, w := range d.windows {
		hs = append(hs, w.h)
	}
	d.mu.Unlock()
	if tell {
		for _, h := range hs {
			h.DisplayChanged()
		}
	}
}

// atoms are the names the X server gave numbers to.
type atoms struct {
	utf8, netWmName, windowType, notification    xproto.Atom
	clientList, workArea, strutPartial, strut    xproto.Atom
	clipboard, targets, timestamp, textPlainUTF8 xproto.Atom
	xsettings, xsettingsOwner                    xproto.Atom
}

func (a *atoms) intern(c *xgb.Conn) error {
	names := []struct {
		to   *xproto.Atom
		name string
	}{
		{&a.utf8, "UTF8_STRING"}, {&a.netWmName, "_NET_WM_NAME"},
		{&a.windowType, "_NET_WM_WINDOW_TYPE"}, {&a.notification, "_NET_WM_WINDOW_TYPE_NOTIFICATION"},
		{&a.clientList, "_NET_CLIENT_LIST"}, {&a.workArea, "_NET_WORKAREA"},
		{&a.strutPartial, "_NET_WM_STRUT_PARTIAL"}, {&a.strut, "_NET_WM_STRUT"},
		{&a.clipboard, "CLIPBOARD"}, {&a.targets, "TARGETS"}, {&a.timestamp, "TIMESTAMP"},
		{&a.textPlainUTF8, "text/plain;charset=utf-8"},
		{&a.xsettings, "_XSETTINGS_SETTINGS"}, {&a.xsettingsOwner, "_XSETTINGS_S0"},
	}
	cookies := make([]xproto.InternAtomCookie, len(names))
	for i, n := range names { // all asked before the first answer is awaited
		cookies[i] = xproto.InternAtom(c, false, uint16(len(n.name)), n.name)
	}
	for i, n := range names {
		r, err := cookies[i].Reply()
		if err != nil {
			return err
		}
		*n.to = r.Atom
	}
	return nil
}

// desktopProperty reports whether a property of the root window has to do with
// where and how large cards are.
func (a *atoms) desktopProperty(p xproto.Atom) bool {
	return p == a.clientList || p == a.workArea || p == xproto.AtomResourceManager
}
