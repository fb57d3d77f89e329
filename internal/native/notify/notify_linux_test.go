package notify

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"wiebelt/internal/native/desktopbus"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/xtest"
	"wiebelt/internal/text"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func serve(t *testing.T, address string, can ...string) *xtest.Notices {
	t.Helper()
	return xtest.ServeNotices(t, xtest.Connect(t, address), can...)
}

func open(t *testing.T, address string) (*Notifier, chan string) {
	t.Helper()
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", address)
	chosen := make(chan string, 100)
	n := must.Get(Open(context.Background(), func(tag, action string) { chosen <- tag + " " + action }))(t)
	t.Cleanup(n.Close)
	return n, chosen
}

func TestNotice(t *testing.T) {
	if n := IncomingCall(text.Dutch, "Schade"); n.Summary != "Inkomende oproep op Schade" || n.Body != "" || len(n.Actions) != 2 {
		t.Errorf("%+v", n)
	}
	if n := IncomingCall(text.English, ""); n.Summary != "Incoming call" {
		t.Errorf("%+v", n)
	}
	// Nothing may reverse the text or make it long.
	n := IncomingCall(text.Dutch, " a\u202e\nb\x00\x1b[31m"+strings.Repeat("x", 500))
	if !strings.HasPrefix(n.Summary, "Inkomende oproep op a b[31mxxx") || len(n.Summary) > 200 {
		t.Errorf("%q", n.Summary)
	}
}

