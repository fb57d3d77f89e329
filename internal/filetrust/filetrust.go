// Package filetrust answers one question in one place: is this file or folder ours,
// so that nobody else can change it? It also holds the one way to read and write
// beside the files of others (Shared).
//
// On Unix a thing is ours if it belongs to us or root, others may not write it,
// and the same holds for every folder and link on the way to it; a sticky folder
// such as /tmp is fine on the way. A group that is the owner's own does not count
// as others on the way, since many systems let it write by default.
//
// On Windows the owner and the access control list are asked: the user, SYSTEM,
// administrators and TrustedInstaller are ours. What lies on another computer is
// left to its rights, whose groups this computer cannot judge.
//
// Everything is safe for concurrent use. Nothing starts a goroutine.
package filetrust

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"wiebelt/internal/text"
)

// Who says for whom a thing must be safe.
type Who int

const (
	Ours   Who = iota // this user or the computer's administrators own it, nobody else may write
	Alone             // as Ours, it is this user's own and no link, and nobody else may read
	Admins            // only the computer's administrators own and write it
)

// Why is a stable code for what is wrong.
type Why string

// What can be wrong.
const (
	Link    Why = "link"  // it is a link, or has a second name
	Kind    Why = "kind"  // it is not a folder, or not a file
	Owner   Why = "owner" // it belongs to another user
	Written Why = "write" // others may write, replace or remove it
	Read    Why = "read"  // others may read it
)

// Error is what is wrong with a file or folder, or with one on the way to it.
type Error struct {
	Path  string // of what is wrong
	Why   Why
	Above bool // it is a folder on the way
}

// Error is the error in English, for logs.
func (e *Error) Error() string { return e.In(text.English) }

// In is the error in a language, with what helps.
func (e *Error) In(l text.Language) string {
	switch {
	case e.Above && e.Why == Written:
		return l.T(text.TrustAbove, e.Path)
	case e.Why == Written, e.Why == Read:
		return l.T(text.Trust(string(e.Why)), e.Path, mend(e.Path, e.Why))
	}
	return l.T(text.Trust(string(e.Why)), e.Path)
}

// Err is what every Error is.
var Err = errors.New("others could have changed it")

// Is makes every Error an Err.
func (e *Error) Is(target error) bool { return target == Err }

// ErrTooLarge: a file is larger than the reader allows.
var ErrTooLarge = errors.New("the file is too large")

// thing is what the system says of a file or folder.
type thing struct {
	link, folder, file bool
	owned              bool // by one who may
	written            bool // others may write it, or put files into it
	kin                bool // but they are the owner's own group, and nobody else
	moved              bool // others may rename, replace or remove what is in it
	read               bool // others may read it
}

// Folder reports with an *Error if a folder is not safe; fs.ErrNotExist if it is
// not there. Links of our own are followed, but for Alone.
func Folder(path string, who Who) error {
	real, err := resolve(path, who)
	if err != nil {
		return err
	}
	if Local(real) {
		t, err := look(real, who)
		if err != nil {
			return err
		}
		return t.fault(real, who, true)
	}
	if info, err := os.Stat(real); err != nil || !info.IsDir() {
		return cmp.Or(err, error(&Error{Path: real, Why: Kind}))
	}
	return nil
}

// Program reports with an *Error if others could replace a program, or put
// something beside it. A group that is the owner's own may write.
func Program(path string) error {
	path, err := resolve(path, Ours)
	if err != nil {
		return err
	}
	for _, p := range []string{path, filepath.Dir(path)} {
		t, err := look(p, Ours)
		switch {
		case err != nil:
			return err
		case !t.owned:
			return &Error{Path: p, Why: Owner}
		case t.written && !t.kin:
			return &Error{Path: p, Why: Written}
		}
	}
	return nil
}

// Parents reports with an *Error if somebody else could make a path lead elsewhere,
// whoever may write what it leads to.
func Parents(path string) error {
	_, err := resolve(path, Ours)
	return err
}

// fault says what is wrong with the last one on the way.
func (t thing) fault(path string, who Who, folder bool) error {
	switch {
	case t.link:
		return &Error{Path: path, Why: Link}
	case folder && !t.folder, !folder && !t.file:
		return &Error{Path: path, Why: Kind}
	case !t.owned:
		return &Error{Path: path, Why: Owner}
	case t.written:
		return &Error{Path: path, Why: Written}
	case who == Alone && t.read:
		return &Error{Path: path, Why: Read}
	}
	return nil
}

// maxLinks is how many links a path may go through.
const maxLinks = 40

// resolve walks down a path, link by link, and returns where it leads. It fails
// where somebody else could make it lead elsewhere. For Alone, and for Admins, the
// last one may be no link.
func resolve(path string, who Who) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if !Local(path) {
		return path, nil
	}
	w := walk{who: who, above: who}
	if who == Alone {
		w.above = Ours
	}
	w.begin(path)
	for len(w.rest) > 0 {
		if err := w.step(); err != nil {
			return "", err
		}
	}
	return w.at, nil
}

