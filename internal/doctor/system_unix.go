//go:build unix

package doctor

import (
	"os"
	"path/filepath"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// policySources: there is one, the file.
func policySources() (file, managed bool) { return true, false }

func hasDesktop() bool {
	return runtime.GOOS == "darwin" || os.Getenv("DISPLAY") != "" || os.Getenv("WAYLAND_DISPLAY") != ""
}

// hasOpenGL looks where systems keep the library.
func hasOpenGL() bool {
	for _, pattern := range []string{"/usr/lib/*/libGL.so.1", "/usr/lib64/libGL.so.1", "/usr/lib/libGL.so.1", "/usr/local/lib/libGL.so.1",
		"/System/Library/Frameworks/OpenGL.framework"} {
		if found, _ := filepath.Glob(pattern); len(found) > 0 {
			return true
		}
	}
	return false
}

// microSIP runs on Windows.
func microSIP() string { return "" }

func freeSpace(dir string) (uint64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, err
	}
	return uint64(s.Bavail) * uint64(s.Bsize), nil
}

// folderRights: a link of the user's own is followed, as the program does.
func folderRights(path string) (rights, error) {
	info, err := os.Stat(path)
	if err != nil {
		return rights{}, err
	}
	mode := info.Mode()
	r := rights{others: mode&0o022 != 0, readable: mode&0o055 != 0, closed: unix.Access(path, unix.W_OK) != nil}
	owner, ok := info.Sys().(*syscall.Stat_t)
	r.notOurs = !info.IsDir() || ok && int(owner.Uid) != os.Geteuid() && owner.Uid != 0
	return r, nil
}

// programRights also looks at the folders above: who may rename one of them
// replaces what is below. A sticky folder such as /tmp lets nobody do so.
func programRights(path string) (rights, error) {
	var r rights
	for {
		info, err := os.Stat(path)
		if err != nil {
			return r, err
		}
		mode := info.Mode()
		owner, ok := info.Sys().(*syscall.Stat_t)
		if ok && int(owner.Uid) != os.Geteuid() && owner.Uid != 0 {
			r.notOurs = true
		}
		group := ok && mode&0o020 != 0 && owner.Gid != 0 && int(owner.Gid) != os.Getegid()
		if (mode&0o002 != 0 || group) && mode&os.ModeSticky == 0 {
			r.others = true
		}
		if filepath.Dir(path) == path {
			return r, nil
		}
		path = filepath.Dir(path)
	}
}
