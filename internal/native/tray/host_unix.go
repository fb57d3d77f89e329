//go:build !windows && !darwin

package tray

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/godbus/dbus/v5"
)

const watcher = "org.kde.StatusNotifierWatcher"

// busAddress is where the session bus is, "" if there is none. The library would
// start a bus of its own, which nobody else would listen to.
func busAddress() string {
	if a := os.Getenv("DBUS_SESSION_BUS_ADDRESS"); a != "" {
		return a
	}
	if dir := os.Getenv("XDG_RUNTIME_DIR"); dir != "" {
		p := filepath.Join(dir, "bus")
		if _, err := os.Stat(p); err == nil {
			return "unix:path=" + p
		}
	}
	return ""
}

// reachable reports whether there is a session bus that answers.
func reachable() bool {
	c, err := connect(context.Background())
	if err != nil {
		return false
	}
	_ = c.Close()
	return true
}

func connect(ctx context.Context) (*dbus.Conn, error) {
	a := busAddress()
	if a == "" {
		return nil, os.ErrNotExist
	}
	return dbus.Connect(a, dbus.WithContext(ctx))
}

// HasHost reports whether a tray host is there that would show the icon.
func HasHost(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
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

// cleanUp has nothing to clean: icons go over the bus.
func cleanUp() {}
