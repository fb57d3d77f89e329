//go:build !windows && !darwin

package tray

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"fyne.io/systray"
	"github.com/godbus/dbus/v5"
)

const (
	watcher  = "org.kde.StatusNotifierWatcher"
	busVar   = "DBUS_SESSION_BUS_ADDRESS"
	patience = 2 * time.Second // for a bus that does not answer
)

// iconSuffix picks the picture: panels scale down, and on large ones a small
// picture would be blurred.
const iconSuffix = "-48.png"

// run shows the tray over the bus. The library needs no event loop here, so the
// caller's goroutine is the owner.
func (t *Tray) run(ctx context.Context) {
	// The library would look in other places, and start a bus of its own that
	// nobody else listens to. It knows no other way to tell it.
	if os.Getenv(busVar) == "" {
		_ = os.Setenv(busVar, busAddress())
	}
	start, end := systray.RunWithExternalLoop(func() {}, func() {})
	// What is shown first has to be there before the tray is: a change while the
	// library is starting would be lost.
	t.show(ctx)
	start()
	var watch sync.WaitGroup
	watch.Go(func() { t.stayRegistered(ctx) })
	t.own(ctx)
	watch.Wait()
	end()
}

// busAddress is where the session bus is, "" if there is none.
func busAddress() string {
	if a := os.Getenv(busVar); a != "" {
		return a
	}
	if dir := os.Getenv("XDG_RUNTIME_DIR"); dir != "" {
		p := filepath.Join(dir, "bus")
		if _, err := os.Stat(p); err == nil {
			return "unix:path=" + dbus.EscapeBusAddressValue(p)
		}
	}
	return ""
}

var errNoBus = errors.New("no session bus")

// connect makes a connection of its own; the caller closes it.
func connect(ctx context.Context) (*dbus.Conn, error) {
	a := busAddress()
	if a == "" || strings.HasPrefix(a, "autolaunch:") {
		return nil, errNoBus
	}
	c, err := dbus.Connect(a, dbus.WithContext(ctx))
	if err != nil {
		return nil, fmt.Errorf("session bus: %w", err)
	}
	return c, nil
}

// reachable reports whether there is a session bus that answers.
func reachable(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	c, err := connect(ctx)
	if err != nil {
		return false
	}
	_ = c.Close()
	return true
}

// HasHost reports whether a tray host is there that would show the icon.
func HasHost(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	c, err := connect(ctx)
	if err != nil {
		return false
	}
	defer c.Close()
	var has bool
	err = c.BusObject().CallWithContext(ctx, "org.freedesktop.DBus.NameHasOwner", 0, watcher).Store(&has)
	return err == nil && has
}

func tooltip(s string) string { return s }

// escape keeps underlines from becoming marks of shortcuts.
func escape(title string) string { return strings.ReplaceAll(title, "_", "__") }

// Icons go over the bus and leave nothing.
func (t *Tray) willLeave([]byte) {}
func (t *Tray) cleanUp()         {}
