package filetrust

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// IsLocal reports whether a path is on this computer, judging by its name.
func IsLocal(string) bool { return true }

func inspect(path string, who Ownership) (trustFacts, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return trustFacts{}, err
	}
	return trustFactsOf(path, info, who), nil
}

func inspectFile(f *os.File, who Ownership) (trustFacts, error) {
	info, err := f.Stat()
	if err != nil {
		return trustFacts{}, err
	}
	return trustFactsOf(f.Name(), info, who), nil
}

func trustFactsOf(path string, info fs.FileInfo, who Ownership) trustFacts {
	mode := info.Mode()
	t := trustFacts{link: mode&fs.ModeSymlink != 0, folder: mode.IsDir(), file: mode.IsRegular()}
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return t
	}
	me := uint32(os.Geteuid())
	t.owned = s.Uid == me && who != AdminOwned || s.Uid == 0 && who != Private
	t.writable = mode&0o022 != 0
	t.readable = mode&0o055 != 0
	t.ownGroup = t.writable && mode&0o002 == 0 && s.Gid == s.Uid && !hasACL(path)
	t.replaceable = t.writable && !t.ownGroup && mode&fs.ModeSticky == 0
	return t
}

// hasACL reports whether there is an ACL: then the group bits of the mode are the maximum
// rights of everybody in it.
func hasACL(path string) bool {
	n, err := unix.Getxattr(path, "system.posix_acl_access", nil)
	return err == nil && n > 0
}

func fixCommand(path string, why Fault) string {
	if why == FaultRead {
		return "chmod go-rwx " + path
	}
	return "chmod go-w " + path
}

func mkdir(path string) error { return os.Mkdir(path, 0o700) }

func makePrivate(path string) error { return os.Chmod(path, 0o700) }

// openNoLink opens a file unless it is a link. O_NONBLOCK prevents blocking
// on a planted pipe.
func openNoLink(path string, flag int) (*os.File, error) {
	f, err := os.OpenFile(path, flag|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	switch {
	case errors.Is(err, syscall.ELOOP):
		return nil, &Error{Path: path, Fault: FaultLink}
	case errors.Is(err, syscall.ENXIO): // a pipe without a reader, or a socket
		return nil, &Error{Path: path, Fault: FaultKind}
	}
	return f, err
}

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
