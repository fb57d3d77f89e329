package instance

import (
	"errors"
	"os"

	"wiebelt/internal/filetrust"
)

var errOtherUser = errors.New("the other side is another user")

// checkPeer checks with the kernel that the other side is this user.
func checkPeer(c *os.File) error {
	uid, err := filetrust.PeerUID(c)
	if err == nil && int(uid) != os.Getuid() {
		err = errOtherUser
	}
	return err
}
