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

// savers are the screen savers and lockers that say on the user's bus whether
// they are active; all have the methods and the signal of the first.
var savers = []struct {
	name  string
	paths []dbus.ObjectPath
}{
	{"org.freedesktop.ScreenSaver", []dbus.ObjectPath{"/org/freedesktop/ScreenSaver", "/ScreenSaver"}},
	{"org.gnome.ScreenSaver", []dbus.ObjectPath{"/org/gnome/ScreenSaver"}},
	{"org.cinnamon.ScreenSaver", []dbus.ObjectPath{"/org/cinnamon/ScreenSaver"}},
	{"org.mate.ScreenSaver", []dbus.ObjectPath{"/org/mate/ScreenSaver"}},
	{"org.xfce.ScreenSaver", []dbus.ObjectPath{"/org/xfce/ScreenSaver"}},
}

const (
	shell         = "org.gnome.Shell"
	notifications = "org.freedesktop.Notifications"
	accessibility = "org.a11y.Bus"
	properties    = "org.freedesktop.DBus.Properties"
	dconf         = "ca.desrt.dconf.Writer"
	showBanners   = "/org/gnome/desktop/notifications/show-banners"
)

// user follows what the programs of the session say.
type user struct {
	f      *facts
	c      *dbus.Conn
	owners map[string]string // by name
}

