package xtest

import (
	"testing"

	"github.com/godbus/dbus/v5"

	"wiebelt/internal/testutil/must"
)

// SignalAll sends a signal straight to everybody on a bus, as any program may: what
// matches were asked for does not hold it back.
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
