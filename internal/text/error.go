package text

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"wiebelt/internal/core/contact"
	"wiebelt/internal/core/lazyregexp"
)

// Error is an error that people read, in no language yet: the text of Key with
// Args filled in. An argument that is a Key or an error is put into the language
// of the rest. Errors among the arguments are what it wraps.
type Error struct {
	Key   Key
	Args  []any
	Count bool // the first argument is a number of things, which decides on the form
}

// Errorf makes an Error.
func Errorf(key Key, args ...any) *Error { return &Error{Key: key, Args: args} }

// Countf makes an Error that tells of n things.
func Countf(key Key, n int, args ...any) *Error {
	return &Error{key, append([]any{n}, args...), true}
}

// Error is the error in English, for logs.
func (e *Error) Error() string { return e.In(English) }

// Unwrap gives the errors among the arguments.
func (e *Error) Unwrap() []error {
	var all []error
	for _, a := range e.Args {
		if err, ok := a.(error); ok {
			all = append(all, err)
		}
	}
	return all
}

// In is the error in a language.
func (e *Error) In(l Language) string {
	args := make([]any, len(e.Args))
	for i, a := range e.Args {
		switch a := a.(type) {
		case Key:
			args[i] = l.T(a)
		case error:
			args[i] = l.Error(a)
		default:
			args[i] = a
		}
	}
	if e.Count {
		return l.N(e.Key, args[0].(int), args[1:]...)
	}
	return l.T(e.Key, args...)
}

// system are the errors of the operating system that people meet. What it calls
// them itself is English, or whatever language it has.
var system = []struct {
	is  error
	key Key
}{
	{fs.ErrNotExist, ErrorNotThere}, {fs.ErrPermission, ErrorNotAllowed}, {fs.ErrExist, ErrorIsThere},
	{syscall.ENOSPC, ErrorFull}, {syscall.Errno(112), ErrorFull}, // ERROR_DISK_FULL of Windows
	{syscall.EROFS, ErrorReadOnly}, {syscall.ENOTDIR, ErrorNoFolder}, {syscall.EISDIR, ErrorFolder},
	{syscall.ELOOP, ErrorLink}, {syscall.ENAMETOOLONG, ErrorLongName}, {syscall.EADDRINUSE, ErrorPort},
	{syscall.ECONNREFUSED, ErrorRefused}, {syscall.EPIPE, ErrorClosed}, {os.ErrClosed, ErrorClosed},
	{context.Canceled, ErrorStopped}, {context.DeadlineExceeded, ErrorLate}, {os.ErrDeadlineExceeded, ErrorLate},
}

// Error puts any error into words: its own where it has them, those for a lookup
// that failed and for what the system says, else that something went wrong, with
// what the error says of itself.
func (l Language) Error(err error) string {
	if own, ok := err.(interface{ In(Language) string }); ok {
		return own.In(l)
	}
	if all, ok := err.(interface{ Unwrap() []error }); ok {
		var said []string
		for _, one := range all.Unwrap() {
			said = append(said, l.Error(one))
		}
		return strings.Join(said, " ")
	}
	if lookup, ok := errors.AsType[*contact.LookupError](err); ok {
		s := strings.TrimSuffix(l.T(Failure(string(lookup.Failure))), ".")
		if lookup.Detail != "" && (l == English || coded().MatchString(lookup.Detail)) {
			s += " (" + lookup.Detail + ")"
		}
		return s + "."
	}
	at, bare := place(err)
	if l == English && !bare {
		return err.Error() // says more: what it wraps and what was being done
	}
	var own interface{ In(Language) string }
	if errors.As(err, &own) {
		return own.In(l)
	}
	for _, s := range system {
		if errors.Is(err, s.is) {
			if at != "" {
				at += ": "
			}
			return at + l.T(s.key)
		}
	}
	return l.T(ErrorOther, err.Error())
}

// coded are details that are codes of the hub's, such as "token: status 503". All
// others are English.
var coded = lazyregexp.New(`^\w+: (?:status \d+|[a-z]+(?:_[a-z]+)+)$|^status \d+$`)

// place is the file that an error of the system is about, and whether
// it is such an error and nothing around it.
func place(err error) (at string, bare bool) {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		return path.Path, err == error(path)
	case errors.As(err, &link):
		return link.New, err == error(link)
	}
	_, bare = err.(syscall.Errno)
	return "", bare
}
