package register

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

const (
	updateMimes = "update-mime-database"
	updateIn    = 30 * time.Second
)

// setupType defines set-up files by their extension.
const setupType = `<?xml version="1.0" encoding="UTF-8"?>
<mime-info xmlns="http://www.freedesktop.org/standards/shared-mime-info">
  <mime-type type="` + setupMime + `">
    <comment>Wiebelt set-up file</comment>
    <comment xml:lang="nl">Instelbestand van Wiebelt</comment>
    <icon name="wiebelt"/>
    <glob pattern="*.wiebelt"/>
  </mime-type>
</mime-info>
`

// index makes the desktop reread the file types. A desktop without the program for this
// does so by itself, or has no file types.
func index(mimes string) {
	path, err := exec.LookPath(updateMimes)
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), updateIn)
	defer cancel()
	_ = exec.CommandContext(ctx, path, mimes).Run()
}

// withoutIndex removes an index without entries, and the folders in which it
// was created if they are otherwise empty.
func withoutIndex(mimes string) {
	for _, f := range []string{"aliases", "generic-icons", "globs", "globs2", "icons", "magic", "mime.cache", "subclasses", "treemagic", "types", "version", "XMLnamespaces"} {
		_ = os.Remove(filepath.Join(mimes, f))
	}
	for _, d := range []string{"application", "packages", ""} {
		_ = os.Remove(filepath.Join(mimes, d)) // non-empty folders stay
	}
}
