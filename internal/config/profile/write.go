package profile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"wiebelt/internal/filetrust"
)

// staleAfter is how old a temporary file must be before it counts as left over
// from a program that was ended while writing.
const staleAfter = 10 * time.Minute

// WriteFile writes b to path so that a reader, or a machine that loses power,
// finds the old or the new contents: temporary file in the same folder, synced,
// renamed, folder synced. A link at path is replaced, not followed.
func WriteFile(path string, b []byte, mode fs.FileMode) error {
	temp, err := writeTemp(path, b, mode)
	if err != nil {
		return err
	}
	if err := Patiently(func() error { return os.Rename(temp, path) }); err != nil {
		os.Remove(temp)
		return err
	}
	return filetrust.SyncDir(filepath.Dir(path))
}

// Patiently tries for a second on Windows, which refuses while a virus scanner or a
// reader holds a file open for a moment.
func Patiently(do func() error) error {
	err := do()
	for wait := 5 * time.Millisecond; err != nil && runtime.GOOS == "windows" && !errors.Is(err, fs.ErrNotExist) && wait < 700*time.Millisecond; wait *= 2 {
		time.Sleep(wait)
		err = do()
	}
	return err
}

// CreateFile is WriteFile for a file that must not be there yet: of several
// programs that create it at once exactly one succeeds, the others get an error
// that is fs.ErrExist and find the whole file.
func CreateFile(path string, b []byte, mode fs.FileMode) error {
	temp, err := writeTemp(path, b, mode)
	if err != nil {
		return err
	}
	defer os.Remove(temp)
	if err := os.Link(temp, path); err != nil {
		// It is there, or the file system has no hard links: creating says who was first.
		return createPlain(path, b, mode)
	}
	return filetrust.SyncDir(filepath.Dir(path))
}

// RemoveFile removes path and whatever an interrupted WriteFile left of it. A
// file that is not there, nor its folder, is no error.
func RemoveFile(path string) error {
	sweep(path, time.Now().Add(time.Hour))
	err := os.Remove(path)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		err = filetrust.SyncDir(filepath.Dir(path))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func writeTemp(path string, b []byte, mode fs.FileMode) (temp string, err error) {
	sweep(path, time.Now().Add(-staleAfter))
	f, err := os.CreateTemp(filepath.Dir(path), tempPrefix(path)+"*"+tempSuffix)
	if err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if err := f.Chmod(mode); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return "", err
	}
	if _, err := f.Write(b); err != nil {
		return "", err
	}
	if err := f.Sync(); err != nil {
		return "", err
	}
	return f.Name(), f.Close()
}

func createPlain(path string, b []byte, mode fs.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		os.Remove(path)
		return err
	}
	return filetrust.SyncDir(filepath.Dir(path))
}

func tempPrefix(path string) string { return "." + filepath.Base(path) + "." }

const tempSuffix = ".tmp"

// sweep removes temporary files of path that are older than before.
func sweep(path string, before time.Time) {
	files, _ := os.ReadDir(filepath.Dir(path))
	for _, f := range files {
		rest, ours := strings.CutPrefix(f.Name(), tempPrefix(path))
		if !ours || !strings.HasSuffix(rest, tempSuffix) {
			continue
		}
		if info, err := f.Info(); err == nil && info.Mode().IsRegular() && info.ModTime().Before(before) {
			os.Remove(filepath.Join(filepath.Dir(path), f.Name()))
		}
	}
}
