package linphone

import (
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// ours reports whether the program that listens runs as this user or as root.
func ours(conn net.Conn) bool {
	c, ok := conn.(*net.UnixConn)
	if !ok {
		return false
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return false
	}
	var cred *unix.Ucred
	if e := raw.Control(func(fd uintptr) {
		cred, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); e != nil || err != nil {
		return false
	}
	return cred.Uid == 0 || int(cred.Uid) == os.Getuid()
}
