// Package filetrust answers one question in one place: does this file or folder belong to
// us, so that nobody else can change it? It also has the one way to read and write beside
// the files of others (Shared).
//
// On Unix, a file is ours if we or root own it, others may not write it, and the same
// holds for every folder and link on the way to it; a sticky folder such as /tmp is fine on
// the way. On the way, the owner's own group does not count as others, since many systems
// let it write by default.
//
// On Windows, the owner and the access control list decide: the user, SYSTEM,
// administrators and TrustedInstaller are ours. Files on another computer are left to its
// permissions, since this computer cannot judge its groups.
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

// Ownership says for whom a file or folder must be safe.
type Ownership int

const (
	UserOwned  Ownership = iota // this user or the computer's administrators own it, nobody else may write
	Private                     // like UserOwned, but only this user may own or read it, and it is no link
	AdminOwned                  // only the computer's administrators own it and may write it
)

// Fault is a stable code for a fault.
type Fault string

// The faults.
const (
	FaultLink  Fault = "link"  // it is a link, or has another hard link
	FaultKind  Fault = "kind"  // it is not a folder, or not a regular file
	FaultOwner Fault = "owner" // it belongs to another user
	FaultWrite Fault = "write" // others may write, replace or remove it
	FaultRead  Fault = "read"  // others may read it
)

// Error is a fault of a file or folder, or of one on the way to it.
type Error struct {
	Path     string // of the faulty file or folder
	Fault    Fault
	InParent bool // it is a folder on the way
}

// Error returns the error in English, for logs.
func (e *Error) Error() string { return e.In(text.English) }

// In returns the error in a language, with what helps.
func (e *Error) In(l text.Language) string {
	switch {
	case e.InParent && e.Fault == FaultWrite:
		return l.T(text.TrustAbove, e.Path)
	case e.Fault == FaultWrite, e.Fault == FaultRead:
		return l.T(text.Trust(string(e.Fault)), e.Path, fixCommand(e.Path, e.Fault))
	}
	return l.T(text.Trust(string(e.Fault)), e.Path)
}

// ErrUntrusted matches every Error with errors.Is.
var ErrUntrusted = errors.New("others could have changed it")

// Is makes every Error match ErrUntrusted.
func (e *Error) Is(target error) bool { return target == ErrUntrusted }

// ErrTooLarge: a file is larger than the reader allows.
var ErrTooLarge = errors.New("the file is too large")

// trustFacts is what the system reports about a file or folder.
type trustFacts struct {
	link, folder, file bool
	owned              bool // by somebody allowed to
	writable           bool // others may write it, or put files into it
	ownGroup           bool // but only the owner's own group
	replaceable        bool // others may rename, replace or remove its content
	readable           bool // others may read it
}

// CheckFolder returns an *Error if a folder is not safe, or fs.ErrNotExist. Our own links are
// followed, except for Private.
func CheckFolder(path string, who Ownership) error {
	real, err := resolve(path, who)
	if err != nil {
		return err
	}
	if IsLocal(real) {
		t, err := inspect(real, who)
		if err != nil {
			return err
		}
		return t.fault(real, who, true)
	}
	if info, err := os.Stat(real); err != nil || !info.IsDir() {
		return cmp.Or(err, error(&Error{Path: real, Fault: FaultKind}))
	}
	return nil
}

// CheckProgram returns an *Error if others could replace a program, or put something beside it.
// The owner's own group may write.
func CheckProgram(path string) error {
	path, err := resolve(path, UserOwned)
	if err != nil {
		return err
	}
	for _, p := range []string{path, filepath.Dir(path)} {
		t, err := inspect(p, UserOwned)
		switch {
		case err != nil:
			return err
		case !t.owned:
			return &Error{Path: p, Fault: FaultOwner}
		case t.writable && !t.ownGroup:
			return &Error{Path: p, Fault: FaultWrite}
		}
	}
	return nil
}

// CheckParents returns an *Error if somebody else could make a path lead elsewhere, regardless
// of who may write its target.
func CheckParents(path string) error {
	_, err := resolve(path, UserOwned)
	return err
}

func (t trustFacts) fault(path string, who Ownership, folder bool) error {
	switch {
	case t.link:
		return &Error{Path: path, Fault: FaultLink}
	case folder && !t.folder, !folder && !t.file:
		return &Error{Path: path, Fault: FaultKind}
	case !t.owned:
		return &Error{Path: path, Fault: FaultOwner}
	case t.writable:
		return &Error{Path: path, Fault: FaultWrite}
	case who == Private && t.readable:
		return &Error{Path: path, Fault: FaultRead}
	}
	return nil
}

// maxLinks limits the links that a path may go through.
const maxLinks = 40

