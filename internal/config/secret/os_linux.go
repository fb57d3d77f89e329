package secret

import (
	"errors"
	"strings"

	"github.com/godbus/dbus/v5"
)

// reachable checks for the session bus without starting one: a new bus would have no
// store, and nobody to stop it.
func reachable() error {
	c, err := dbus.SessionBusPrivateNoAutoStartup()
	if err != nil {
		return errors.New("no session bus")
	}
	return c.Close()
}

// isLocked recognises a collection that is locked, whose prompt was dismissed,
// or that was never made because nobody logged in to it.
func isLocked(err error) bool {
	if e, ok := errors.AsType[dbus.Error](err); ok && e.Name == "org.freedesktop.Secret.Error.IsLocked" {
		return true
	}
	return strings.HasPrefix(err.Error(), "failed to unlock")
}

// noSession is false: only Windows ties its store to the kind of log-on.
func noSession(error) bool { return false }
