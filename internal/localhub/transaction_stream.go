package localhub

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

var (
	errAround = errors.New("too much beside the messages")
	errEscape = errors.New("no escape sequence of JSON")
)

// splitter sits between a request and the decoder, which keeps whole strings in memory.
// Before it is called again, it never passes on more than the opening quote of a string;
// text can then take the string's content instead of the decoder, which sees an empty one.
type splitter struct {
	r       *bufio.Reader
	inside  bool // inside a string
	escaped bool // the last byte was a backslash
	around  int  // bytes handed over
}

func newSplitter(r io.Reader) *splitter { return &splitter{r: bufio.NewReaderSize(r, chunk)} }

// buffered peeks at 1 to most bytes.
func (s *splitter) buffered(most int) ([]byte, error) {
	if _, err := s.r.Peek(1); err != nil {
		return nil, err
	}
	return s.r.Peek(min(s.r.Buffered(), most))
}

func (s *splitter) Read(b []byte) (int, error) {
	next, err := s.buffered(len(b))
	if err != nil {
		return 0, err
	}
	n, opened := 0, false
	for ; n < len(next) && !opened; n++ {
		switch c := next[n]; {
		case s.escaped:
			s.escaped = false
		case s.inside && c == '\\':
			s.escaped = true
		case c == '"':
			s.inside = !s.inside
			opened = s.inside
		}
	}
	copy(b, next[:n])
	_, _ = s.r.Discard(n) // buffered
	if s.around += n; s.around > maxAround {
		return 0, errAround
	}
	return n, nil
}

// text fills b with the content of the opened string, up to its closing quote; ended is true
// once that is reached. A non-ASCII character becomes a backslash, which is not base64 either.
func (s *splitter) text(b []byte) (n int, ended bool, err error) {
	for n < len(b) {
		next, err := s.buffered(len(b) - n)
		if err != nil {
			return 0, false, err
		}
		end := bytes.IndexByte(next, '"')
		if end < 0 {
			end = len(next)
		}
		if at := bytes.IndexByte(next[:end], '\\'); at >= 0 {
			n += copy(b[n:], next[:at])
			_, _ = s.r.Discard(at) // buffered
			if b[n], err = s.escape(); err != nil {
				return 0, false, err
			}
			n++
			continue
		}
		ended := end < len(next)
		n += copy(b[n:], next[:end])
		_, _ = s.r.Discard(end) // buffered
		if ended {
			return n, true, nil
		}
	}
	return n, false, nil
}

// escape reads an escape sequence: some senders escape every slash.
func (s *splitter) escape() (byte, error) {
	raw, err := s.r.Peek(2)
	if err == nil && raw[1] == 'u' {
		raw, err = s.r.Peek(6)
	}
	if err != nil {
		return 0, err
	}
	c, err := jsontext.AppendUnquote(nil, `"`+string(raw)+`"`)
	if err != nil {
		return 0, errEscape
	}
	_, _ = s.r.Discard(len(raw)) // buffered
	if len(c) != 1 {
		return '\\', nil
	}
	return c[0], nil
}
