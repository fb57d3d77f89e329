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

// insideShared accepts every folder: it inherits the rights of its parent, which others may
// write. What they cannot do is make it lead elsewhere.
func insideShared(*os.File, string) error { return nil }

func (s *Shared) rename(name string, to *Shared, as string) error { return s.replace(name, to, as) }
