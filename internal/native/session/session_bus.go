//go:build linux

package session

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/godbus/dbus/v5"

	"wiebelt/internal/native/desktopbus"
)

// savers has the screen savers and lockers that report on the user's bus whether they are
// active, with their paths. All have the same methods and signal as the first.
var savers = map[string][]dbus.ObjectPath{
	"org.freedesktop.ScreenSaver": {"/org/freedesktop/ScreenSaver", "/ScreenSaver"},
	"org.gnome.ScreenSaver":       {"/org/gnome/ScreenSaver"},
	"org.cinnamon.ScreenSaver":    {"/org/cinnamon/ScreenSaver"},
	"org.mate.ScreenSaver":        {"/org/mate/ScreenSaver"},
	"org.xfce.ScreenSaver":        {"/org/xfce/ScreenSaver"},
}

const (
	shell         = "org.gnome.Shell"
	notifications = "org.freedesktop.Notifications"
	accessibility = "org.a11y.Bus"
	properties    = "org.freedesktop.DBus.Properties"
	dconf         = "ca.desrt.dconf.Writer"
	showBanners   = "/org/gnome/desktop/notifications/show-banners"
)

type userBus struct {
	f      *sourceStates
	c      *dbus.Conn
	owners map[string]string // by name
}

func watchUser(ctx context.Context, f *sourceStates, ready func()) error {
	c, err := desktopbus.Session(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	u := &userBus{f: f, c: c, owners: map[string]string{}}
	names := []string{shell, notifications, accessibility}
	matches := [][]dbus.MatchOption{
		{dbus.WithMatchSender(notifications), dbus.WithMatchInterface(properties), dbus.WithMatchMember("PropertiesChanged")},
		{dbus.WithMatchSender(accessibility), dbus.WithMatchInterface(properties), dbus.WithMatchMember("PropertiesChanged")},
		{dbus.WithMatchInterface(dconf), dbus.WithMatchMember("Notify")},
	}
	for name := range savers {
		names = append(names, name)
		matches = append(matches, []dbus.MatchOption{dbus.WithMatchSender(name), dbus.WithMatchInterface(name), dbus.WithMatchMember("ActiveChanged")})
	}
	return desktopbus.Follower{Names: names, Matches: matches, Ready: ready,
		OnOwner:  func(name, owner string) { u.owners[name] = owner },
		Query:    func(name string) error { return u.query(ctx, name) },
		OnSignal: u.handleSignal,
	}.Run(ctx, c)
}

// query queries the state of a name's owner. A late answer changes nothing.
func (u *userBus) query(ctx context.Context, name string) error {
	switch name {
	case shell:
		return u.queryBanners(ctx)
	case notifications: // only KDE's has the property
		return u.queryBool(ctx, &u.f.inhibited, name, "/org/freedesktop/Notifications", notifications, "Inhibited")
	case accessibility: // screen readers set these properties when they start
		return u.queryBool(ctx, &u.f.reader, name, "/org/a11y/bus", "org.a11y.Status", "IsEnabled", "ScreenReaderEnabled")
	}
	return u.querySaver(ctx, name)
}

// handleSignal handles a signal, and returns the name to query for the new
// state. It ignores signals that do not come from the name's owner: any
// program can send a signal directly to us.
func (u *userBus) handleSignal(s *dbus.Signal) (ask string) {
	if name, ok := strings.CutSuffix(s.Name, ".ActiveChanged"); ok {
		if u.owners[name] == "" || u.owners[name] != s.Sender || len(s.Body) != 1 {
			return ""
		}
		if active, ok := s.Body[0].(bool); ok {
			u.f.update(func(f *sourceStates) { f.savers[name] = active })
		}
		return ""
	}
	switch s.Name {
	case properties + ".PropertiesChanged":
		switch s.Sender {
		case u.owners[notifications]:
			return notifications
		case u.owners[accessibility]:
			return accessibility
		}
	case dconf + ".Notify":
		if touches(s.Body, showBanners) {
			return shell
		}
	}
	return ""
}

func (u *userBus) querySaver(ctx context.Context, name string) error {
	owner, known, active := u.owners[name], false, false
	for _, path := range savers[name] {
		if owner == "" || known {
			break
		}
		err := desktopbus.Call(ctx, u.c, owner, path, name+".GetActive").Store(&active)
		if desktopbus.TimedOut(err) {
			return err
		}
		known = err == nil
	}
	u.f.update(func(f *sourceStates) {
		if known {
			f.savers[name] = active
		} else {
			delete(f.savers, name)
		}
	})
	return nil
}

// queryBool sets a fact: whether one of a program's properties is true.
func (u *userBus) queryBool(ctx context.Context, fact *bool, name string, path dbus.ObjectPath, iface string, properties ...string) error {
	on := false
	for _, property := range properties {
		if owner := u.owners[name]; owner != "" && !on {
			v, err := desktopbus.Get(ctx, u.c, owner, path, iface, property)
			if desktopbus.TimedOut(err) {
				return err
			}
			on, _ = v.(bool)
		}
	}
	u.f.update(func(*sourceStates) { *fact = on })
	return nil
}

// queryBanners queries GNOME's notification setting, which its do-not-disturb
// mode turns off. Settings can be read only through GNOME's own program,
// but their changes are reported on the bus.
func (u *userBus) queryBanners(ctx context.Context) error {
	off := false
	if u.owners[shell] != "" {
		ctx, cancel := context.WithTimeout(ctx, 2*desktopbus.CallTimeout)
		defer cancel()
		out, err := exec.CommandContext(ctx, "gsettings", "get", "org.gnome.desktop.notifications", "show-banners").Output()
		if desktopbus.TimedOut(ctx.Err()) {
			return ctx.Err()
		}
		off = err == nil && strings.TrimSpace(string(out)) == "false"
	}
	u.f.update(func(f *sourceStates) { f.bannersOff = off })
	return nil
}

// touches reports whether a dconf notification (a prefix and the rest of the path, where a
// path ending in "/" means everything below) is about a key.
func touches(body []any, key string) bool {
	if len(body) < 2 {
		return false
	}
	prefix, _ := body[0].(string)
	changes, _ := body[1].([]string)
	return slices.ContainsFunc(changes, func(c string) bool {
		path := prefix + c
		return path == key || strings.HasSuffix(path, "/") && strings.HasPrefix(key, path)
	})
}

const (
	login        = "org.freedesktop.login1"
	loginManager = login + ".Manager"
	loginSession = login + ".Session"
	loginUser    = login + ".User"
	loginPath    = dbus.ObjectPath("/org/freedesktop/login1")
)

// machineBus follows our session on the machine's bus, in logind.
type machineBus struct {
	f     *sourceStates
	c     *dbus.Conn
	owner string
	path  dbus.ObjectPath // "" while it is not known
}

func watchMachine(ctx context.Context, f *sourceStates, ready func()) error {
	c, err := desktopbus.System(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	m := &machineBus{f: f, c: c}
	return desktopbus.Follower{
		Names: []string{login},
		Matches: [][]dbus.MatchOption{{dbus.WithMatchSender(login), dbus.WithMatchInterface(properties),
			dbus.WithMatchMember("PropertiesChanged"), dbus.WithMatchArg(0, loginSession)}},
		OnOwner: func(_, owner string) { m.owner, m.path = owner, "" },
		Ready:   ready,
		Query:   func(string) error { return m.read(ctx) },
		OnSignal: func(s *dbus.Signal) string {
			if s.Sender == m.owner && (s.Path == m.path || m.path == "") {
				return login
			}
			return ""
		},
	}.Run(ctx, c)
}

// find asks logind's manager for an object.
func (m *machineBus) find(ctx context.Context, method string, arg any) (path dbus.ObjectPath, err error) {
	err = desktopbus.Call(ctx, m.c, m.owner, loginPath, loginManager+method, arg).Store(&path)
	return path, err
}

// session finds our session: by its ID, by our process, or, for a program started by the
// user's service manager, the one on the user's screen. It stops querying after a late answer.
func (m *machineBus) session(ctx context.Context) (path dbus.ObjectPath, err error) {
	if id := os.Getenv("XDG_SESSION_ID"); id != "" {
		if path, err = m.find(ctx, ".GetSession", id); err == nil || desktopbus.TimedOut(err) {
			return path, err
		}
	}
	if path, err = m.find(ctx, ".GetSessionByPID", uint32(os.Getpid())); err == nil || desktopbus.TimedOut(err) {
		return path, err
	}
	return m.onScreen(ctx)
}

// onScreen returns the session on the user's screen, or "" if there is none.
func (m *machineBus) onScreen(ctx context.Context) (path dbus.ObjectPath, err error) {
	if path, err = m.find(ctx, ".GetUser", uint32(os.Getuid())); err != nil {
		return "", err
	}
	v, err := desktopbus.Get(ctx, m.c, m.owner, path, loginUser, "Display")
	if pair, ok := v.([]any); ok && err == nil && len(pair) == 2 {
		path, _ = pair[1].(dbus.ObjectPath)
		if path != "/" {
			return path, nil
		}
	}
	return "", err
}

// read queries the state of our session. A late answer changes nothing.
func (m *machineBus) read(ctx context.Context) (err error) {
	if m.path == "" && m.owner != "" {
		m.path, err = m.session(ctx)
	}
	var v any
	if m.path != "" {
		v, err = desktopbus.Get(ctx, m.c, m.owner, m.path, loginSession, "LockedHint")
	}
	if desktopbus.TimedOut(err) {
		return err
	}
	locked, known := v.(bool)
	m.f.update(func(f *sourceStates) { f.logind, f.lockedHint = known, locked })
	return nil
}

// AtScreen reports whether this user is logged on at a screen, according to logind. It is for
// a program that is started by monitoring and has no screen itself.
func AtScreen(ctx context.Context) bool {
	c, err := desktopbus.System(ctx)
	if err != nil {
		return false
	}
	defer c.Close()
	m := &machineBus{c: c, owner: login}
	path, err := m.onScreen(ctx)
	if err != nil || path == "" {
		return false
	}
	kind, err := desktopbus.Get(ctx, c, login, path, loginSession, "Type")
	return err == nil && (kind == "x11" || kind == "wayland")
}
