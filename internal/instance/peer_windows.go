package instance

import "os"

// samePeer has nothing to check: only this user may open the pipe.
func samePeer(*os.File) error { return nil }
