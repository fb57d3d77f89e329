//go:build linux

package window

import (
	"strconv"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"

	"wiebelt/internal/native/xconn"
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

func (a *atoms) intern(c *xgb.Conn) error {
	return xconn.Atoms(c, map[string]*xproto.Atom{
		"_NET_WM_NAME": &a.netName, "UTF8_STRING": &a.utf8, "_NET_WM_WINDOW_TYPE": &a.windowType,
		"_NET_WM_WINDOW_TYPE_NOTIFICATION": &a.notification,
		"_NET_WORKAREA":                    &a.workArea, "_GTK_WORKAREAS_D0": &a.workAreas,
		"_NET_CLIENT_LIST": &a.clients, "_NET_WM_STRUT": &a.strut,
		"_NET_WM_STRUT_PARTIAL": &a.strutPartial,
		"_NET_WM_STATE":         &a.state, "_NET_WM_STATE_FULLSCREEN": &a.fullScreen,
		"_NET_WM_STATE_MAXIMIZED_VERT": &a.maxVert, "_NET_WM_STATE_MAXIMIZED_HORZ": &a.maxHorz,
		"_NET_CLIENT_LIST_STACKING": &a.stacking, "_NET_WM_WINDOW_TYPE_DESKTOP": &a.desktop,
		"_NET_WM_WINDOW_TYPE_DOCK": &a.dock, "WM_STATE": &a.managed,
		"MANAGER": &a.manager, "_XSETTINGS_SETTINGS": &a.xsettings,
		"_XSETTINGS_S" + strconv.Itoa(c.DefaultScreen): &a.xsettingsOwner,
		"CLIPBOARD": &a.clipboard, "TARGETS": &a.targets, "TIMESTAMP": &a.timestamp,
		"MULTIPLE": &a.multiple,
		"TEXT":     &a.text, "text/plain": &a.plain, "text/plain;charset=utf-8": &a.plainUTF8,
		"ATOM_PAIR": &a.atomPair, "_WIEBELT_TIME": &a.ticket,
		"INCR": &a.incr, "_WIEBELT_PASTE": &a.pasted,
		"WM_PROTOCOLS": &a.protocols, "WM_DELETE_WINDOW": &a.deleteWindow, "_NET_WM_PING": &a.ping,
		"_NET_ACTIVE_WINDOW":         &a.activate,
		"_NET_WM_WINDOW_TYPE_NORMAL": &a.normal, "_NET_WM_ICON": &a.icon, "_NET_WM_PID": &a.pid,
		"_GTK_THEME_VARIANT": &a.variant,
		"XdndAware":          &a.dndAware, "XdndEnter": &a.dndEnter, "XdndPosition": &a.dndPosition,
		"XdndDrop":  &a.dndDrop,
		"XdndLeave": &a.dndLeave, "XdndStatus": &a.dndStatus, "XdndFinished": &a.dndFinished,
		"XdndTypeList": &a.dndTypes, "XdndSelection": &a.dndSelection, "XdndActionCopy": &a.dndCopy,
		"text/uri-list": &a.uriList,
	})
}
