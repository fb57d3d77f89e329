package tray

import (
	"context"
	"fmt"
	"os"

	"github.com/godbus/dbus/v5"

	"wiebelt/internal/native/desktopbus"
)

// stayRegistered tells every panel that comes about the icon, until ctx ends. The
// library does so too, but on the connection that all of this process share: it
// stops listening at the first signal that was meant for somebody else, such as
// the end of a keyring's prompt. Panels take a second registration under the same
// name for the first.
func (t *Tray) stayRegistered(ctx context.Context) {
	c, err := desktopbus.Session(ctx)
	if err != nil {
		return
	}
	defer c.Close()
	// At first as well: a panel may have come between the library's first try and now.
	_ = desktopbus.Follower{
		Names: []string{watcher},
		Owned: func(string, string) { register(ctx, c) },
	}.Run(ctx, c)
}

// register names the library's connection, the one that has the icon.
func register(ctx context.Context, c *dbus.Conn) {
	item := desktopbus.Owner(ctx, c, fmt.Sprintf("org.kde.StatusNotifierItem-%d-1", os.Getpid()))
	if item == "" {
		return
	}
	// The answer does not matter: without a panel there is nobody to answer.
	_ = desktopbus.Call(ctx, c, watcher, "/StatusNotifierWatcher", watcher+".RegisterStatusNotifierItem", item).Err
}
