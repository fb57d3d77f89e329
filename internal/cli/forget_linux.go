package cli

import (
	"errors"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/delivery/outbox"
	"wiebelt/internal/instance"
)

// foldersOf returns the folders of a user's Wiebelt, unless variables in the
// user's session change them.
func foldersOf(u *user.User) ([]userFolder, profile.Dirs) {
	f := []userFolder{{u.HomeDir, ".config/wiebelt"}, {u.HomeDir, ".local/state/wiebelt"},
		{"/run/user/" + u.Uid, "wiebelt"}}
	return f, profile.Dirs{Config: f[0].path(), State: f[1].path(), Run: filepath.Join(f[1].path(), "run")}
}

// runsIn reports whether a Wiebelt that uses the folders runs or delivers: it would recreate them.
func runsIn(_ *user.User, folders []userFolder) bool {
	return slices.ContainsFunc(folders, func(f userFolder) bool {
		return f.locked(instance.LockName) || f.locked("run/"+instance.LockName) || f.locked("outbox/"+outbox.LockName)
	})
}

// locked reports whether a program holds a lock in the folder.
// Nothing that the user may have put in the lock's place blocks it.
func (f userFolder) locked(name string) bool {
	root, err := os.OpenRoot(f.root)
	if err != nil {
		return false
	}
	defer root.Close()
	lock, err := root.OpenFile(f.name+"/"+name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer lock.Close()
	return errors.Is(unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB), unix.EWOULDBLOCK) // package flock would open it by its path
}

func vaultHint(name string) any { return "secret-tool clear service " + name }
