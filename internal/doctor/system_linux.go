package doctor

import (
	"os"

	"golang.org/x/sys/unix"
)

// policySources: there is one, the file.
func policySources() (file, managed bool) { return true, false }

func hasDesktop() bool {
	return os.Getenv("DISPLAY") != "" || os.Getenv("WAYLAND_DISPLAY") != ""
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

func writable(path string) bool { return unix.Access(path, unix.W_OK) == nil }
