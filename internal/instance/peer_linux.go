package instance

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

var errOtherUser = errors.New("the other side is another user")

// samePeer checks with the kernel that the other side is this user.
func samePeer(c *os.File) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var cred *unix.Ucred
	var credErr error
	if err := raw.Control(func(fd uintptr) {
		cred, credErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); err != nil {
		return err
	}
	if credErr != nil {
		return credErr
	}
	if int(cred.Uid) != os.Getuid() {
		return errOtherUser
	}
	return nil
}
