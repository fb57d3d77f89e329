package folderwatch

import (
	"io/fs"
	"os"
)

// A folder takes over the rights of the one it lies in, and a file those of its
// folder.
func (p *place) share(fs.FileInfo) error  { return nil }
func (p *place) shareFile(*os.File) error { return nil }
