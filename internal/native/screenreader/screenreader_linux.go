package screenreader

import (
	"context"
	"slices"
	"strings"

	"github.com/godbus/dbus/v5"

	"wiebelt/internal/native/desktopbus"
)

// Names of AT-SPI (at-spi2-core, its xml folder).
const (
	busName  = "org.a11y.Bus"
	busPath  = dbus.ObjectPath("/org/a11y/bus")
	registry = "org.a11y.atspi.Registry"
	iface    = "org.a11y.atspi."
	folder   = "/org/a11y/atspi/"
	root     = dbus.ObjectPath(folder + "accessible/root")
	card     = dbus.ObjectPath(folder + "accessible/card")
	null     = dbus.ObjectPath(folder + "null")
)

// Roles and states as AT-SPI counts them.
const (
	roleAlert, roleApplication = uint32(2), uint32(75)
	seen                       = uint32(1<<8 | 1<<24 | 1<<25 | 1<<30) // enabled, sensitive, showing, visible
	assertive                  = int32(2)
)

// maxText is how much is said, in characters.
const maxText = 500

// reference names an accessible object on the bus.
type reference struct {
	Name string
	Path dbus.ObjectPath
}

// Announcer says what it is told to. One goroutine, Run, owns the connection.
type Announcer struct {
	next chan string

	conn    *dbus.Conn
	desktop reference // the parent that the registry gave us
}

// New makes one. It says nothing before Run.
func New() *Announcer { return &Announcer{next: make(chan string, 1)} }

// Say has text said and returns at once; of several that wait the last one is
// said. It may be called from one goroutine.
func (a *Announcer) Say(text string) {
	select {
	case <-a.next:
	default:
	}
	r := []rune(text)
	a.next <- string(r[:min(len(r), maxText)])
}

// Run says what there is to say until ctx ends. A desktop without screen reader
// costs one question a call.
func (a *Announcer) Run(ctx context.Context) {
	defer a.drop()
	for {
		select {
		case <-ctx.Done():
			return
		case text := <-a.next:
			a.say(ctx, text)
		}
	}
}

func (a *Announcer) say(ctx context.Context, text string) {
	ctx, cancel := context.WithTimeout(ctx, 3*desktopbus.Patience)
	defer cancel()
	if a.conn != nil && !a.conn.Connected() {
		a.drop()
	}
	if a.conn == nil && !a.connect(ctx) || !a.wanted(ctx) {
		return
	}
	if a.desktop.Name == "" && !a.embed(ctx) {
		return
	}
	_ = a.conn.Emit(card, iface+"Event.Object.Announcement", "", assertive, int32(0), dbus.MakeVariant(text), a.own(root))
}

// connect opens the accessibility bus, if there is one; none is started.
func (a *Announcer) connect(ctx context.Context) bool {
	session, err := desktopbus.Session(ctx)
	if err != nil {
		return false
	}
	defer session.Close()
	var address string
	err = session.Object(busName, busPath).CallWithContext(ctx, busName+".GetAddress", dbus.FlagNoAutoStart).Store(&address)
	if err != nil || address == "" {
		return false
	}
	// Not for the time of one announcement: screen readers ask back later.
	c, err := desktopbus.Connect(context.Background(), address)
	if err != nil {
		return false
	}
	a.conn = c
	for _, o := range []object{{a, root, card, "Wiebelt", roleApplication}, {a, card, "", "Wiebelt", roleAlert}} {
		if o.export() != nil {
			a.drop()
			return false
		}
	}
	return true
}

func (a *Announcer) drop() {
	if a.conn != nil {
		a.conn.Close()
	}
	a.conn, a.desktop = nil, reference{}
}

// wanted reports whether anybody has asked for announcements.
func (a *Announcer) wanted(ctx context.Context) bool {
	var all []struct{ Bus, Event string }
	err := a.conn.Object(registry, folder+"registry").CallWithContext(ctx, iface+"Registry.GetRegisteredEvents", dbus.FlagNoAutoStart).Store(&all)
	return err == nil && slices.ContainsFunc(all, func(e struct{ Bus, Event string }) bool {
		name := strings.ToLower(e.Event)
		return strings.HasPrefix(name, "object:announcement") || strings.Trim(name, ":*") == "object"
	})
}

// embed makes us one of the desktop's programs: of others no events are heard.
func (a *Announcer) embed(ctx context.Context) bool {
	return a.conn.Object(registry, root).CallWithContext(ctx, iface+"Socket.Embed", dbus.FlagNoAutoStart, a.own(root)).Store(&a.desktop) == nil
}

func (a *Announcer) own(p dbus.ObjectPath) reference { return reference{a.conn.Names()[0], p} }

// object is what screen readers may ask of one of our two objects: the program,
// and the card in it.
type object struct {
	a     *Announcer
	path  dbus.ObjectPath
	child dbus.ObjectPath // "" for none
	name  string
	role  uint32
}

func (o object) export() error {
	children := []reference{}
	if o.child != "" {
		children = append(children, o.a.own(o.child))
	}
	nobody, app := reference{"", null}, o.a.own(root)
	parent := nobody
	if o.path != root {
		parent = app
	}
	values := map[string]any{"Name": o.name, "Description": "", "Parent": parent, "ChildCount": int32(len(children)),
		"Locale": "", "AccessibleId": "", "ToolkitName": "Wiebelt", "Version": "1", "AtspiVersion": "2.1", "Id": int32(0)}
	get := func(_, name string) (dbus.Variant, *dbus.Error) {
		v, ok := values[name]
		if !ok {
			return dbus.Variant{}, dbus.NewError("org.freedesktop.DBus.Error.UnknownProperty", nil)
		}
		return dbus.MakeVariant(v), nil
	}
	all := func(string) (map[string]dbus.Variant, *dbus.Error) {
		out := map[string]dbus.Variant{}
		for k, v := range values {
			out[k] = dbus.MakeVariant(v)
		}
		return out, nil
	}
	set := func(string, string, dbus.Variant) *dbus.Error { return nil } // the registry numbers its programs
	roleName := func() (string, *dbus.Error) {
		return map[uint32]string{roleAlert: "alert", roleApplication: "application"}[o.role], nil
	}
	at := func(i int32) (reference, *dbus.Error) {
		if i < 0 || int(i) >= len(children) {
			return nobody, nil
		}
		return children[i], nil
	}
	methods := map[string]any{
		"GetChildAtIndex": at, "GetChildren": func() ([]reference, *dbus.Error) { return children, nil },
		"GetIndexInParent": func() (int32, *dbus.Error) { return 0, nil },
		"GetRole":          func() (uint32, *dbus.Error) { return o.role, nil },
		"GetRoleName":      roleName, "GetLocalizedRoleName": roleName,
		"GetState":       func() ([]uint32, *dbus.Error) { return []uint32{seen, 0}, nil },
		"GetAttributes":  func() (map[string]string, *dbus.Error) { return map[string]string{}, nil },
		"GetApplication": func() (reference, *dbus.Error) { return app, nil },
		"GetInterfaces":  func() ([]string, *dbus.Error) { return []string{iface + "Accessible"}, nil },
	}
	for name, table := range map[string]map[string]any{
		iface + "Accessible":              methods,
		iface + "Application":             {"GetLocale": func(uint32) (string, *dbus.Error) { return "", nil }},
		"org.freedesktop.DBus.Properties": {"Get": get, "GetAll": all, "Set": set},
	} {
		if err := o.a.conn.ExportMethodTable(table, o.path, name); err != nil {
			return err
		}
	}
	return nil
}
