package linphone

import (
	"net"
	"os"
	"syscall"

	"wiebelt/internal/filetrust"
)

// ownPeer reports whether the listening program runs as this user or as root.
func ownPeer(conn net.Conn) bool {
	c, ok := conn.(syscall.Conn)
	if !ok {
		return false
	}
	uid, err := filetrust.PeerUID(c)
	return err == nil && (uid == 0 || int(uid) == os.Getuid())
}
