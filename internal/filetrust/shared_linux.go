package filetrust

import (
	"io/fs"
	"os"
	"syscall"
)

// nonBlocking keeps a pipe that was put there from holding us up.
const nonBlocking = syscall.O_NONBLOCK

// unfit says why something is no file that somebody put there: a second name of a
// file of our own would have us take what lies elsewhere.
func unfit(info fs.FileInfo) Why {
	s, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return Link
	case !info.Mode().IsRegular():
		return Kind
	case ok && s.Nlink > 1 && int(s.Uid) == os.Geteuid():
		return Link
	}
	return ""
}

func insideShared(f *os.File, path string) error {
	t, err := lookAt(f, Ours)
	if err != nil {
		return err
	}
	return t.fault(path, Ours, true)
}