func TestNotifications(t *testing.T) {
	address := xtest.NoScreen(t).Bus()
	srv := serve(t, address, "actions", "body-markup")
	n, chosen := open(t, address)

	show := func(tag string, o Notice) xtest.Notice {
		t.Helper()
		must.Do(t, n.Show(tag, o))
		return must.Receive(t, srv.Shown, "a notification")
	}
	call := IncomingCall(text.Dutch, "Schade")
	one := show("call 1", call)
	if one.Summary != "Inkomende oproep op Schade" || one.Body != "" || one.Replaces != 0 || one.Expire != 0 ||
		strings.Join(one.Actions, "|") != "default|Relatie openen|dismiss|Sluiten" ||
		one.Icon != "wiebelt" || one.Hints["desktop-entry"].Value() != "wiebelt" || // of files that we install
		one.Hints["transient"].Value() != true || one.Hints["category"].Value() != "call.incoming" {
		t.Errorf("%+v", one)
	}
	two := show("call 2", Notice{Summary: "b", Body: "<b>x</b> & y"})
	if _, is := two.Hints["category"]; is {
		t.Error("a notification that is no call says it is one")
	}
	if two.ID == one.ID || two.Body != "&lt;b&gt;x&lt;/b&gt; &amp; y" {
		t.Errorf("%+v", two)
	}
	if again := show("call 1", call); again.Replaces != one.ID {
		t.Errorf("the same call once more: %+v", again)
	}

	// Signals from other programs and for other notifications are ignored. Once the bus has
	// answered the liar, it has received the liar's signal.
	liar := xtest.Connect(t, address)
	xtest.SignalAll(t, liar, object, service, "ActionInvoked", one.ID, "default")
	must.Do(t, liar.BusObject().Call("org.freedesktop.DBus.GetId", 0).Err)
	srv.Emit("ActionInvoked", uint32(4711), "default")
	srv.Emit("ActionInvoked", "nonsense", "default")
	srv.Emit("ActionInvoked", two.ID, "dismiss")
	if got := must.Receive(t, chosen, "the choice"); got != "call 2 dismiss" {
		t.Errorf("chosen: %q", got)
	}
	srv.Emit("ActionInvoked", one.ID, "default")
	if got := must.Receive(t, chosen, "the choice"); got != "call 1 default" {
		t.Errorf("chosen: %q", got)
	}

	// The user closed it: a button pressed afterwards belongs to no
	// notification, and there is nothing to withdraw.
	srv.Emit("NotificationClosed", two.ID, uint32(2))
	srv.Emit("ActionInvoked", two.ID, "default")
	srv.Emit("ActionInvoked", one.ID, "default")
	if got := must.Receive(t, chosen, "the choice"); got != "call 1 default" {
		t.Errorf("chosen: %q", got)
	}
	if err := n.Withdraw("call 2"); err != nil || len(srv.Gone) != 0 {
		t.Errorf("taken away twice: %v", err)
	}
	must.Do(t, n.Withdraw("call 1"))
	if got := must.Receive(t, srv.Gone, "the withdrawal"); got != one.ID {
		t.Errorf("took %d away", got)
	}
	three := show("call 3", call)
	n.Close()
	if got := must.Receive(t, srv.Gone, "the withdrawal"); got != three.ID {
		t.Errorf("Close took %d away", got)
	}
	if err := n.Show("call 4", call); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

// TestStartedToShow checks that a notification that started the service survives the report of
// that start, and is dropped when the service ends or is replaced.
func TestStartedToShow(t *testing.T) {
	n := &Notifier{ids: map[string]uint32{}}
	n.handleOwner(service, ":1.1")
	n.handleOwner(service, "")
	n.ids["call"] = 7 // as Show does, which holds the lock meanwhile
	n.handleOwner(service, ":1.2")
	if n.ids["call"] != 7 {
		t.Error("what was shown cannot be clicked")
	}
	for _, next := range []string{":1.3", ""} {
		n.ids["call"] = 8
		if n.handleOwner(service, next); len(n.ids) != 0 {
			t.Errorf("now of %q: %v", next, n.ids)
		}
	}
}

// TestNoButtons checks that no buttons are sent to a service that does not support them.
func TestNoButtons(t *testing.T) {
	address := xtest.NoScreen(t).Bus()
	srv := serve(t, address, "body")
	n, _ := open(t, address)
	must.Do(t, n.Show("call", IncomingCall(text.Dutch, "")))
	if got := must.Receive(t, srv.Shown, "a notification"); len(got.Actions) != 0 {
		t.Errorf("%+v", got)
	}
}

// TestDunst shows a notification through a real desktop's service and presses its button.
func TestDunst(t *testing.T) {
	s := xtest.Start(t, "openbox", xtest.Options{})
	address := s.Bus()
	s.Spawn("dunst")
	c := xtest.Connect(t, address)
	s.Until("dunst is there", func() bool {
		return desktopbus.Owner(context.Background(), c, service) != ""
	})
	n, chosen := open(t, address)
	must.Do(t, n.Show("call", IncomingCall(text.Dutch, "Schade")))
	displayed := func() string { return strings.TrimSpace(s.Run("dunstctl", "count", "displayed")) }
	s.Until("it is displayed", func() bool { return displayed() == "1" })
	s.Run("dunstctl", "action", "0")
	if got := must.Receive(t, chosen, "the choice"); got != "call default" {
		t.Errorf("chosen: %q", got)
	}
	must.Do(t, n.Show("call", IncomingCall(text.Dutch, "Schade")))
	s.Until("it is displayed", func() bool { return displayed() == "1" })
	must.Do(t, n.Withdraw("call"))
	s.Until("it has gone", func() bool { return displayed() == "0" })
}

func TestNoDesktop(t *testing.T) {
	for _, address := range []string{"", "disabled:", "autolaunch:", "unix:path=/nowhere"} {
		t.Setenv("DBUS_SESSION_BUS_ADDRESS", address)
		t.Setenv("XDG_RUNTIME_DIR", os.DevNull)
		if n, err := Open(context.Background(), nil); !errors.Is(err, ErrUnsupported) || n != nil {
			t.Errorf("%q: %v", address, err)
		}
	}
	// A bus without a notification service.
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", xtest.NoScreen(t).PlainBus())
	if n, err := Open(context.Background(), nil); !errors.Is(err, ErrUnsupported) || n != nil {
		t.Errorf("nobody there: %v", err)
	}
}
