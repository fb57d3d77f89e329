package secret

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// Errors of ReadSecret.
var (
	// ErrEmpty: there was nothing, or nothing but a line end.
	ErrEmpty = errors.New("the secret is empty")
	// ErrEncoding: not UTF-8. Windows PowerShell writes UTF-16 into a pipe or a
	// file unless it is told otherwise.
	ErrEncoding = errors.New("the secret is not UTF-8 text (is it UTF-16?)")
	// ErrLines: a second line, which belongs to something else.
	ErrLines = errors.New("the secret is one line, and there are more")
)

// ReadSecret reads a secret from standard input or a file, as a whole: UTF-8; a
// byte order mark and one line end, LF or CRLF, are cut off; everything else on
// that line belongs to the secret, spaces too. It returns ErrEmpty, ErrEncoding,
// ErrLines or ErrFull for what cannot be a secret.
func ReadSecret(r io.Reader) (string, error) {
	const around = 3 + 2 // mark and line end
	b, err := io.ReadAll(io.LimitReader(r, MaxLength+around+1))
	if err != nil {
		return "", fmt.Errorf("reading the secret: %w", err)
	}
	long := len(b) > MaxLength+around
	b = bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))
	if rest, cut := bytes.CutSuffix(b, []byte("\n")); cut {
		b = bytes.TrimSuffix(rest, []byte("\r"))
	}
	switch {
	case bytes.IndexByte(b, 0) >= 0, !long && !utf8.Valid(b):
		return "", ErrEncoding
	case long, len(b) > MaxLength:
		return "", ErrFull
	case bytes.ContainsAny(b, "\r\n"):
		return "", ErrLines
	case len(b) == 0:
		return "", ErrEmpty
	}
	return string(b), nil
}
