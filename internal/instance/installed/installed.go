// Package installed knows how an installer lays versions of Wiebelt beside one another,
// each in a folder that has its name, so that what runs keeps its files: which of them is
// the newest, and which may go. It has no state and no goroutines.
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

// Complete is the name of the file that an installer writes last into the folder of
// a version and removes first: what stands beside it is whole.
const Complete = "complete"

// FromConsole is the variable by which the small program with a console tells the whole
// one, on Windows, that it has been started in one.
const FromConsole = "WIEBELT_FROM_CONSOLE"

// Newest gives the program of a name in the newest version below programs, a folder
// in which every version has its own. A version that is just being written or
// removed does not count; "" where there is none.
func Newest(programs, name string) (path string) {
	folders, _ := os.ReadDir(programs)
	var newest []int
	for _, f := range folders {
		v := version(f.Name())
		if v == nil || slices.Compare(v, newest) <= 0 {
			continue
		}
		at := filepath.Join(programs, f.Name())
		if regular(filepath.Join(at, Complete)) && regular(filepath.Join(at, name)) {
			newest, path = v, filepath.Join(at, name)
		}
	}
	return path
}

// In gives a program of a folder: in that of its newest version, or the folder's own.
func In(dir, name string) string {
	return cmp.Or(Newest(dir, name), filepath.Join(dir, name))
}

// NewestOf gives the program that is to run in exe's place: of those that were
// installed beside one another the newest one, elsewhere exe.
func NewestOf(exe string) string {
	if programs, ok := Beside(exe); ok {
		return cmp.Or(Newest(programs, filepath.Base(exe)), exe)
	}
	return exe
}

// Beside gives the folder in which every version has its own, if exe is in one of
// those.
func Beside(exe string) (programs string, ok bool) {
	dir := filepath.Dir(exe)
	return filepath.Dir(dir), version(filepath.Base(dir)) != nil
}

// Compare orders two versions by their folders' names; ok is false if one is no version.
func Compare(a, b string) (order int, ok bool) {
	v, w := version(a), version(b)
	return slices.Compare(v, w), v != nil && w != nil
}

// version reads a folder's name, nil if it is not the name of a version.
func version(name string) (v []int) {
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

func regular(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// Sweep removes the versions that are installed beside exe's and that nobody runs. A folder
// without that program is somebody else's.
func Sweep(exe string) error {
	programs, ok := Beside(exe)
	if !ok {
		return nil
	}
	folders, err := os.ReadDir(programs)
	for _, f := range folders {
		dir := filepath.Join(programs, f.Name())
		if !f.IsDir() || version(f.Name()) == nil || !regular(filepath.Join(dir, filepath.Base(exe))) || dir == filepath.Dir(exe) || runs(dir) {
			continue
		}
		err = errors.Join(err, remove(dir))
	}
	return err
}

// remove removes the folder of a version, which has no others in it.
func remove(dir string) error {
	_ = os.Remove(filepath.Join(dir, Complete)) // first: the rest is no version any more
	files, err := os.ReadDir(dir)
	for _, f := range files {
		err = errors.Join(err, os.Remove(filepath.Join(dir, f.Name())))
	}
	return errors.Join(err, os.Remove(dir))
}

// runs reports whether a program of a folder runs: the system lets nobody write to
// its file then.
func runs(dir string) bool {
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
