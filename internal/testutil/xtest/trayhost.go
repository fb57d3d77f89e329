package xtest

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/godbus/dbus/v5"

	"wiebelt/internal/testutil/must"
)

// TrayWatcher is a tray host's name on the bus.
const TrayWatcher = "org.kde.StatusNotifierWatcher"

// TrayHost is a tray host that draws nothing: it records who registers.
// Safe for concurrent use.
type TrayHost struct {
	mu    sync.Mutex
	items []string
}

// HostTray makes a connection the tray host of its bus.
func HostTray(t testing.TB, c *dbus.Conn) *TrayHost {
	t.Helper()
	h := &TrayHost{}
	must.Do(t, c.Export(h, "/StatusNotifierWatcher", TrayWatcher))
	Own(t, c, TrayWatcher)
	return h
}

// RegisterStatusNotifierItem is called by programs that have an icon.
func (h *TrayHost) RegisterStatusNotifierItem(path string, from dbus.Sender) *dbus.Error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if strings.HasPrefix(path, "/") {
		path = string(from)
	}
	h.items = append(h.items, path)
	return nil
}

// RegisterStatusNotifierHost completes the interface.
func (h *TrayHost) RegisterStatusNotifierHost(string) *dbus.Error { return nil }

// Items returns the bus names of the programs that registered, one for each registration.
func (h *TrayHost) Items() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.items)
}

// Forget clears the registrations.
func (h *TrayHost) Forget() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.items = nil
}

// menuEntry is an entry of com.canonical.dbusmenu.
type menuEntry struct {
	ID       int32
	Props    map[string]dbus.Variant
	Children []dbus.Variant
}

// TrayMenu reads an icon's menu as a panel does. It returns the titles, "-" for a separator,
// and the ids by title. Both are empty if there is no menu.
func TrayMenu(menu dbus.BusObject) (titles []string, ids map[string]int32) {
	ids = map[string]int32{}
	var rev uint32
	var root menuEntry
	if err := menu.Call("com.canonical.dbusmenu.GetLayout", 0, int32(0), int32(-1), []string{}).Store(&rev, &root); err != nil {
		return nil, ids
	}
	for _, v := range root.Children {
		var e menuEntry
		if dbus.Store([]any{v.Value()}, &e) != nil {
			continue
		}
		if k, ok := e.Props["type"]; ok && k.Value() == "separator" {
			titles = append(titles, "-")
			continue
		}
		title, _ := e.Props["label"].Value().(string)
		titles = append(titles, title)
		ids[title] = e.ID
	}
	return titles, ids
}

// ChooseTray clicks the menu entry with an id.
func ChooseTray(menu dbus.BusObject, id int32) error {
	return menu.Call("com.canonical.dbusmenu.Event", 0, id, "clicked", dbus.MakeVariant(0), uint32(0)).Err
}
