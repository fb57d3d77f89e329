package e2e

import (
	"fmt"
	"image"
	"sync"
	"testing"

	"github.com/godbus/dbus/v5"

	"wiebelt/internal/simulate"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/xtest"
	"wiebelt/internal/ui/card"
)

const (
	noticeService = "org.freedesktop.Notifications"
	noticePath    = dbus.ObjectPath("/org/freedesktop/Notifications")
)

// noticeServer is a desktop's notification server.
type noticeServer struct {
	mu    sync.Mutex
	last  uint32
	shown map[uint32]string // summaries
	all   string            // everything ever sent here
}

func (s *noticeServer) GetCapabilities() ([]string, *dbus.Error) { return []string{"actions"}, nil }

func (s *noticeServer) Notify(app string, replaces uint32, icon, summary, body string, actions []string, hints map[string]dbus.Variant, _ int32) (uint32, *dbus.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := replaces
	if id == 0 {
		s.last++
		id = s.last
	}
	s.shown[id] = summary
	s.all += fmt.Sprintln(app, icon, summary, body, actions, hints)
	return id, nil
}

func (s *noticeServer) CloseNotification(id uint32) *dbus.Error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.shown, id)
	return nil
}

// forget closes what is shown, like a user who dismisses it.
func (s *noticeServer) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.shown)
}

func (s *noticeServer) now() (id uint32, summaries string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for n, text := range s.shown {
		id, summaries = n, summaries+text
	}
	return id, summaries
}

const (
	portalPath     = dbus.ObjectPath("/org/freedesktop/portal/desktop")
	portalSettings = "org.freedesktop.portal.Settings"
	appearance     = "org.freedesktop.appearance"
)

// TestAppearanceFollowed: a visible card follows the desktop's light and dark mode,
// and its text size, at once.
func TestAppearanceFollowed(t *testing.T) {
	t.Parallel()
	o := prepare(t, "")
	c := xtest.Connect(t, o.PlainBus(), "org.freedesktop.portal.Desktop")
	var mu sync.Mutex
	scheme := uint32(1) // dark
	read := func(space, key string) (dbus.Variant, *dbus.Error) {
		mu.Lock()
		defer mu.Unlock()
		if space != appearance || key != "color-scheme" {
			return dbus.Variant{}, dbus.NewError("org.freedesktop.portal.Error.NotFound", nil)
		}
		return dbus.MakeVariant(dbus.MakeVariant(scheme)), nil
	}
	must.Do(t, c.ExportMethodTable(map[string]any{"Read": read}, portalPath, portalSettings))
	o.start()
	must.Do(t, dial(o).Ring(t.Context(), simulate.Call{ID: "1", Number: "+31698760011"}))
	o.shows("a dark card", vriesCard(t, card.Look{Dark: true}, 1))
	for _, next := range []struct {
		scheme uint32
		dark   bool
	}{{2, false}, {1, true}, {0, false}} {
		mu.Lock()
		scheme = next.scheme
		mu.Unlock()
		must.Do(t, c.Emit(portalPath, portalSettings+".SettingChanged", appearance, "color-scheme", dbus.MakeVariant(next.scheme)))
		o.shows(fmt.Sprint("the card, dark: ", next.dark), vriesCard(t, card.Look{Dark: next.dark}, 1))
	}
	// With text twice as large, the card is in the same corner.
	o.Run("xprop", "-root", "-f", "RESOURCE_MANAGER", "8s", "-set", "RESOURCE_MANAGER", "Xft.dpi:\t192\n")
	want := vriesCard(t, card.Look{}, 2)
	corner := image.Pt(width-32, height-32)
	at := image.Rectangle{Min: corner.Sub(want.Rect.Size()), Max: corner}
	o.Until("the card at 200 %", func() bool {
		got, differ := o.look(at), 0
		for y := 68; y < want.Rect.Dy(); y++ { // below the clock
			for x := range want.Rect.Dx() {
				if got.RGBAAt(x, y) != want.RGBAAt(x, y) {
					differ++
				}
			}
		}
		return differ == 0
	})
}
