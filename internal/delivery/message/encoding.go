package message

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// problem is a Code that ends the reading of a document.
type problem Code

func (p problem) Error() string { return "message: " + string(p) }

// nextRune reads one character. It gives io.EOF at the end, and a problem for
// bytes that do not fit.
type nextRune func(r *bufio.Reader) (rune, error)

// charset is how the bytes of a document become characters.
type charset struct {
	names []string // in small letters, as documents declare them
	next  nextRune
	odd   Code // what there is to say of it
}

// charsets are those that a declaration may name. What is declared as
// ISO-8859-1 is read as Windows-1252, as browsers do: the two differ where
// ISO-8859-1 has only control characters. A document without a mark that
// declares UTF-16 was written by a program that took a string for a file.
var charsets = []charset{
	{[]string{"", "utf-8", "utf8"}, nextUTF8, ""},
	{[]string{"us-ascii", "ascii"}, single(nil), ""},
	{[]string{"iso-8859-1", "iso8859-1", "latin1", "windows-1252", "cp1252"}, single(charmap.Windows1252), XMLEncodingOld},
	{[]string{"iso-8859-15", "latin9", "latin-9"}, single(charmap.ISO8859_15), XMLEncodingOld},
	{[]string{"utf-16", "utf-16le", "utf-16be"}, nextUTF8, XMLEncodingOther},
}

// marks may stand in front of a document; then they decide.
var marks = []struct {
	mark  string
	names []string // what may be declared beside it
	next  nextRune
}{
	{"\xef\xbb\xbf", []string{"", "utf-8", "utf8"}, nextUTF8},
	{"\xff\xfe", []string{"", "utf-16", "utf-16le"}, wide(binary.LittleEndian)},
	{"\xfe\xff", []string{"", "utf-16", "utf-16be"}, wide(binary.BigEndian)},
}

func nextUTF8(r *bufio.Reader) (rune, error) {
	c, n, err := r.ReadRune()
	if err == nil && c == utf8.RuneError && n == 1 {
		return 0, problem(XMLEncodingDamaged)
	}
	return c, err
}

// single reads a character set of one byte a character; nil is ASCII.
func single(m *charmap.Charmap) nextRune {
	return func(r *bufio.Reader) (rune, error) {
		b, err := r.ReadByte()
		if err != nil || b < utf8.RuneSelf {
			return rune(b), err
		}
		if m == nil || m.DecodeByte(b) == utf8.RuneError {
			return 0, problem(XMLEncodingDamaged)
		}
		return m.DecodeByte(b), nil
	}
}

// wide reads UTF-16.
func wide(order binary.ByteOrder) nextRune {
	unit := func(r *bufio.Reader) (rune, error) {
		var b [2]byte
		_, err := io.ReadFull(r, b[:])
		if err == io.ErrUnexpectedEOF {
			err = problem(XMLEncodingDamaged)
		}
		return rune(order.Uint16(b[:])), err
	}
	return func(r *bufio.Reader) (rune, error) {
		c, err := unit(r)
		if err != nil || !utf16.IsSurrogate(c) {
			return c, err
		}
		low, err := unit(r)
		if err == nil || err == io.EOF {
			if c = utf16.DecodeRune(c, low); c != utf8.RuneError {
				return c, nil
			}
			err = problem(XMLEncodingDamaged)
		}
		return 0, err
	}
}

// decoderOf looks at the beginning of a document: the mark at its start, which
// it consumes, and the encoding that it declares. odd is what there is to say of
// them; an error is a problem or r's.
func decoderOf(r *bufio.Reader) (next nextRune, odd Code, err error) {
	head, err := r.Peek(4)
	if err != nil && err != io.EOF {
		return nil, "", err
	}
	starts := func(with ...string) bool {
		return slices.ContainsFunc(with, func(s string) bool { return bytes.HasPrefix(head, []byte(s)) })
	}
	switch {
	case starts("\xff\xfe\x00\x00", "\x00\x00\xfe\xff", "<\x00\x00\x00", "\x00\x00\x00<", "\x4c\x6f\xa7\x94"): // UTF-32, EBCDIC
		return nil, "", problem(XMLEncodingUnknown)
	case starts("<\x00", "\x00<"):
		return nil, "", problem(XMLEncodingDamaged) // UTF-16 must begin with a mark
	}
	for _, m := range marks {
		if !starts(m.mark) {
			continue
		}
		_, _ = r.Discard(len(m.mark)) // was peeked
		declared, err := declaredEncoding(r, m.next)
		if !slices.Contains(m.names, declared) {
			odd = XMLEncodingOther
		}
		return m.next, odd, err
	}
	declared, err := declaredEncoding(r, nextUTF8)
	if err != nil {
		return nil, "", err
	}
	for _, c := range charsets {
		if slices.Contains(c.names, declared) {
			return c.next, c.odd, nil
		}
	}
	return nil, "", problem(XMLEncodingUnknown)
}

// maxDeclaration is how far the encoding may stand from the beginning.
const maxDeclaration = 512

// declaredEncoding peeks at the encoding in <?xml …?>, in small letters; "" if
// there is none.
func declaredEncoding(r *bufio.Reader, next nextRune) (string, error) {
	peeked, err := r.Peek(2 * maxDeclaration)
	if err != nil && err != io.EOF {
		return "", err
	}
	var head []byte
	for in := bufio.NewReader(bytes.NewReader(peeked)); len(head) < maxDeclaration; {
		c, err := next(in)
		if err != nil || c >= utf8.RuneSelf {
			break
		}
		head = append(head, byte(c))
	}
	s, ok := strings.CutPrefix(string(head), "<?xml")
	if !ok {
		return "", nil
	}
	s, _, ok = strings.Cut(s, "?>")
	if !ok {
		return "", nil
	}
	_, s, ok = strings.Cut(s, "encoding")
	if !ok {
		return "", nil
	}
	s, ok = strings.CutPrefix(strings.TrimLeft(s, " \t\r\n"), "=")
	s = strings.TrimLeft(s, " \t\r\n")
	if !ok || s == "" || s[0] != '"' && s[0] != '\'' {
		return "", nil
	}
	s, _, _ = strings.Cut(s[1:], s[:1])
	return strings.ToLower(s), nil
}

// guard gives a document as UTF-8 and ends it with a problem when it, or the
// token that is being read, gets too long.
type guard struct {
	r        *bufio.Reader
	next     nextRune
	left     int64 // bytes of the document
	token    int64 // bytes of the token
	failed   error // what ended the document, other than its end
	buf      [utf8.UTFMax]byte
	have, at int
}

// ReadByte makes encoding/xml take no more than it needs.
func (g *guard) ReadByte() (byte, error) {
	if g.failed != nil {
		return 0, g.failed
	}
	if g.at == g.have {
		c, err := g.next(g.r)
		if err != nil {
			if err != io.EOF {
				g.failed = err
			}
			return 0, err
		}
		g.have, g.at = utf8.EncodeRune(g.buf[:], c), 0
	}
	g.left--
	g.token--
	switch {
	case g.left < 0:
		g.failed = problem(XMLTooLarge)
	case g.token < 0:
		g.failed = problem(XMLTokenTooLong)
	}
	if g.failed != nil {
		return 0, g.failed
	}
	b := g.buf[g.at]
	g.at++
	return b, nil
}

// Read is there because encoding/xml asks for a reader; it uses ReadByte.
func (g *guard) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	b, err := g.ReadByte()
	if err != nil {
		return 0, err
	}
	p[0] = b
	return 1, nil
}
