package profile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"wiebelt/internal/filetrust"
)

// staleAfter is the age from which a temporary file counts as left behind by a program that
// was killed while writing.
const staleAfter = 10 * time.Minute

// WriteFile writes b to path so that readers find the old or the new contents, even after
// a power failure: temporary file in the same folder, sync, rename, sync of the folder. A
// link at path is replaced, not followed.
func WriteFile(path string, b []byte, mode fs.FileMode) error {
	temp, err := writeTemp(path, b, mode)
	if err != nil {
		return err
	}
	if err := RetryBusy(func() error { return os.Rename(temp, path) }); err != nil {
		os.Remove(temp)
		return blockedBy(err, path)
	}
	return filetrust.SyncDir(filepath.Dir(path))
}

// RetryBusy retries for a second on Windows, where operations fail while a virus scanner or
// a reader briefly holds a file open.
func RetryBusy(do func() error) error {
	err := do()
	for wait := 5 * time.Millisecond; err != nil && runtime.GOOS == "windows" && !errors.Is(err, fs.ErrNotExist) && wait < 700*time.Millisecond; wait *= 2 {
		time.Sleep(wait)
		err = do()
	}
	return err
}

// CreateFile is WriteFile for a file that must not exist yet: of several programs that
// create it concurrently, exactly one succeeds; the others get an error that is fs.ErrExist
// and find the complete file.
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
	return blockedBy(err, path)
}

// blockedBy returns a better error where a folder is in the file's place: systems then
// only say that something exists.
func blockedBy(err error, path string) error {
	if errors.Is(err, fs.ErrExist) {
		return &fs.PathError{Op: "write", Path: path, Err: syscall.EISDIR}
	}
	return err
}

func writeTemp(path string, b []byte, mode fs.FileMode) (temp string, err error) {
	sweep(path, time.Now().Add(-staleAfter))
	f, err := os.CreateTemp(filepath.Dir(path), tempPrefix(path)+"*"+tempSuffix)
	if err != nil { // nobody knows the temporary name
		return "", &fs.PathError{Op: "create", Path: path, Err: filetrust.WithoutPath(err)}
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

// sweep removes temporary files of path last modified before the given time.
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
