//go:build unix

package doctor

import (
	"os"
	"path/filepath"
	"runtime"

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

func writable(path string) bool { return unix.Access(path, unix.W_OK) == nil }
