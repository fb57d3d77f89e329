package tray

import (
	"context"
	"fmt"
	"os"

	"github.com/godbus/dbus/v5"

	"wiebelt/internal/native/desktopbus"
)

// stayRegistered registers the icon with every panel that appears, until ctx ends. So does the
// library, but on the connection shared by the whole process, and it stops listening at the
// first signal meant for something else, such as the end of a keyring's prompt. Panels treat a
// second registration under the same name as the first.
func (t *Tray) stayRegistered(ctx context.Context) {
	c, err := desktopbus.Session(ctx)
	if err != nil {
		return
	}
	defer c.Close()
	// This also registers at the start: a panel may have
	// appeared since the library's first attempt.
	_ = desktopbus.Follower{
		Names:   []string{watcher},
		OnOwner: func(string, string) { register(ctx, c) },
	}.Run(ctx, c)
}

// register registers the name of the library's connection, which has the icon.
func register(ctx context.Context, c *dbus.Conn) {
	item := desktopbus.Owner(ctx, c, fmt.Sprintf("org.kde.StatusNotifierItem-%d-1", os.Getpid()))
	if item == "" {
		return
	}
	// The result does not matter, since there may be no panel.
	_ = desktopbus.Call(ctx, c, watcher, "/StatusNotifierWatcher", watcher+".RegisterStatusNotifierItem", item).Err
}
