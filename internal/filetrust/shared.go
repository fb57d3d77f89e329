package filetrust

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Shared is a folder in which others may put, change, rename and remove things at
// any moment, and to which we bring and from which we take files all the same. Every
// name is one element, is looked up in the folder itself and never through a link,
// whatever the folder's own path has become meanwhile. Methods may be used from any
// goroutine.
type Shared struct {
	root *os.Root
	up   *Shared // of which it is a folder, nil for none
	name string
}

// ErrChanged: a file is not the one any more that it was.
var ErrChanged = errors.New("the file was replaced or changed meanwhile")

// OpenShared opens a folder by its path. Its Close lets go of it.
func OpenShared(path string) (*Shared, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	return &Shared{root: root}, nil
}

// Close lets go of the folder. Those that Folder gave stay open.
func (s *Shared) Close() error { return s.root.Close() }

// Path is how the folder was opened.
func (s *Shared) Path() string { return s.root.Name() }

// Root is the open folder, for what the methods do not do. Close closes it.
func (s *Shared) Root() *os.Root { return s.root }

// List gives what lies in the folder at this moment, by name.
func (s *Shared) List() ([]fs.DirEntry, error) { return fs.ReadDir(s.root.FS(), ".") }

// Lstat tells of a name, a link itself and not where it leads.
func (s *Shared) Lstat(name string) (fs.FileInfo, error) {
	if err := single(name); err != nil {
		return nil, err
	}
	return s.root.Lstat(name)
}

// Open opens a regular file for reading, and tells of what is open. Links, pipes
// and further names of a file of our own are an *Error.
func (s *Shared) Open(name string) (*os.File, fs.FileInfo, error) {
	if err := single(name); err != nil {
		return nil, nil, err
	}
	there, err := s.root.Lstat(name)
	if err != nil {
		return nil, nil, err
	}
	if why := unfit(there); why != "" {
		return nil, nil, &Error{Path: name, Why: why}
	}
	f, err := s.root.OpenFile(name, os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !os.SameFile(there, info) {
		err = ErrChanged // or it was opened through a link put there in between
	}
	if why := Why(""); err == nil {
		if why = unfit(info); why != "" {
			err = &Error{Path: name, Why: why}
		}
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}

// Create makes a file that is not there yet, whatever kind of thing or link has
// the name (fs.ErrExist), and opens it for reading and writing.
func (s *Shared) Create(name string, mode fs.FileMode) (*os.File, error) {
	if err := single(name); err != nil {
		return nil, err
	}
	return s.root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
}

// Folder opens a folder in it that is ours and that nobody else may write, and
// makes it with mode if it is missing. One that somebody else made, or a link, is an
// *Error.
func (s *Shared) Folder(name string, mode fs.FileMode) (*Shared, error) {
	if err := single(name); err != nil {
		return nil, err
	}
	err := s.root.Mkdir(name, 0o700)
	made := err == nil
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	there, err := s.root.Lstat(name)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(s.Path(), name)
	if there.Mode()&fs.ModeSymlink != 0 {
		return nil, &Error{Path: path, Why: Link}
	}
	root, err := s.root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	sub := &Shared{root: root, up: s, name: name}
	if err := sub.ours(path, there, made, mode); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return sub, nil
}

// ours judges a folder that is open, and gives one that was just made its mode.
func (s *Shared) ours(path string, there fs.FileInfo, made bool, mode fs.FileMode) error {
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
	if err := insideShared(f, path); err != nil {
		return err
	}
	if made {
		if err := f.Chmod(mode); err != nil && !errors.Is(err, errors.ErrUnsupported) {
			return err
		}
	}
	return nil
}

// Move takes the file that was opened as was from its name into a folder of ours
// (Folder) under a name that is not taken there (fs.ErrExist). If something else
// has the name by now, or the file has changed, that is put back, and the error is
// ErrChanged.
func (s *Shared) Move(name string, was fs.FileInfo, to *Shared, as string) error {
	if err := errors.Join(single(name), single(as)); err != nil {
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

// Same reports whether two looks saw one file, and it had not changed between.
func Same(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// replace is rename where the system cannot leave alone what has the new name: the
// name is taken first.
func (s *Shared) replace(name string, to *Shared, as string) error {
	f, err := to.Create(as, 0o600)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if to.up == s {
		err = s.root.Rename(name, filepath.Join(to.name, as))
	} else {
		err = to.root.Rename(filepath.Join(s.name, name), as)
	}
	if err != nil {
		return errors.Join(err, to.root.Remove(as))
	}
	return nil
}

// single refuses everything but the name of one thing in a folder.
func single(name string) error {
	if name == "." || name == ".." || filepath.Base(name) != name || !filepath.IsLocal(name) {
		return fmt.Errorf("%q: %w", name, fs.ErrInvalid)
	}
	return nil
}
