//go:build windows || darwin

package tray

import (
	"context"
	"time"

	"fyne.io/systray"
)

// settling is how long a tray may take to appear before it is given up.
const settling = 3 * time.Second

// HasHost reports whether a tray host is there; these systems always have one.
func HasHost(context.Context) bool { return true }

func reachable(context.Context) bool { return true }

// run gives the caller's goroutine to the system's event loop.
func (t *Tray) run(ctx context.Context) {
	abandon := loop()
	ready, left := make(chan struct{}), make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case <-ready:
			t.own(ctx)
		case <-ctx.Done():
		}
		<-ctx.Done()
		// Told to quit before there is a tray the library would do nothing, and its
		// loop would go on.
		select {
		case <-ready:
			systray.Quit()
		case <-time.After(settling):
			abandon(left)
		}
	}()
	systray.Run(func() { close(ready) }, func() {})
	close(left)
	<-done
}
