package screenreader

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
	"go.uber.org/goleak"

	"wiebelt/internal/native/desktopbus"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/xtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// launcher tells where the accessibility bus is.
type launcher struct{ address string }

func (l launcher) GetAddress() (string, *dbus.Error) { return l.address, nil }

func connect(t *testing.T, address string) *dbus.Conn {
	t.Helper()
	c := must.Get(desktopbus.Connect(context.Background(), address))(t)
	t.Cleanup(func() { c.Close() })
	return c
}

// run runs an announcer until the test ends.
func run(t *testing.T) *Announcer {
	t.Helper()
	a := New()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { a.Run(ctx); close(done) }()
	t.Cleanup(func() { cancel(); <-done })
	return a
}

// TestAnnounced: with the real registry of accessible programs, whoever asked for
// announcements gets the text; as long as nobody has, nothing is sent and we are
// no accessible program.
func TestAnnounced(t *testing.T) {
	s := xtest.Start(t, "", xtest.Options{})
	accessible := s.PlainBus()
	session := s.PlainBus()
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", session)
	c := connect(t, session)
	must.Do(t, c.Export(launcher{accessible}, busPath, busName))
	if r, err := c.RequestName(busName, dbus.NameFlagDoNotQueue); err != nil || r != dbus.RequestNameReplyPrimaryOwner {
		t.Fatal(r, err)
	}
	s.Spawn("env", "AT_SPI_BUS_ADDRESS="+accessible, "DBUS_SESSION_BUS_ADDRESS="+accessible, "/usr/libexec/at-spi2-registryd")
	ears := connect(t, accessible)
	s.Until("the registry is there", func() bool { return desktopbus.Owner(t.Context(), ears, registry) != "" })
	heard := make(chan *dbus.Signal, 100)
	ears.Signal(heard)
	must.Do(t, ears.AddMatchSignal(dbus.WithMatchInterface(iface+"Event.Object"), dbus.WithMatchMember("Announcement")))
	programs := func() (all []reference) {
		t.Helper()
		must.Do(t, ears.Object(registry, root).Call(iface+"Accessible.GetChildren", 0).Store(&all))
		return all
	}
	early := New()
	early.say(t.Context(), "niemand luistert")
	if all := programs(); len(all) != 0 || early.conn == nil {
		t.Errorf("nobody asked, and the desktop's programs are %v", all)
	}
	early.drop()
	a := run(t)

	desk := ears.Object(registry, folder+"registry")
	if err := desk.Call(iface+"Registry.RegisterEvent", 0, "object:announcement", []string{}, "").Err; err != nil {
		t.Fatal(err)
	}
	const text = "Inkomend op Schade: J. de Vries, 06 12 34 56 78"
	a.Say(text)
	var got *dbus.Signal
	select {
	case got = <-heard:
	case <-time.After(xtest.Patience):
		t.Fatal("nothing was announced")
	}
	if got.Name != iface+"Event.Object.Announcement" || len(got.Body) != 5 || got.Body[3].(dbus.Variant).Value() != text {
		t.Fatalf("heard %+v", got)
	}
	all := programs()
	if len(all) != 1 || all[0].Name != got.Sender {
		t.Fatalf("the desktop's programs are %v, said by %s", all, got.Sender)
	}
	// What a screen reader asks back before it speaks.
	source := ears.Object(got.Sender, got.Path)
	var role uint32
	var app reference
	if err := source.Call(iface+"Accessible.GetRole", 0).Store(&role); err != nil || role != roleAlert {
		t.Error(role, err)
	}
	if err := source.Call(iface+"Accessible.GetApplication", 0).Store(&app); err != nil || app != all[0] {
		t.Error(app, err)
	}
	var name dbus.Variant
	if err := ears.Object(app.Name, app.Path).Call("org.freedesktop.DBus.Properties.Get", 0, iface+"Accessible", "Name").Store(&name); err != nil || name.Value() != "Wiebelt" {
		t.Error(name, err)
	}
	a.Say(strings.Repeat("é", 2*maxText))
	got = <-heard
	if n := len([]rune(got.Body[3].(dbus.Variant).Value().(string))); n != maxText {
		t.Errorf("%d characters", n)
	}
	if len(programs()) != 1 {
		t.Error("registered once more")
	}
}

// TestNobodyThere: without any bus nothing happens and nobody waits.
func TestNobodyThere(t *testing.T) {
	for _, address := range []string{"disabled:", "unix:path=/nowhere/at/all"} {
		t.Setenv("DBUS_SESSION_BUS_ADDRESS", address)
		a := run(t)
		for range 100 {
			a.Say("hallo")
		}
	}
}