func watchUser(ctx context.Context, f *facts, ready func()) error {
	c, err := desktopbus.Session(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	u := &user{f: f, c: c, owners: map[string]string{}}
	names := []string{shell, notifications, accessibility}
	matches := [][]dbus.MatchOption{
		{dbus.WithMatchSender(notifications), dbus.WithMatchInterface(properties), dbus.WithMatchMember("PropertiesChanged")},
		{dbus.WithMatchSender(accessibility), dbus.WithMatchInterface(properties), dbus.WithMatchMember("PropertiesChanged")},
		{dbus.WithMatchInterface(dconf), dbus.WithMatchMember("Notify")},
	}
	for _, s := range savers {
		names = append(names, s.name)
		matches = append(matches, []dbus.MatchOption{dbus.WithMatchSender(s.name), dbus.WithMatchInterface(s.name), dbus.WithMatchMember("ActiveChanged")})
	}
	return desktopbus.Follower{Names: names, Matches: matches, Ready: ready,
		Owned: func(name, owner string) { u.owned(ctx, name, owner) },
		Heard: func(s *dbus.Signal) { u.heard(ctx, s) },
	}.Run(ctx, c)
}

// owned notes who owns a name and asks him what holds.
func (u *user) owned(ctx context.Context, name, owner string) {
	u.owners[name] = owner
	switch name {
	case shell:
		u.banners(ctx)
	case notifications:
		u.inhibited(ctx)
	case accessibility:
		u.reader(ctx)
	default:
		active, known := u.active(ctx, name, owner)
		u.f.say(func(f *facts) {
			if known {
				f.savers[name] = active
			} else {
				delete(f.savers, name)
			}
		})
	}
}

// heard acts on a signal. What is said in the name of a program counts only
// from its owner: any program can send a signal straight to us.
func (u *user) heard(ctx context.Context, s *dbus.Signal) {
	if name, ok := strings.CutSuffix(s.Name, ".ActiveChanged"); ok {
		if u.owners[name] == "" || u.owners[name] != s.Sender || len(s.Body) != 1 {
			return
		}
		if active, ok := s.Body[0].(bool); ok {
			u.f.say(func(f *facts) { f.savers[name] = active })
		}
		return
	}
	switch s.Name {
	case properties + ".PropertiesChanged":
		switch s.Sender {
		case u.owners[notifications]:
			u.inhibited(ctx)
		case u.owners[accessibility]:
			u.reader(ctx)
		}
	case dconf + ".Notify":
		if touches(s.Body, showBanners) {
			u.banners(ctx)
		}
	}
}

// active asks a screen saver.
func (u *user) active(ctx context.Context, name, owner string) (active, known bool) {
	if owner == "" {
		return false, false
	}
	for _, s := range savers {
		if s.name != name {
			continue
		}
		for _, path := range s.paths {
			if desktopbus.Call(ctx, u.c, owner, path, name+".GetActive").Store(&active) == nil {
				return active, true
			}
		}
	}
	return false, false
}

// inhibited asks the notification service; only KDE's has the property.
func (u *user) inhibited(ctx context.Context) {
	on := false
	if owner := u.owners[notifications]; owner != "" {
		v, err := desktopbus.Get(ctx, u.c, owner, "/org/freedesktop/Notifications", notifications, "Inhibited")
		on, _ = v.(bool)
		on = on && err == nil
	}
	u.f.say(func(f *facts) { f.inhibited = on })
}

// reader asks whether somebody wants to know what is on screen: a screen reader says
// so when it starts.
func (u *user) reader(ctx context.Context) {
	on := false
	for _, name := range []string{"IsEnabled", "ScreenReaderEnabled"} {
		if owner := u.owners[accessibility]; owner != "" {
			v, _ := desktopbus.Get(ctx, u.c, owner, "/org/a11y/bus", "org.a11y.Status", name)
			yes, _ := v.(bool)
			on = on || yes
		}
	}
	u.f.say(func(f *facts) { f.reader = on })
}

// banners asks GNOME whether notifications are shown: "Do not disturb" is this
// setting turned off. Settings can be read only through GNOME's own program;
// that one has changed is told on the bus.
func (u *user) banners(ctx context.Context) {
	off := false
	if u.owners[shell] != "" {
		ctx, cancel := context.WithTimeout(ctx, 2*desktopbus.Patience)
		defer cancel()
		out, err := exec.CommandContext(ctx, "gsettings", "get", "org.gnome.desktop.notifications", "show-banners").Output()
		off = err == nil && strings.TrimSpace(string(out)) == "false"
	}
	u.f.say(func(f *facts) { f.bannersOff = off })
}

// touches reports whether a notice of dconf (a prefix and what follows it,
// where a path that ends in "/" means all below) is about a key.
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

// machine follows what logind says of our session.
type machine struct {
	f     *facts
	c     *dbus.Conn
	owner string
	path  dbus.ObjectPath
}

func watchMachine(ctx context.Context, f *facts, ready func()) error {
	c, err := desktopbus.System(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	m := &machine{f: f, c: c}
	return desktopbus.Follower{
		Names: []string{login},
		Matches: [][]dbus.MatchOption{{dbus.WithMatchSender(login), dbus.WithMatchInterface(properties),
			dbus.WithMatchMember("PropertiesChanged"), dbus.WithMatchArg(0, loginSession)}},
		Owned: func(_, owner string) { m.owned(ctx, owner) },
		Ready: ready,
		Heard: func(s *dbus.Signal) {
			if s.Sender == m.owner && s.Path == m.path {
				m.read(ctx)
			}
		},
	}.Run(ctx, c)
}

func (m *machine) owned(ctx context.Context, owner string) {
	m.owner, m.path = owner, ""
	if owner != "" {
		m.path = m.session(ctx)
	}
	m.read(ctx)
}

// session finds our session: by its id, by our process, or, for a program that
// the user's service manager has started, the one on the user's screen.
func (m *machine) session(ctx context.Context) dbus.ObjectPath {
	var path dbus.ObjectPath
	found := func(method string, arg any) bool {
		return desktopbus.Call(ctx, m.c, m.owner, loginPath, loginManager+method, arg).Store(&path) == nil
	}
	if id := os.Getenv("XDG_SESSION_ID"); id != "" && found(".GetSession", id) || found(".GetSessionByPID", uint32(os.Getpid())) {
		return path
	}
	if !found(".GetUser", uint32(os.Getuid())) {
		return ""
	}
	v, err := desktopbus.Get(ctx, m.c, m.owner, path, loginUser, "Display")
	if pair, ok := v.([]any); ok && err == nil && len(pair) == 2 {
		path, _ = pair[1].(dbus.ObjectPath)
		if path != "/" {
			return path
		}
	}
	return ""
}

// read asks for what matters of our session.
func (m *machine) read(ctx context.Context) {
	var locked, known bool
	if m.path != "" {
		v, err := desktopbus.Get(ctx, m.c, m.owner, m.path, loginSession, "LockedHint")
		locked, known = v.(bool)
		known = known && err == nil
	}
	m.f.say(func(f *facts) { f.logind, f.hint = known, locked && known })
}
