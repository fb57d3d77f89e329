package tray

import (
	"testing"

	"github.com/godbus/dbus/v5"

	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/xtest"
)

// TestRegisteredAfterAPrompt covers a flaw of the library: it watches for panels on
// a connection that it shares with the keyring, and stops at the first foreign
// signal, such as that of an answered prompt. A panel that appears afterwards must
// show the icon all the same, and only once.
func TestRegisteredAfterAPrompt(t *testing.T) {
	icon := shownOn(t, calls)
	c, h, first := icon.c, icon.host, icon.name
	xtest.SignalAll(t, c, "/org/freedesktop/secrets/prompt/p1", "org.freedesktop.Secret.Prompt", "Completed", false, dbus.MakeVariant(""))
	for range 3 {
		must.Get(c.ReleaseName(watcher))(t)
		h.Forget()
		xtest.Own(t, c, watcher)
		icon.Until("registered again", func() bool { return len(h.Items()) > 0 })
		for _, item := range h.Items() {
			if item != first { // a panel would show a second icon
				t.Errorf("registered as %s and as %s", first, item)
			}
		}
	}
}
