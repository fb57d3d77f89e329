package instance

import "net"

// samePeer has nothing to ask: only this user may open the pipe.
func samePeer(net.Conn) error { return nil }
