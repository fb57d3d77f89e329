package messagebox

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/xtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestNotification checks that the notification stays until it is
// clicked or nobody waits for it any more.
func TestNotification(t *testing.T) {
	address := xtest.NoScreen(t).PlainBus()
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", address)
	d := xtest.ServeNotices(t, xtest.Connect(t, address), "actions")
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
		got := must.Receive(t, d.Shown, "the message")
		if got.Summary != "Wiebelt" || got.Body != message {
			t.Errorf("shown: %+v", got)
		}
		if end == "cancel" {
			cancel()
		} else {
			d.Emit("ActionInvoked", got.ID, "default")
			must.Receive(t, d.Gone, "the withdrawal")
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
