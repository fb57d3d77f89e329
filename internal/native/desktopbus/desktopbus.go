//go:build linux

package desktopbus

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/godbus/dbus/v5"
)

// Patience is how long a program on a bus may take to answer a question.
const Patience = time.Second

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

// Owner is the unique name of who owns a name, "" if nobody does. It starts
// nobody.
func Owner(ctx context.Context, c *dbus.Conn, name string) string {
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	var owner string
	if c.BusObject().CallWithContext(ctx, "org.freedesktop.DBus.GetNameOwner", 0, name).Store(&owner) != nil {
		return ""
	}
	return owner
}

// Get reads a property of an object. It starts nobody.
func Get(ctx context.Context, c *dbus.Conn, owner string, path dbus.ObjectPath, iface, property string) (any, error) {
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	var v dbus.Variant
	err := c.Object(owner, path).CallWithContext(ctx, "org.freedesktop.DBus.Properties.Get", dbus.FlagNoAutoStart, iface, property).Store(&v)
	return v.Value(), err
}

// FollowOwner has the bus tell when a name gets another owner; OwnerChange
// reads what it tells.
func FollowOwner(ctx context.Context, c *dbus.Conn, name string) error {
	return c.AddMatchSignalContext(ctx, dbus.WithMatchSender(busName), dbus.WithMatchInterface(busName),
		dbus.WithMatchMember("NameOwnerChanged"), dbus.WithMatchArg(0, name))
}

const busName = "org.freedesktop.DBus"

// OwnerChange reports which name has which owner from now on, "" for none.
func OwnerChange(s *dbus.Signal) (name, owner string, ok bool) {
	if s.Sender != busName || s.Name != busName+".NameOwnerChanged" || len(s.Body) != 3 {
		return "", "", false
	}
	name, ok1 := s.Body[0].(string)
	owner, ok2 := s.Body[2].(string)
	return name, owner, ok1 && ok2
}

// Listen gives heard one signal after another until ctx ends, which is no
// error, or the bus does: ErrEnded.
func Listen(ctx context.Context, signals <-chan *dbus.Signal, heard func(*dbus.Signal)) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case s, more := <-signals:
			if !more {
				return ErrEnded
			}
			heard(s)
		}
	}
}
