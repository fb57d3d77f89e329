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

// Error is an error for users, not yet in any language: the text of Key with Args
// filled in. Arguments that are Keys or errors are translated with it. Errors among
// the arguments are wrapped.
type Error struct {
	Key   Key
	Args  []any
	Count bool // the first argument is a count, which selects singular or plural
}

// Errorf returns an Error.
func Errorf(key Key, args ...any) *Error { return &Error{Key: key, Args: args} }

// Countf returns an Error about n things.
func Countf(key Key, n int, args ...any) *Error {
	return &Error{key, append([]any{n}, args...), true}
}

// Error returns the error in English, for logs.
func (e *Error) Error() string { return e.In(English) }

// Unwrap returns the errors among the arguments.
func (e *Error) Unwrap() []error {
	var all []error
	for _, a := range e.Args {
		if err, ok := a.(error); ok {
			all = append(all, err)
		}
	}
	return all
}

// In returns the error in a language.
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

// systemErrors lists the system errors that users encounter. The system's own texts are in
// English, or in whatever language it uses.
var systemErrors = []struct {
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

// Error describes any error in a language: in its own words if it has them, else
// in those for a failed lookup or a system error, else as "something went wrong"
// with the error's own text.
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
		if lookup.Detail != "" && (l == English || hubCodePattern().MatchString(lookup.Detail)) {
			s += " (" + lookup.Detail + ")"
		}
		return s + "."
	}
	at, bare := errorPath(err)
	if l == English && !bare {
		return err.Error() // this says more: what is wrapped, and what was being done
	}
	var own interface{ In(Language) string }
	if errors.As(err, &own) {
		return own.In(l)
	}
	for _, s := range systemErrors {
		if errors.Is(err, s.is) {
			if at != "" {
				at += ": "
			}
			return at + l.T(s.key)
		}
	}
	return l.T(ErrorOther, err.Error())
}

// hubCodePattern matches details that are codes of the hub, such as "token: status 503".
// All others are English.
var hubCodePattern = lazyregexp.New(`^\w+: (?:status \d+|[a-z]+(?:_[a-z]+)+)$|^status \d+$`)

// errorPath returns the path of a system error, and whether err is that
// error itself, unwrapped.
func errorPath(err error) (at string, bare bool) {
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
