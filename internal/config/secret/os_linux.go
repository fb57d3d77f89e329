package secret

import (
	"errors"
	"strings"

	"github.com/godbus/dbus/v5"
)

// checkReachable checks for the session bus without starting one: a new bus would have no
// store, and nobody to stop it.
func checkReachable() error {
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

// isNoSession is false: only Windows ties its store to the kind of log-on.
func isNoSession(error) bool { return false }
