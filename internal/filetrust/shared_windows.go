package filetrust

import (
	"io/fs"
	"os"
)

const nonBlocking = 0

func unfit(info fs.FileInfo) Why {
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return Link
	case !info.Mode().IsRegular():
		return Kind
	}
	return ""
}

// insideShared: a folder takes over the rights of the one it lies in, in which
// others may write. What they cannot do is make it lead elsewhere.
func insideShared(*os.File, string) error { return nil }
