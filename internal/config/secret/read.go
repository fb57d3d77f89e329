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
	// ErrEmpty reports empty input, or just a line end.
	ErrEmpty = errors.New("the secret is empty")
	// ErrEncoding reports input that is not UTF-8. Windows PowerShell writes UTF-16 into
	// pipes and files by default.
	ErrEncoding = errors.New("the secret is not UTF-8 text (is it UTF-16?)")
	// ErrMultiline reports a second line.
	ErrMultiline = errors.New("the secret is one line, and there are more")
)

// ReadSecret reads a secret from standard input or a file, until its end: UTF-8; a byte
// order mark and one line end, LF or CRLF, are removed; everything else on that line
// belongs to the secret, including spaces. It returns ErrEmpty, ErrEncoding, ErrMultiline or
// ErrTooLong for invalid input, explained.
func ReadSecret(r io.Reader) (string, error) {
	const around = 3 + 2 // mark and line end
	b, err := io.ReadAll(io.LimitReader(r, MaxLength+around+1))
	if err != nil {
		return "", Explain(fmt.Errorf("reading the secret: %w", err))
	}
	long := len(b) > MaxLength+around
	b = bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))
	if rest, cut := bytes.CutSuffix(b, []byte("\n")); cut {
		b = bytes.TrimSuffix(rest, []byte("\r"))
	}
	switch {
	case bytes.IndexByte(b, 0) >= 0, !long && !utf8.Valid(b):
		return "", Explain(ErrEncoding)
	case len(b) > MaxLength: // long ones too
		return "", Explain(ErrTooLong)
	case bytes.ContainsAny(b, "\r\n"):
		return "", Explain(ErrMultiline)
	case len(b) == 0:
		return "", Explain(ErrEmpty)
	}
	return string(b), nil
}
