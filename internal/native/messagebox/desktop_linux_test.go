package messagebox

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/godbus/dbus/v5"
	"go.uber.org/goleak"

	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/xtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const service = "org.freedesktop.Notifications"

// desktop is a notification service that records its calls.
type desktop struct{ shown, gone chan string }

func (d *desktop) GetCapabilities() ([]string, *dbus.Error) { return []string{"actions"}, nil }

func (d *desktop) Notify(_ string, _ uint32, _, summary, body string, _ []string, _ map[string]dbus.Variant, _ int32) (uint32, *dbus.Error) {
	d.shown <- summary + ": " + body
	return 7, nil
}

func (d *desktop) CloseNotification(uint32) *dbus.Error {
	d.gone <- "gone"
	return nil
}

// TestNotification checks that the notification stays until it is
// clicked or nobody waits for it any more.
func TestNotification(t *testing.T) {
	address := xtest.NoScreen(t).PlainBus()
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", address)
	c := xtest.Connect(t, address)
	d := &desktop{make(chan string, 10), make(chan string, 10)}
	must.Do(t, c.Export(d, "/org/freedesktop/Notifications", service))
	xtest.Own(t, c, service)
	// Even a long sentence with a long path is not cut off.
	message := "De vensters kunnen niet worden getoond: " + strings.Repeat("/een/lang/pad", 30) + "."
	for _, end := range []string{"click", "cancel"} {
		ctx, cancel := context.WithCancel(t.Context())
		told := make(chan string, 1)
		go func() {
			if err := Show(ctx, "Wiebelt", message); err != nil {
				told <- err.Error()
				return
			}
			told <- "told"
		}()
		if got := must.Receive(t, d.shown, "the message"); got != "Wiebelt: "+message {
			t.Errorf("shown: %s", got)
		}
		if end == "cancel" {
			cancel()
		} else if err := c.Emit("/org/freedesktop/Notifications", service+".ActionInvoked", uint32(7), "default"); err != nil {
			t.Fatal(err)
		} else {
			must.Receive(t, d.gone, "the withdrawal")
		}
		if got := must.Receive(t, told, "the end of Show"); got != "told" {
			t.Errorf("after %s: %s", end, got)
		}
		cancel()
		if err := Show(ctx, "Wiebelt", message); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
}

// TestWithoutDesktop: a message that no desktop can show goes to standard error.
func TestWithoutDesktop(t *testing.T) {
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "disabled:")
	r, w, err := os.Pipe()
	must.Do(t, err)
	stderr := os.Stderr
	os.Stderr = w
	err = Show(t.Context(), "Wiebelt", "Iets werkt niet.")
	os.Stderr = stderr
	w.Close()
	if err != nil {
		t.Error(err)
	}
	b, err := io.ReadAll(r)
	if err != nil || string(b) != "Wiebelt: Iets werkt niet.\n" {
		t.Errorf("%q, %v", b, err)
	}
}
