// Package desktopbus connects to the desktop's message buses but never starts one: the
// library would run dbus-launch, which leaves behind a bus that nobody else uses.
package desktopbus

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/godbus/dbus/v5"
)

// AppID is the program's name on the desktop, under which portals and
// notification services look for it: its file in the menu has this name
// followed by ".desktop", and its icon has it too.
const AppID = "wiebelt"

// CallTimeout is how long a program on a bus may take to answer a call.
const CallTimeout = time.Second

// TimedOut reports whether a program did not answer in time. The answer is then unknown: on a
// machine that has just started, a retry may succeed.
func TimedOut(err error) bool { return errors.Is(err, context.DeadlineExceeded) }

var (
	// ErrNoBus is returned if there is no such bus.
	ErrNoBus = errors.New("no message bus")
	// ErrEnded is returned when a bus ends while in use.
	ErrEnded = errors.New("the bus has ended")
)

// SessionAddress returns the address of the user's bus, "" if there is none.
func SessionAddress() string {
	if a := os.Getenv("DBUS_SESSION_BUS_ADDRESS"); a != "" {
		if strings.HasPrefix(a, "autolaunch:") || strings.HasPrefix(a, "disabled:") {
			return ""
		}
		return a
	}
	if dir := os.Getenv("XDG_RUNTIME_DIR"); dir != "" {
		p := filepath.Join(dir, "bus")
		if _, err := os.Stat(p); err == nil {
			return "unix:path=" + dbus.EscapeBusAddressValue(p)
		}
	}
	return ""
}

// Session returns a private connection to the user's bus; it ends with ctx or
// when the caller closes it.
func Session(ctx context.Context) (*dbus.Conn, error) { return Connect(ctx, SessionAddress()) }

// System returns a private connection to the machine's bus; it ends like that of Session.
func System(ctx context.Context) (*dbus.Conn, error) {
	a := os.Getenv("DBUS_SYSTEM_BUS_ADDRESS")
	if a == "" {
		const usual = "/var/run/dbus/system_bus_socket"
		if _, err := os.Stat(usual); err != nil {
			return nil, ErrNoBus
		}
		a = "unix:path=" + usual
	}
	return Connect(ctx, a)
}

// Connect returns a private connection to the bus at an address. Signals
// arrive in the order in which they were sent.
func Connect(ctx context.Context, address string) (*dbus.Conn, error) {
	if address == "" {
		return nil, ErrNoBus
	}
	c, err := dbus.Connect(address, dbus.WithContext(ctx), dbus.WithSignalHandler(dbus.NewSequentialSignalHandler()))
	if err != nil {
		return nil, fmt.Errorf("message bus: %w", err)
	}
	return c, nil
}

// Call calls a method of an object. It starts no service.
func Call(ctx context.Context, c *dbus.Conn, owner string, path dbus.ObjectPath, method string, args ...any) *dbus.Call {
	ctx, cancel := context.WithTimeout(ctx, CallTimeout)
	defer cancel()
	return c.Object(owner, path).CallWithContext(ctx, method, dbus.FlagNoAutoStart, args...)
}

// Owner returns the unique name of a name's owner, "" if there is none. It starts no
// service, and waits for the bus itself until ctx ends.
func Owner(ctx context.Context, c *dbus.Conn, name string) string {
	var owner string
	_ = c.BusObject().CallWithContext(ctx, busName+".GetNameOwner", 0, name).Store(&owner)
	return owner
}

// Get reads a property of an object. It starts no service.
func Get(ctx context.Context, c *dbus.Conn, owner string, path dbus.ObjectPath, iface, property string) (any, error) {
	var v dbus.Variant
	err := Call(ctx, c, owner, path, "org.freedesktop.DBus.Properties.Get", iface, property).Store(&v)
	return v.Value(), err
}

const busName = "org.freedesktop.DBus"

// Follower follows programs on a bus by their names.
type Follower struct {
	Names   []string
	Matches [][]dbus.MatchOption // of the signals to receive
	// OnOwner is called with the owner of a name, "" for none: at the start, after every
	// change, and when the bus ends. Ready is called after the first round, and OnSignal
	// with every other signal; any program can send those addressed to nobody in
	// particular. Query queries the state of a name's owner: after OnOwner, when OnSignal
	// requests it, and again later if its error is TimedOut. All except OnOwner may be nil.
	OnOwner  func(name, owner string)
	Ready    func()
	OnSignal func(*dbus.Signal) (ask string)
	Query    func(name string) error

	late  map[string]bool  // the names whose owners did not answer in time
	retry <-chan time.Time // when to query them again; nil if there are none
	pause time.Duration    // the delay before that
}

// firstRetry is the first delay; later ones grow, since querying holds up signals.
const firstRetry = 2 * CallTimeout

// Run follows the names until ctx ends, which is no error, or the bus does, which is ErrEnded.
func (f Follower) Run(ctx context.Context, c *dbus.Conn) error {
	f.late, f.pause = map[string]bool{}, firstRetry
	signals := make(chan *dbus.Signal, 16)
	c.Signal(signals)
	// Subscribe before asking, to receive changes in between.
	matches := f.Matches
	for _, name := range f.Names {
		matches = append(matches, []dbus.MatchOption{dbus.WithMatchSender(busName), dbus.WithMatchInterface(busName),
			dbus.WithMatchMember("NameOwnerChanged"), dbus.WithMatchArg(0, name)})
	}
	for _, m := range matches {
		if err := c.AddMatchSignalContext(ctx, m...); err != nil {
			return err
		}
	}
	for _, name := range f.Names {
		f.handleOwner(name, Owner(ctx, c, name))
	}
	if f.Ready != nil {
		f.Ready()
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-f.retry:
			f.queryLate()
		case s, more := <-signals:
			if !more {
				for _, name := range f.Names {
					f.handleOwner(name, "")
				}
				return ErrEnded
			}
			f.handleSignal(s)
		}
	}
}

func (f *Follower) handleSignal(s *dbus.Signal) {
	if s.Sender != busName || s.Name != busName+".NameOwnerChanged" {
		if f.OnSignal != nil {
			f.query(f.OnSignal(s))
		}
		return
	}
	var name, before, owner string
	if dbus.Store(s.Body, &name, &before, &owner) == nil && slices.Contains(f.Names, name) {
		f.handleOwner(name, owner)
	}
}

func (f *Follower) handleOwner(name, owner string) {
	f.OnOwner(name, owner)
	f.query(name)
}

func (f *Follower) query(name string) {
	if f.Query == nil || name == "" {
		return
	}
	if !TimedOut(f.Query(name)) {
		delete(f.late, name)
		return
	}
	if f.late[name] = true; f.retry == nil {
		f.retry = time.After(f.pause)
	}
}

// queryLate queries the names whose owners were late.
func (f *Follower) queryLate() {
	f.retry, f.pause = nil, min(2*f.pause, time.Minute)
	for name := range f.late {
		f.query(name)
	}
	if len(f.late) == 0 {
		f.pause = firstRetry
	}
}
