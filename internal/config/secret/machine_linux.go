package secret

import (
	"errors"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// IsAdministrator reports whether this process may change what belongs to the whole computer.
func IsAdministrator() bool { return os.Geteuid() == 0 }

// readableByAll reports whether everybody can read a file.
func readableByAll(info fs.FileInfo) bool { return info.Mode().Perm()&0o007 != 0 }

// makeMachineDir creates the folder, which passes its group on to its files.
func makeMachineDir(dir, group string) error {
	above := filepath.Dir(dir)
	switch err := os.Mkdir(above, 0o755); {
	case err == nil:
		if err := os.Chmod(above, 0o755); err != nil { // users read the policy there, whatever the umask
			return err
		}
	case !errors.Is(err, os.ErrExist):
		return err
	}
	gid, err := groupOf(dir, group)
	if err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
		return ErrExposed
	}
	if err := os.Lchown(dir, -1, gid); err != nil {
		return err
	}
	files, err := os.ReadDir(dir)
	for _, f := range files { // existing ones still have the group of their time
		err = errors.Join(err, os.Lchown(filepath.Join(dir, f.Name()), -1, gid))
	}
	return errors.Join(err, os.Chmod(dir, 0o750|os.ModeSetgid))
}

// groupOf returns the group with read access: the one named, else the
// folder's, else the default.
func groupOf(dir, group string) (int, error) {
	if group == "" {
		if info, err := os.Lstat(dir); err == nil && info.IsDir() {
			if s, ok := info.Sys().(*syscall.Stat_t); ok && info.Mode().Perm()&0o050 == 0o050 {
				return int(s.Gid), nil
			}
		}
		group = MachineGroup
	}
	g, err := user.LookupGroup(group)
	if err != nil {
		return 0, ErrNoGroup
	}
	return strconv.Atoi(g.Gid)
}

// The file's permissions protect it.
func protect(b []byte) ([]byte, error)   { return b, nil }
func unprotect(b []byte) ([]byte, error) { return b, nil }

// MachineReaders returns the group with read access to the computer's secrets;
// "" if there are none.
func MachineReaders() string {
	info, err := os.Lstat(machineDir())
	if err != nil {
		return ""
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	id := strconv.Itoa(int(owner.Gid))
	if g, err := user.LookupGroupId(id); err == nil {
		return g.Name
	}
	return id
}
