package secret

import (
	"errors"

	"golang.org/x/sys/windows"
)

// checkReachable returns nil: the store is part of the system.
func checkReachable() error { return nil }

// isLocked is false: the store is open while its user is logged in.
func isLocked(error) bool { return false }

// isNoSession recognises a log-on without a user's vault: a scheduled task, a
// remote shell, a deployment tool.
func isNoSession(err error) bool { return errors.Is(err, windows.ERROR_NO_SUCH_LOGON_SESSION) }
