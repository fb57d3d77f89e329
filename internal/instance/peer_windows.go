package instance

import "os"

// checkPeer has nothing to check: only this user may open the pipe.
func checkPeer(*os.File) error { return nil }
