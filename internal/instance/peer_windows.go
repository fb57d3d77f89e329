package instance

import "os"

// samePeer has nothing to ask: only this user may open the pipe.
func samePeer(*os.File) error { return nil }
