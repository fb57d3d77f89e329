package filetrust

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Shared is a folder in which others may create, change, rename and remove files at any
// time, and where we nevertheless put and take files. Every name is a single element,
// looked up in the open folder and never through a link, wherever the folder's own path may
// lead meanwhile. Methods are safe for concurrent use.
type Shared struct {
	root   *os.Root
	parent *Shared // its parent; nil if opened by path
	name   string
}

// ErrChanged means that a file is no longer the one it was.
var ErrChanged = errors.New("the file was replaced or changed meanwhile")

// OpenShared opens a folder by its path.
func OpenShared(path string) (*Shared, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	return &Shared{root: root}, nil
}

// Close closes the folder. Those returned by Folder stay open.
func (s *Shared) Close() error { return s.root.Close() }

// Path returns the path with which the folder was opened.
func (s *Shared) Path() string { return s.root.Name() }

// Root returns the open folder, for what the methods cannot do. Close closes it.
func (s *Shared) Root() *os.Root { return s.root }

// List returns the folder's current entries, sorted by name.
func (s *Shared) List() ([]fs.DirEntry, error) { return fs.ReadDir(s.root.FS(), ".") }

// Lstat returns the info of a file, or of a link itself.
func (s *Shared) Lstat(name string) (fs.FileInfo, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	return s.root.Lstat(name)
}

// Open opens a regular file for reading and returns the info of the open file. For a link,
// a pipe or another hard link to our own files, it returns an *Error.
func (s *Shared) Open(name string) (*os.File, fs.FileInfo, error) {
	if err := checkName(name); err != nil {
		return nil, nil, err
	}
	there, err := s.root.Lstat(name)
	if err != nil {
		return nil, nil, err
	}
	if why := fileFault(there); why != "" {
		return nil, nil, &Error{Path: name, Fault: why}
	}
	f, err := s.root.OpenFile(name, os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !os.SameFile(there, info) {
		err = ErrChanged // or a link put there in between was followed
	}
	if why := Fault(""); err == nil {
		if why = fileFault(info); why != "" {
			err = &Error{Path: name, Fault: why}
		}
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}

// Create creates a file that only we may access and opens it for reading and writing. If
// anything, even a link, has that name, it returns fs.ErrExist.
func (s *Shared) Create(name string) (*os.File, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	return s.root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
}

// Folder opens a subfolder that is ours and that nobody else may write; if missing, it is
// created. For a link, or if somebody else made it, it returns an *Error.
func (s *Shared) Folder(name string) (*Shared, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	if err := s.root.Mkdir(name, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	there, err := s.root.Lstat(name)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(s.Path(), name)
	if there.Mode()&fs.ModeSymlink != 0 {
		return nil, &Error{Path: path, Fault: FaultLink}
	}
	root, err := s.root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	sub := &Shared{root: root, parent: s, name: name}
	if err := sub.checkOpened(path, there); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return sub, nil
}

func (s *Shared) checkOpened(path string, there fs.FileInfo) error {
	f, err := s.root.Open(".")
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !os.SameFile(there, info) {
		return ErrChanged
	}
	return checkSubfolder(f, path)
}

// Move moves the file that was opened as was into a folder of ours (Folder), under a name
// not yet in use there (fs.ErrExist). If something else has its name by now, or the file
// has changed, that is moved back, and the error is ErrChanged.
func (s *Shared) Move(name string, was fs.FileInfo, to *Shared, as string) error {
	if err := errors.Join(checkName(name), checkName(as)); err != nil {
		return err
	}
	if err := s.rename(name, to, as); err != nil {
		return err
	}
	now, err := to.root.Lstat(as)
	if err == nil && Same(was, now) {
		return nil
	}
	back, ext := name, filepath.Ext(name)
	for n := 2; n < 1000; n++ {
		if err = to.rename(as, s, back); !errors.Is(err, fs.ErrExist) {
			break
		}
		back = fmt.Sprintf("%s-%d%s", strings.TrimSuffix(name, ext), n, ext)
	}
	return errors.Join(ErrChanged, err)
}

// Same reports whether two infos are of the same file, unchanged in between.
func Same(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// replace is rename where the system cannot refuse to replace a file: it reserves
// the new name first.
func (s *Shared) replace(name string, to *Shared, as string) error {
	f, err := to.Create(as)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if to.parent == s {
		err = s.root.Rename(name, filepath.Join(to.name, as))
	} else {
		err = to.root.Rename(filepath.Join(s.name, name), as)
	}
	if err != nil {
		return errors.Join(err, to.root.Remove(as))
	}
	return nil
}

// checkName returns an error for everything but a single file name.
func checkName(name string) error {
	if name == "." || name == ".." || filepath.Base(name) != name || !filepath.IsLocal(name) {
		return fmt.Errorf("%q: %w", name, fs.ErrInvalid)
	}
	return nil
}
