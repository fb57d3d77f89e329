package secret

// noSession: only Windows ties its store to the way somebody logged on.
func noSession(error) bool { return false }
