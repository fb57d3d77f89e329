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

// setupType has set-up files known by the end of their names.
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

// index has the desktop read the file types anew. A desktop without that program
// does so by itself, or knows no file types.
func index(mimes string) {
	path, err := exec.LookPath(updateMimes)
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), updateIn)
	defer cancel()
	_ = exec.CommandContext(ctx, path, mimes).Run()
}

// withoutIndex removes an index of nothing, and the folders that it was made in
// where nothing else is in them.
func withoutIndex(mimes string) {
	for _, f := range []string{"aliases", "generic-icons", "globs", "globs2", "icons", "magic", "mime.cache", "subclasses", "treemagic", "types", "version", "XMLnamespaces"} {
		_ = os.Remove(filepath.Join(mimes, f))
	}
	for _, d := range []string{"application", "packages", ""} {
		_ = os.Remove(filepath.Join(mimes, d)) // one that holds something stays
	}
}
