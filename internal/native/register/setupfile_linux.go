package register

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Set-up files, which a double click shows in the settings window.
const (
	setupMime   = "application/x-wiebelt-setup"
	setupID     = "wiebelt-setup.desktop"
	setupXML    = "wiebelt.xml"
	updateMimes = "update-mime-database"
	updateIn    = 30 * time.Second
)

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

// mimes is the folder of file types beside that of applications.
func (p places) mimes() string { return filepath.Join(filepath.Dir(p.applications), "mime") }

// registerSetup has set-up files opened with the program.
func registerSetup(o Options, p places) error {
	line := execLine(append([]string{o.Exe}, o.arguments("open-file", "--", "%u")...)...)
	if err := checkExec(line); err != nil {
		return fmt.Errorf("register: the command for files is not safe: %w", err)
	}
	line = strings.TrimSuffix(line, "%u") + "%f" // a path, where a link would be a link
	if err := write(filepath.Join(p.applications, setupID), fmt.Appendf(nil, entry, line, "NoDisplay=true\nMimeType="+setupMime+";\n")); err != nil {
		return err
	}
	if err := write(filepath.Join(p.mimes(), "packages", setupXML), []byte(setupType)); err != nil {
		return err
	}
	index(p.mimes())
	return change(p.defaults, func(text string) string { return setDefault(text, setupMime, setupID, setupID) })
}

// unregisterSetup takes that back.
func unregisterSetup(p places) error {
	packages := filepath.Join(p.mimes(), "packages")
	had := false
	var all error
	for _, f := range []string{filepath.Join(p.applications, setupID), filepath.Join(packages, setupXML)} {
		switch err := os.Remove(f); {
		case err == nil:
			had = true
		case !errors.Is(err, fs.ErrNotExist):
			all = errors.Join(all, fmt.Errorf("register: %w", err))
		}
	}
	if had {
		index(p.mimes())
		if rest, err := os.ReadDir(packages); err == nil && len(rest) == 0 {
			withoutIndex(p.mimes())
		}
	}
	return errors.Join(all, change(p.defaults, func(text string) string { return setDefault(text, setupMime, "", setupID) }))
}

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
