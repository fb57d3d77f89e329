package filetrust

import (
	"io/fs"
	"os"
	"syscall"
)

// nonBlocking prevents blocking on a planted pipe.
const nonBlocking = syscall.O_NONBLOCK

// unfit returns why something is not a file that somebody put there: moving another hard
// link to one of our own files would affect that file.
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
	t, err := inspectFile(f, Ours)
	if err != nil {
		return err
	}
	return t.fault(path, Ours, true)
}
