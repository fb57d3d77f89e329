package message

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"wiebelt/internal/core/lazyregexp"
)

// problem is a Code that ends reading a document.
type problem Code

func (p problem) Error() string { return "message: " + string(p) }

// charset describes how a document's bytes are decoded.
type charset struct {
	names   []string          // lower case, as declared in documents
	decoder encoding.Encoding // nil is UTF-8
	finding Code              // finding about its use
}

// charsets are the encodings that may be declared. ISO-8859-1 is read as Windows-1252, as
// in browsers: they differ where ISO-8859-1 has only control characters. A document without
// a mark that declares UTF-16 was written by a program that confused a string with a file.
var charsets = []charset{
	{[]string{"", "utf-8", "utf8"}, nil, ""},
	{[]string{ascii, "ascii"}, nil, ""},
	{[]string{"iso-8859-1", "iso8859-1", "latin1", "windows-1252", "cp1252"}, charmap.Windows1252, XMLEncodingOld},
	{[]string{"iso-8859-15", "latin9", "latin-9"}, charmap.ISO8859_15, XMLEncodingOld},
	{[]string{"utf-16", "utf-16le", "utf-16be"}, nil, XMLEncodingOther},
}

const ascii = "us-ascii"

// byteOrderMarks may precede a document, whose encoding they then determine.
var byteOrderMarks = []struct {
	mark    string
	names   []string // declarations allowed with it
	decoder encoding.Encoding
}{
	{"\xef\xbb\xbf", []string{"", "utf-8", "utf8"}, nil},
	{"\xff\xfe", []string{"", "utf-16", "utf-16le"}, unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)},
	{"\xfe\xff", []string{"", "utf-16", "utf-16be"}, unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)},
}

// decodeText decodes a document to UTF-8, with U+FFFD for invalid bytes, according to
// its mark and declared encoding. odd is a finding about those. The error is a
// problem; errors of r recur when in is read. plain means that only ASCII is allowed.
func decodeText(r *bufio.Reader) (in io.Reader, plain bool, odd Code, err error) {
	head, _ := r.Peek(4)
	starts := func(with ...string) bool {
		return slices.ContainsFunc(with, func(s string) bool { return bytes.HasPrefix(head, []byte(s)) })
	}
	switch {
	case starts("\xff\xfe\x00\x00", "\x00\x00\xfe\xff", "<\x00\x00\x00", "\x00\x00\x00<", "\x4c\x6f\xa7\x94"): // UTF-32, EBCDIC
		return nil, false, "", problem(XMLEncodingUnknown)
	case starts("<\x00", "\x00<"):
		return nil, false, "", problem(XMLEncodingDamaged) // UTF-16 must begin with a mark
	}
	for _, m := range byteOrderMarks {
		if !starts(m.mark) {
			continue
		}
		_, _ = r.Discard(len(m.mark)) // already peeked
		if !slices.Contains(m.names, declaredEncoding(r, m.decoder)) {
			odd = XMLEncodingOther
		}
		return decodingReader(r, m.decoder), false, odd, nil
	}
	declared := declaredEncoding(r, nil)
	for _, c := range charsets {
		if slices.Contains(c.names, declared) {
			return decodingReader(r, c.decoder), slices.Contains(c.names, ascii), c.finding, nil
		}
	}
	return nil, false, "", problem(XMLEncodingUnknown)
}

func decodingReader(r io.Reader, e encoding.Encoding) io.Reader {
	if e == nil {
		return r
	}
	return e.NewDecoder().Reader(r)
}

// maxDeclaration limits the distance of the encoding from the document's start, in bytes.
const maxDeclaration = 1024

// declaredEncoding peeks at the encoding in <?xml …?>, in lower case; "" if there is none.
func declaredEncoding(r *bufio.Reader, e encoding.Encoding) string {
	peeked, _ := r.Peek(maxDeclaration)
	head, _ := io.ReadAll(decodingReader(bytes.NewReader(peeked), e)) // never fails
	s, begins := strings.CutPrefix(string(head), "<?xml")
	s, _, ends := strings.Cut(s, "?>")
	if m := encodingPattern().FindStringSubmatch(s); begins && ends && m != nil {
		return strings.ToLower(m[1] + m[2])
	}
	return ""
}

var encodingPattern = lazyregexp.New(`encoding\s*=\s*(?:"([^"]*)"|'([^']*)')`)

// limitedReader reads a document as UTF-8 and ends it with a problem if it, or the
// current token, is too long.
type limitedReader struct {
	r              *bufio.Reader // of UTF-8
	asciiOnly      bool          // only ASCII is allowed
	decoded        bool          // U+FFFD stands for invalid bytes
	docRemaining   int64         // remaining bytes of the document
	tokenRemaining int64         // remaining bytes of the token
	failed         error         // what ended reading, other than the document's end
	buf            [utf8.UTFMax]byte
	have, at       int
}

// ReadByte prevents encoding/xml from reading ahead.
func (g *limitedReader) ReadByte() (byte, error) {
	if g.at == g.have {
		c, n, err := g.r.ReadRune()
		if c == utf8.RuneError && (n == 1 || g.decoded) || c >= utf8.RuneSelf && g.asciiOnly {
			err = problem(XMLEncodingDamaged)
		}
		if err != nil {
			if err != io.EOF {
				g.failed = err
			}
			return 0, err
		}
		g.have, g.at = utf8.EncodeRune(g.buf[:], c), 0
	}
	g.docRemaining--
	g.tokenRemaining--
	switch {
	case g.docRemaining < 0:
		g.failed = problem(XMLTooLarge)
	case g.tokenRemaining < 0:
		g.failed = problem(XMLTokenTooLong)
	}
	if g.failed != nil {
		return 0, g.failed
	}
	b := g.buf[g.at]
	g.at++
	return b, nil
}

// Read satisfies the interface; encoding/xml calls ReadByte instead.
func (g *limitedReader) Read([]byte) (int, error) { return 0, errors.ErrUnsupported }
