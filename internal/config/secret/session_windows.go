package secret

import (
	"errors"

	"golang.org/x/sys/windows"
)

// noSession recognises a log-on without a user's vault: a scheduled task, a
// remote shell, a deployment tool.
func noSession(err error) bool { return errors.Is(err, windows.ERROR_NO_SUCH_LOGON_SESSION) }
