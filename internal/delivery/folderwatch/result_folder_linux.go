package folderwatch

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// share restricts the folder to its owner, plus the group that may read the
// folder above, if any.
func (p *resultFolder) share(above fs.FileInfo) error {
	d, err := p.Root().Open(".")
	if err != nil {
		return err
	}
	defer d.Close()
	to, own := above.Sys().(*syscall.Stat_t), p.info.Sys().(*syscall.Stat_t)
	group := int(to.Gid)
	mode := fs.FileMode(0o700)
	if above.Mode().Perm()&0o050 == 0o050 && (to.Gid == own.Gid || d.Chown(-1, group) == nil) { // only a member can
		p.group, mode = &group, 0o750
	}
	if mode == p.info.Mode().Perm() {
		return nil
	}
	return d.Chmod(mode)
}

func (p *resultFolder) shareFile(f *os.File) error {
	if p.group == nil || f.Chown(-1, *p.group) != nil {
		return nil
	}
	return f.Chmod(0o640)
}

// tryLock locks a file until it is closed, or returns ErrBusy.
func tryLock(f *os.File) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return ErrBusy
	}
	return err
}