// walk is how far a path has been followed.
type walk struct {
	who, above Who // for the last one, for those on the way
	at         string
	rest       []string
	links      int
}

// begin goes to the beginning of an absolute path.
func (w *walk) begin(path string) {
	volume := filepath.VolumeName(path) + string(filepath.Separator)
	w.at, w.rest = volume, append(elements(path[len(volume):]), w.rest...)
}

func (w *walk) step() error {
	next := w.rest[0]
	w.rest = w.rest[1:]
	if next == ".." { // of a link; at has none
		w.at = filepath.Dir(w.at)
		return nil
	}
	if err := w.judgeFolder(); err != nil {
		return err
	}
	next = filepath.Join(w.at, next)
	t, err := look(next, w.above)
	switch {
	case errors.Is(err, fs.ErrPermission) && len(w.rest) > 0, err == nil && !t.link:
		w.at = next
		return nil
	case err != nil:
		return err
	}
	return w.follow(next, t)
}

// judgeFolder fails where others could put something else into the folder.
func (w *walk) judgeFolder() error {
	t, err := look(w.at, w.above)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return nil // an administrator hides the folder above from everybody (Windows)
	case err != nil:
		return err
	case !t.owned:
		return &Error{w.at, Owner, true}
	case t.moved:
		return &Error{w.at, Written, true}
	}
	return nil
}

func (w *walk) follow(link string, t thing) error {
	if w.links++; w.links > maxLinks || w.who != Ours && len(w.rest) == 0 {
		return &Error{Path: link, Why: Link}
	}
	if !t.owned {
		return &Error{Path: link, Why: Owner}
	}
	target, err := os.Readlink(link)
	switch {
	case err != nil:
		return err
	case !filepath.IsAbs(target):
		w.rest = append(elements(target), w.rest...)
	case Local(target):
		w.begin(target)
	default: // on another computer, whose folders are not judged
		w.at, w.rest = filepath.Join(append([]string{target}, w.rest...)...), nil
	}
	return nil
}

// elements are the names in a relative path; ".." stays.
func elements(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return os.IsPathSeparator(uint8(min(r, 0x7f))) })
}

// Make makes a folder that only this user can enter, with those that are missing
// above it, and then is Folder. For Alone, one of ours that is there and that
// others may read is closed.
func Make(path string, who Who) error {
	err := Folder(path, who)
	if errors.Is(err, fs.ErrNotExist) {
		if err = makeAll(path); err == nil {
			err = Folder(path, who)
		}
	}
	if e, ok := errors.AsType[*Error](err); ok && who == Alone && e.Why == Read {
		if err = shut(e.Path); err == nil {
			err = Folder(path, who)
		}
	}
	return err
}

func makeAll(path string) error {
	if above := filepath.Dir(path); above != path {
		if _, err := os.Stat(above); errors.Is(err, fs.ErrNotExist) {
			if err := makeAll(above); err != nil {
				return err
			}
		}
	}
	if err := mkdir(path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// OpenFile opens a regular file that is safe, in a folder that is safe, and
// follows no link: an *Error otherwise. What was judged is what is open. With
// os.O_CREATE in flag a file that is missing is made for this user alone.
func OpenFile(path string, flag int, who Who) (*os.File, error) {
	above := who
	if who == Alone {
		above = Ours // names are no secret
	}
	if err := Folder(filepath.Dir(path), above); err != nil {
		return nil, err
	}
	f, err := openNoLink(path, flag)
	if err != nil {
		return nil, err
	}
	if Local(path) {
		t, err := lookAt(f, who)
		if err == nil {
			err = t.fault(path, who, false)
		}
		if err != nil {
			_ = f.Close()
			return nil, err
		}
	}
	return f, nil
}

// ReadFile reads a file that OpenFile opens, at most limit bytes (ErrTooLarge).
func ReadFile(path string, limit int64, who Who) ([]byte, error) {
	f, err := OpenFile(path, os.O_RDONLY, who)
	if err != nil {
		return nil, err
	}
	return readAll(f, limit)
}

// ReadPlain reads a regular file, whoever may write it, at most limit bytes
// (ErrTooLarge). Links are followed; anything but a file, such as a pipe that would be
// waited for, is an *Error.
func ReadPlain(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = &Error{Path: path, Why: Kind}
	}
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return readAll(f, limit)
}

// readAll reads a file to its end and closes it.
func readAll(f *os.File, limit int64) ([]byte, error) {
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if int64(len(b)) > limit {
		return nil, ErrTooLarge
	}
	return b, err
}

// Reason is an error without the path that it is about.
func Reason(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

// SyncDir puts the names in a folder on the disk. Windows does so by itself.
func SyncDir(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
