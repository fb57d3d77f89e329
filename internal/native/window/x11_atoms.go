//go:build linux

package window

import (
	"strconv"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"
)

// atoms are the names that X11 programs use to communicate.
type atoms struct {
	netName, utf8, windowType, notification  xproto.Atom
	workArea, workAreas                      xproto.Atom
	clients, strut, strutPartial             xproto.Atom
	state, fullScreen, maxVert, maxHorz      xproto.Atom
	stacking, desktop, dock, managed         xproto.Atom
	manager, xsettings, xsettingsOwner       xproto.Atom
	clipboard, targets, timestamp, multiple  xproto.Atom
	text, plain, plainUTF8, atomPair, ticket xproto.Atom
	incr, pasted                             xproto.Atom
	protocols, deleteWindow, ping, activate  xproto.Atom
	normal, icon, pid, variant               xproto.Atom
	dndAware, dndEnter, dndPosition, dndDrop xproto.Atom
	dndLeave, dndStatus, dndFinished         xproto.Atom
	dndTypes, dndSelection, dndCopy, uriList xproto.Atom
}

// internAtoms requests them all at once.
func internAtoms(c *xgb.Conn) (atoms, error) {
	var a atoms
	list := []struct {
		to   *xproto.Atom
		name string
	}{
		{&a.netName, "_NET_WM_NAME"},
		{&a.utf8, "UTF8_STRING"},
		{&a.windowType, "_NET_WM_WINDOW_TYPE"},
		{&a.notification, "_NET_WM_WINDOW_TYPE_NOTIFICATION"},
		{&a.workArea, "_NET_WORKAREA"},
		{&a.workAreas, "_GTK_WORKAREAS_D0"},
		{&a.clients, "_NET_CLIENT_LIST"},
		{&a.strut, "_NET_WM_STRUT"},
		{&a.strutPartial, "_NET_WM_STRUT_PARTIAL"},
		{&a.state, "_NET_WM_STATE"},
		{&a.fullScreen, "_NET_WM_STATE_FULLSCREEN"},
		{&a.maxVert, "_NET_WM_STATE_MAXIMIZED_VERT"},
		{&a.maxHorz, "_NET_WM_STATE_MAXIMIZED_HORZ"},
		{&a.stacking, "_NET_CLIENT_LIST_STACKING"},
		{&a.desktop, "_NET_WM_WINDOW_TYPE_DESKTOP"},
		{&a.dock, "_NET_WM_WINDOW_TYPE_DOCK"},
		{&a.managed, "WM_STATE"},
		{&a.manager, "MANAGER"},
		{&a.xsettings, "_XSETTINGS_SETTINGS"},
		{&a.xsettingsOwner, "_XSETTINGS_S" + strconv.Itoa(c.DefaultScreen)},
		{&a.clipboard, "CLIPBOARD"},
		{&a.targets, "TARGETS"},
		{&a.timestamp, "TIMESTAMP"},
		{&a.multiple, "MULTIPLE"},
		{&a.text, "TEXT"},
		{&a.plain, "text/plain"},
		{&a.plainUTF8, "text/plain;charset=utf-8"},
		{&a.atomPair, "ATOM_PAIR"},
		{&a.ticket, "_WIEBELT_TIME"},
		{&a.incr, "INCR"},
		{&a.pasted, "_WIEBELT_PASTE"},
		{&a.protocols, "WM_PROTOCOLS"},
		{&a.deleteWindow, "WM_DELETE_WINDOW"},
		{&a.ping, "_NET_WM_PING"},
		{&a.activate, "_NET_ACTIVE_WINDOW"},
		{&a.normal, "_NET_WM_WINDOW_TYPE_NORMAL"},
		{&a.icon, "_NET_WM_ICON"},
		{&a.pid, "_NET_WM_PID"},
		{&a.variant, "_GTK_THEME_VARIANT"},
		{&a.dndAware, "XdndAware"},
		{&a.dndEnter, "XdndEnter"},
		{&a.dndPosition, "XdndPosition"},
		{&a.dndDrop, "XdndDrop"},
		{&a.dndLeave, "XdndLeave"},
		{&a.dndStatus, "XdndStatus"},
		{&a.dndFinished, "XdndFinished"},
		{&a.dndTypes, "XdndTypeList"},
		{&a.dndSelection, "XdndSelection"},
		{&a.dndCopy, "XdndActionCopy"},
		{&a.uriList, "text/uri-list"},
	}
	cookies := make([]xproto.InternAtomCookie, len(list))
	for i, l := range list {
		cookies[i] = xproto.InternAtom(c, false, uint16(len(l.name)), l.name)
	}
	for i, l := range list {
		r, err := cookies[i].Reply()
		if err != nil {
			return a, err
		}
		*l.to = r.Atom
	}
	return a, nil
}
