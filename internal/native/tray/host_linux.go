package tray

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"fyne.io/systray"
	"github.com/godbus/dbus/v5"

	"wiebelt/internal/native/desktopbus"
)

const (
	watcher    = "org.kde.StatusNotifierWatcher"
	busVar     = "DBUS_SESSION_BUS_ADDRESS"
	busTimeout = 2 * time.Second // for an unresponsive bus
)

// iconSuffix selects the picture: panels scale it down, and a
// smaller one would be blurred on large panels.
const iconSuffix = "-48.png"

// run shows the tray over the bus. The library needs no event loop here, so the
// caller's goroutine is the owner.
func (t *Tray) run(ctx context.Context) {
	// Otherwise the library would look elsewhere, and start a bus of its own that nobody
	// else uses. This is the only way to configure it.
	if os.Getenv(busVar) == "" {
		_ = os.Setenv(busVar, desktopbus.SessionAddress())
	}
	start, end := systray.RunWithExternalLoop(func() {}, func() {})
	// The initial contents must be set before the tray exists: a change while the library
	// is starting would be lost.
	t.show(ctx)
	start()
	var watch sync.WaitGroup
	watch.Go(func() { t.stayRegistered(ctx) })
	t.showModels(ctx)
	watch.Wait()
	end()
}

func reachable(ctx context.Context) bool {
	return onBus(ctx, func(context.Context, *dbus.Conn) bool { return true })
}

// HasHost reports whether there is a tray host that would show the icon.
func HasHost(ctx context.Context) bool {
	return onBus(ctx, func(ctx context.Context, c *dbus.Conn) bool { return desktopbus.Owner(ctx, c, watcher) != "" })
}

// onBus returns what ask finds on the session bus, false if there is none.
func onBus(ctx context.Context, ask func(context.Context, *dbus.Conn) bool) bool {
	ctx, cancel := context.WithTimeout(ctx, busTimeout)
	defer cancel()
	c, err := desktopbus.Session(ctx)
	if err != nil {
		return false
	}
	defer c.Close()
	return ask(ctx, c)
}

// WaitHost waits for a tray host, for at most d. At log-on the panel appears
// seconds after the programs that start with it.
func WaitHost(ctx context.Context, d time.Duration) (there bool) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	if c, err := desktopbus.Session(ctx); err == nil {
		defer c.Close()
		owned := func(_, owner string) {
			if owner != "" {
				there = true
				cancel()
			}
		}
		_ = desktopbus.Follower{Names: []string{watcher}, OnOwner: owned}.Run(ctx, c)
	}
	<-ctx.Done() // without a bus no host can appear
	return there
}

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

func cutTooltip(s string) string { return s }

// escape prevents underscores from marking shortcuts.
func escape(title string) string { return strings.ReplaceAll(title, "_", "__") }