// resolve follows a path, link by link, and returns where it leads. It fails
// if somebody else could make it lead elsewhere. For Private and AdminOwned, the last
// element must not be a link.
func resolve(path string, who Ownership) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if !IsLocal(path) {
		return path, nil
	}
	w := walk{ownership: who, parentOwnership: who}
	if who == Private {
		w.parentOwnership = UserOwned
	}
	w.begin(path)
	for len(w.rest) > 0 {
		if err := w.step(); err != nil {
			return "", err
		}
	}
	return w.at, nil
}

type walk struct {
	ownership, parentOwnership Ownership // for the last element, and for those before it
	at                         string
	rest                       []string
	links                      int
}

func (w *walk) begin(path string) {
	volume := filepath.VolumeName(path) + string(filepath.Separator)
	w.at, w.rest = volume, append(elements(path[len(volume):]), w.rest...)
}

func (w *walk) step() error {
	next := w.rest[0]
	w.rest = w.rest[1:]
	if next == ".." { // in a link's target; at contains none
		w.at = filepath.Dir(w.at)
		return nil
	}
	if err := w.checkFolder(); err != nil {
		return err
	}
	next = filepath.Join(w.at, next)
	t, err := inspect(next, w.parentOwnership)
	switch {
	case errors.Is(err, fs.ErrPermission) && len(w.rest) > 0, err == nil && !t.link:
		w.at = next
		return nil
	case err != nil:
		return err
	}
	return w.follow(next, t)
}

// checkFolder fails if others could replace what is in the folder.
func (w *walk) checkFolder() error {
	t, err := inspect(w.at, w.parentOwnership)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return nil // on Windows, an administrator has hidden the parent from everybody
	case err != nil:
		return err
	case !t.owned:
		return &Error{w.at, FaultOwner, true}
	case t.replaceable:
		return &Error{w.at, FaultWrite, true}
	}
	return nil
}

func (w *walk) follow(link string, t trustFacts) error {
	if w.links++; w.links > maxLinks || w.ownership != UserOwned && len(w.rest) == 0 {
		return &Error{Path: link, Fault: FaultLink}
	}
	if !t.owned {
		return &Error{Path: link, Fault: FaultOwner}
	}
	target, err := os.Readlink(link)
	switch {
	case err != nil:
		return err
	case !filepath.IsAbs(target):
		w.rest = append(elements(target), w.rest...)
	case IsLocal(target):
		w.begin(target)
	default: // on another computer, whose folders are not checked
		w.at, w.rest = filepath.Join(append([]string{target}, w.rest...)...), nil
	}
	return nil
}

// elements splits a relative path into names; ".." is kept.
func elements(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return os.IsPathSeparator(uint8(min(r, 0x7f))) })
}

// Make creates a folder that only this user can enter, with its missing parents, and
// then checks it like CheckFolder. For Private, an existing folder of ours that others may
// read is closed to them.
func Make(path string, who Ownership) error {
	err := CheckFolder(path, who)
	if errors.Is(err, fs.ErrNotExist) {
		if err = makeAll(path); err == nil {
			err = CheckFolder(path, who)
		}
	}
	if e, ok := errors.AsType[*Error](err); ok && who == Private && e.Fault == FaultRead {
		if err = makePrivate(e.Path); err == nil {
			err = CheckFolder(path, who)
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

// OpenFile opens a regular file that is safe, in a folder that is safe, without following
// a link; otherwise it returns an *Error. It checks the file that it has opened. With
// os.O_CREATE in flag, a missing file is created for this user alone.
func OpenFile(path string, flag int, who Ownership) (*os.File, error) {
	above := who
	if who == Private {
		above = UserOwned // names are not secret
	}
	if err := CheckFolder(filepath.Dir(path), above); err != nil {
		return nil, err
	}
	f, err := openNoLink(path, flag)
	if err != nil {
		return nil, err
	}
	if IsLocal(path) {
		t, err := inspectFile(f, who)
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

// ReadFile reads a file opened by OpenFile, at most limit bytes (ErrTooLarge).
func ReadFile(path string, limit int64, who Ownership) ([]byte, error) {
	f, err := OpenFile(path, os.O_RDONLY, who)
	if err != nil {
		return nil, err
	}
	return readAll(f, limit)
}

// ReadPlain reads a regular file, whoever may write it, at most limit bytes (ErrTooLarge).
// It follows links; anything else, such as a pipe that would block, is an *Error.
func ReadPlain(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = &Error{Path: path, Fault: FaultKind}
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

func readAll(f *os.File, limit int64) ([]byte, error) {
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if int64(len(b)) > limit {
		return nil, ErrTooLarge
	}
	return b, err
}

// WithoutPath returns an error without the path in it.
func WithoutPath(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

// SyncDir flushes a folder's entries to disk. Windows does so by itself.
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
