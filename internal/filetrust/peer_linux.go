package filetrust

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// PeerUID returns the user at the other end of a Unix socket, according to the kernel.
func PeerUID(c syscall.Conn) (uid uint32, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, err
	}
	var cred *unix.Ucred
	if e := raw.Control(func(fd uintptr) {
		cred, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); e != nil {
		return 0, e
	}
	if err != nil {
		return 0, err
	}
	return cred.Uid, nil
}
