// Package installed knows how an installer keeps versions of Wiebelt side by side, each in
// a folder with its name, so that running programs keep their files: which version is the
// newest, and which may be removed. It has no state and no goroutines.
package installed

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// CompleteMarker is the file that an installer writes last into a version's folder and removes
// first: it marks the folder as complete.
const CompleteMarker = "complete"

// FromConsoleVar is the variable by which, on Windows, the small console program tells the
// main one that it was started in a console.
const FromConsoleVar = "WIEBELT_FROM_CONSOLE"

// Newest returns the named program of the newest version below programs, a folder with one
// folder per version. Versions being written or removed do not count; "" if there is none.
func Newest(programs, name string) (path string) {
	folders, _ := os.ReadDir(programs)
	var newest []int
	for _, f := range folders {
		v := parseVersion(f.Name())
		if v == nil || slices.Compare(v, newest) <= 0 {
			continue
		}
		at := filepath.Join(programs, f.Name())
		if isRegular(filepath.Join(at, CompleteMarker)) && isRegular(filepath.Join(at, name)) {
			newest, path = v, filepath.Join(at, name)
		}
	}
	return path
}

// ProgramIn returns a folder's program: that of its newest version, or the folder's own.
func ProgramIn(dir, name string) string {
	return cmp.Or(Newest(dir, name), filepath.Join(dir, name))
}

// NewestOf returns the program to run instead of exe: the newest one installed
// beside it, or exe.
func NewestOf(exe string) string {
	if programs, ok := VersionsFolder(exe); ok {
		return cmp.Or(Newest(programs, filepath.Base(exe)), exe)
	}
	return exe
}

// VersionsFolder returns the folder with one folder per version, if exe is in one of them.
func VersionsFolder(exe string) (programs string, ok bool) {
	dir := filepath.Dir(exe)
	return filepath.Dir(dir), parseVersion(filepath.Base(dir)) != nil
}

// Compare compares two versions by their folders' names; ok is false if either is not one.
func Compare(a, b string) (order int, ok bool) {
	v, w := parseVersion(a), parseVersion(b)
	return slices.Compare(v, w), v != nil && w != nil
}

// parseVersion parses a folder's name; nil if it is not a version.
func parseVersion(name string) (v []int) {
	for part := range strings.SplitSeq(name, ".") {
		n, err := strconv.ParseUint(part, 10, 16)
		if err != nil {
			return nil
		}
		v = append(v, int(n))
	}
	if len(v) != 3 {
		return nil
	}
	return v
}

func isRegular(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// Sweep removes the versions beside exe's that are not running. A folder without
// that program is not ours.
func Sweep(exe string) error {
	programs, ok := VersionsFolder(exe)
	if !ok {
		return nil
	}
	folders, err := os.ReadDir(programs)
	for _, f := range folders {
		dir := filepath.Join(programs, f.Name())
		if !f.IsDir() || parseVersion(f.Name()) == nil || !isRegular(filepath.Join(dir, filepath.Base(exe))) ||
			dir == filepath.Dir(exe) || isRunning(dir) {
			continue
		}
		err = errors.Join(err, remove(dir))
	}
	return err
}

// remove removes a version's folder, which has no subfolders.
func remove(dir string) error {
	_ = os.Remove(filepath.Join(dir, CompleteMarker)) // first, so that the rest is no longer a version
	files, err := os.ReadDir(dir)
	for _, f := range files {
		err = errors.Join(err, os.Remove(filepath.Join(dir, f.Name())))
	}
	return errors.Join(err, os.Remove(dir))
}

// isRunning reports whether a program in a folder is running: then the system lets
// nobody write to its file.
func isRunning(dir string) bool {
	files, err := os.ReadDir(dir)
	for _, e := range files {
		var f *os.File
		if f, err = os.OpenFile(filepath.Join(dir, e.Name()), os.O_WRONLY, 0); err != nil {
			break
		}
		_ = f.Close()
	}
	return err != nil
}
