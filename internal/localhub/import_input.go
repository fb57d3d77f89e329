package localhub

import (
	"bytes"
	"errors"
	"io"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"wiebelt/internal/text"
)

func (m *importer) read(r io.Reader) error {
	m.in = &input{raw: r}
	m.in.next()
	read := m.readCSV
	if m.errs.Format == JSON {
		read = m.readJSON
	}
	err := read()
	if err == nil {
		m.progress()
	}
	return err
}

// unreadable ends the import because of an endless row, or because of another error.
func (m *importer) unreadable(last int, err error) error {
	if errors.Is(err, errLongRow) {
		m.beginRow(last)
		m.rejectRow("", text.Errorf(text.LocalhubImportLongRow, maxImportRow))
		return nil
	}
	return err
}

const importBuffer = 64 << 10

var errLongRow = errors.New("row too long")

// input is a file converted to UTF-8: from UTF-8 or UTF-16 according to its mark, else
// as indicated by the first character outside ASCII. Its lines end with a line feed, also if
// those of the file end with a carriage return alone, as old programs of a Mac write them.
// Reading between two calls of next is limited, so that no reader above it grows without bound.
type input struct {
	raw   io.Reader
	text  io.Reader // raw, as UTF-8
	bytes int64     // read from raw
	left  int
	mac   bool // carriage returns end lines
}

// next starts a row, of which up to a buffer may already have been read.
func (in *input) next() { in.left = maxImportRow + importBuffer }

func (in *input) Read(p []byte) (int, error) {
	first := in.text == nil
	if first {
		in.text = transform.NewReader(countingReader{in}, unicode.BOMOverride(&encodingGuess{}))
	}
	if in.left <= 0 {
		return 0, errLongRow
	}
	// Small pieces: read-ahead counts towards the row that requests it.
	n, err := in.text.Read(p[:min(len(p), in.left, importBuffer)])
	in.left -= n
	if first {
		cr := bytes.IndexByte(p[:n], '\r')
		in.mac = cr >= 0 && cr < n-1 && bytes.IndexByte(p[:n], '\n') < 0
	}
	if in.mac {
		copy(p, bytes.ReplaceAll(p[:n], []byte("\r"), []byte("\n")))
	}
	return n, err
}

// countingReader reads the raw file and counts its bytes.
type countingReader struct{ in *input }

func (c countingReader) Read(p []byte) (int, error) {
	n, err := c.in.raw.Read(p)
	c.in.bytes += int64(n)
	return n, err
}

// encodingGuess reads ASCII until anything else occurs, and then decides
// whether it is UTF-8 or Windows-1252, as written by old programs.
type encodingGuess struct {
	transform.NopResetter
	detected transform.Transformer
}

func (g *encodingGuess) Transform(dst, src []byte, atEOF bool) (nDst, nSrc int, err error) {
	if g.detected != nil {
		return g.detected.Transform(dst, src, atEOF)
	}
	for nSrc < len(src) && src[nSrc] < utf8.RuneSelf {
		if nSrc == len(dst) {
			return nSrc, nSrc, transform.ErrShortDst
		}
		dst[nSrc] = src[nSrc]
		nSrc++
	}
	rest := src[nSrc:]
	switch {
	case len(rest) == 0:
		return nSrc, nSrc, nil
	case !utf8.FullRune(rest) && !atEOF:
		return nSrc, nSrc, transform.ErrShortSrc
	}
	if r, size := utf8.DecodeRune(rest); r == utf8.RuneError && size == 1 {
		g.detected = charmap.Windows1252.NewDecoder()
	} else {
		g.detected = unicode.UTF8.NewDecoder()
	}
	d, s, err := g.detected.Transform(dst[nSrc:], rest, atEOF)
	return nSrc + d, nSrc + s, err
}
