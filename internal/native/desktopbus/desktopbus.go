//go:build linux

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

// Patience is how long a program on a bus may take to answer a question.
const Patience = time.Second

// Late reports whether a program did not answer in time. That is neither yes nor no: on a
// machine that has just started it may answer when it is asked again.
func Late(err error) bool { return errors.Is(err, context.DeadlineExceeded) }

var (
	// ErrNone is returned where there is no such bus.
	ErrNone = errors.New("no message bus")
	// ErrEnded is returned when a bus goes while it is listened to.
	ErrEnded = errors.New("the bus has ended")
)

// SessionAddress is where the user's bus is, "" if there is none.
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

// Session makes a connection of the caller's own to the user's bus; it ends
// with ctx or when the caller closes it.
func Session(ctx context.Context) (*dbus.Conn, error) { return Connect(ctx, SessionAddress()) }

// System makes one to the machine's bus.
func System(ctx context.Context) (*dbus.Conn, error) {
	a := os.Getenv("DBUS_SYSTEM_BUS_ADDRESS")
	if a == "" {
		const usual = "/var/run/dbus/system_bus_socket"
		if _, err := os.Stat(usual); err != nil {
			return nil, ErrNone
		}
		a = "unix:path=" + usual
	}
	return Connect(ctx, a)
}

// Connect makes one to the bus at an address. Signals come in the order in
// which they were sent.
func Connect(ctx context.Context, address string) (*dbus.Conn, error) {
	if address == "" {
		return nil, ErrNone
	}
	c, err := dbus.Connect(address, dbus.WithContext(ctx), dbus.WithSignalHandler(dbus.NewSequentialSignalHandler()))
	if err != nil {
		return nil, fmt.Errorf("message bus: %w", err)
	}
	return c, nil
}

// Call calls a method of an object. It starts nobody.
func Call(ctx context.Context, c *dbus.Conn, owner string, path dbus.ObjectPath, method string, args ...any) *dbus.Call {
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	return c.Object(owner, path).CallWithContext(ctx, method, dbus.FlagNoAutoStart, args...)
}

// Owner is the unique name of who owns a name, "" if nobody does. It starts nobody, and
// waits for the bus itself as long as ctx lasts.
func Owner(ctx context.Context, c *dbus.Conn, name string) string {
	var owner string
	_ = c.BusObject().CallWithContext(ctx, busName+".GetNameOwner", 0, name).Store(&owner)
	return owner
}

// Get reads a property of an object. It starts nobody.
func Get(ctx context.Context, c *dbus.Conn, owner string, path dbus.ObjectPath, iface, property string) (any, error) {
	var v dbus.Variant
	err := Call(ctx, c, owner, path, "org.freedesktop.DBus.Properties.Get", iface, property).Store(&v)
	return v.Value(), err
}

const busName = "org.freedesktop.DBus"

// Follower follows programs on a bus by their names.
type Follower struct {
	Names   []string
	Matches [][]dbus.MatchOption // of the signals that are heard
	// Owned is called with who has one of the names, "" for nobody: at first, when that
	// changes, and when the bus ends. Ready is called in between, and Heard with each other
	// signal; any program can send those that are for nobody else. Ask asks what holds of
	// who has a name: after Owned, when Heard wants that, and again later where the answer
	// is Late. All but Owned may be nil.
	Owned func(name, owner string)
	Ready func()
	Heard func(*dbus.Signal) (ask string)
	Ask   func(name string) error
}

// following is a Follower at work.
type following struct {
	Follower
	late  map[string]bool  // the names of those who did not answer in time
	again <-chan time.Time // when they are asked again; nil without any
	pause time.Duration    // before that
}

// soon is the first pause; the next ones grow, since asking keeps signals waiting.
const soon = 2 * Patience

// Run follows until ctx ends, which is no error, or the bus does: ErrEnded.
func (follower Follower) Run(ctx context.Context, c *dbus.Conn) error {
	f := &following{Follower: follower, late: map[string]bool{}, pause: soon}
	signals := make(chan *dbus.Signal, 16)
	c.Signal(signals)
	// Listen first, ask then: what changes in between is heard.
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
		f.owned(name, Owner(ctx, c, name))
	}
	if f.Ready != nil {
		f.Ready()
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-f.again:
			f.askAgain()
		case s, more := <-signals:
			if !more {
				for _, name := range f.Names {
					f.owned(name, "")
				}
				return ErrEnded
			}
			f.heard(s)
		}
	}
}

func (f *following) heard(s *dbus.Signal) {
	if s.Sender != busName || s.Name != busName+".NameOwnerChanged" {
		if f.Heard != nil {
			f.ask(f.Heard(s))
		}
		return
	}
	var name, before, owner string
	if dbus.Store(s.Body, &name, &before, &owner) == nil && slices.Contains(f.Names, name) {
		f.owned(name, owner)
	}
}

func (f *following) owned(name, owner string) {
	f.Owned(name, owner)
	f.ask(name)
}

func (f *following) ask(name string) {
	if f.Ask == nil || name == "" {
		return
	}
	if !Late(f.Ask(name)) {
		delete(f.late, name)
		return
	}
	if f.late[name] = true; f.again == nil {
		f.again = time.After(f.pause)
	}
}

// askAgain asks those who were late.
func (f *following) askAgain() {
	f.again, f.pause = nil, min(2*f.pause, time.Minute)
	for name := range f.late {
		f.ask(name)
	}
	if len(f.late) == 0 {
		f.pause = soon
	}
}
