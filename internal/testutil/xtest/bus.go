package xtest

import (
	"sync/atomic"
	"testing"

	"github.com/godbus/dbus/v5"

	"wiebelt/internal/testutil/must"
)

// Connect opens a connection to a bus, with names of its own, until the test ends.
func Connect(t testing.TB, address string, names ...string) *dbus.Conn {
	t.Helper()
	c := must.Get(dbus.Connect(address, dbus.WithSignalHandler(dbus.NewSequentialSignalHandler())))(t)
	t.Cleanup(func() { c.Close() })
	Own(t, c, names...)
	return c
}

// Own gives a connection names on its bus.
func Own(t testing.TB, c *dbus.Conn, names ...string) {
	t.Helper()
	for _, name := range names {
		if r := must.Get(c.RequestName(name, dbus.NameFlagDoNotQueue))(t); r != dbus.RequestNameReplyPrimaryOwner {
			t.Fatalf("xtest: %s has another owner", name)
		}
	}
}

// AtFirst imitates a program that is busy at first: the first call of wait blocks until
// the second, when the question is repeated.
func AtFirst() (wait func()) {
	var asked atomic.Int32
	again := make(chan struct{})
	return func() {
		switch asked.Add(1) {
		case 1:
			<-again
		case 2:
			close(again)
		}
	}
}

// SignalAll sends a signal directly to everybody on a bus, as any
// program may, regardless of their match rules.
func SignalAll(t testing.TB, c *dbus.Conn, path dbus.ObjectPath, iface, member string, args ...any) {
	t.Helper()
	var all []string
	must.Do(t, c.BusObject().Call("org.freedesktop.DBus.ListNames", 0).Store(&all))
	for _, to := range all {
		if to[0] != ':' {
			continue
		}
		m := &dbus.Message{Type: dbus.TypeSignal, Headers: map[dbus.HeaderField]dbus.Variant{
			dbus.FieldPath:        dbus.MakeVariant(path),
			dbus.FieldInterface:   dbus.MakeVariant(iface),
			dbus.FieldMember:      dbus.MakeVariant(member),
			dbus.FieldDestination: dbus.MakeVariant(to),
			dbus.FieldSignature:   dbus.MakeVariant(dbus.SignatureOf(args...)),
		}, Body: args}
		c.Send(m, nil)
	}
}
