package e2e

import (
	"strings"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
)

// notifier is a notification service that notes what it is told to show.
type notifier struct {
	c     *dbus.Conn
	shown chan string
}

// GetCapabilities implements the service.
func (n *notifier) GetCapabilities() ([]string, *dbus.Error) {
	return []string{"actions", "body"}, nil
}

// GetServerInformation implements the service.
func (n *notifier) GetServerInformation() (string, string, string, string, *dbus.Error) {
	return "test", "test", "1", "1.2", nil
}

// Notify implements the service.
func (n *notifier) Notify(_ string, _ uint32, _, summary, body string, _ []string, _ map[string]dbus.Variant, _ int32) (uint32, *dbus.Error) {
	n.shown <- summary + ": " + body
	return 7, nil
}

// CloseNotification implements the service.
func (n *notifier) CloseNotification(uint32) *dbus.Error { return nil }

// TestNoPanelAtLogOn: started at log-on where no panel ever shows an icon, Wiebelt
// waits a minute for one, and then says once how to get to the calls; it opens no
// window by itself. Where a panel comes late, it says nothing.
func TestNoPanelAtLogOn(t *testing.T) {
	t.Parallel()
	for name, late := range map[string]bool{"never a panel": false, "a late panel": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := onBus(t, prepare(t, "[ui]\nlanguage = \"nl\""))
			n := &notifier{c: i.bus, shown: make(chan string, 8)}
			if err := i.bus.Export(n, noticePath, noticeService); err != nil {
				t.Fatal(err)
			}
			if _, err := i.bus.RequestName(noticeService, dbus.NameFlagDoNotQueue); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			i.start()
			if late {
				i.panel = i.Panel()
				i.panel.Icon()
			}
			select {
			case said := <-n.shown:
				took := time.Since(began)
				t.Logf("after %v: %s", took.Round(time.Second), said)
				if late || took < 55*time.Second || !strings.Contains(said, "Start Wiebelt nogmaals om de oproepen te zien.") {
					t.Errorf("after %v it says %q", took, said)
				}
			case <-time.After(70 * time.Second):
				if !late {
					t.Fatal("nobody was told")
				}
				return
			}
			if w := i.windows(); w != "" {
				t.Errorf("it opened %q by itself", w)
			}
			if err := i.bus.Emit(noticePath, noticeService+".ActionInvoked", uint32(7), "default"); err != nil {
				t.Fatal(err)
			}
			d := &desk{office: i.office, t: t}
			d.end(d.find())
			if len(n.shown) != 0 {
				t.Error("said more than once")
			}
		})
	}
}
