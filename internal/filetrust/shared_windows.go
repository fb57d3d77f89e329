package filetrust

import (
	"io/fs"
	"os"
)

const nonBlocking = 0

func fileFault(info fs.FileInfo) Fault {
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return FaultLink
	case !info.Mode().IsRegular():
		return FaultKind
	}
	return ""
}

// checkSubfolder accepts every folder: it inherits the rights of its parent, which others may
// write. What they cannot do is make it lead elsewhere.
func checkSubfolder(*os.File, string) error { return nil }

func (s *Shared) rename(name string, to *Shared, as string) error { return s.replace(name, to, as) }
