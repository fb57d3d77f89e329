package message

import (
	"bufio"
	"bytes"
	"io"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// problem is a Code that ends the reading of a document.
type problem Code

func (p problem) Error() string { return "message: " + string(p) }

// charset is how the bytes of a document become runes. next gives io.EOF at the
// end, and a problem for bytes that do not fit.
type charset struct {
	names []string // in small letters, as documents declare them
	next  func(r *bufio.Reader) (rune, error)
}

var (
	charUTF8    = charset{[]string{"utf-8", "utf8"}, nextUTF8}
	charASCII   = charset{[]string{"us-ascii", "ascii"}, single(func(b byte) rune { return -1 })}
	charUTF16LE = charset{[]string{"utf-16", "utf-16le"}, wide(func(b []byte) uint16 { return uint16(b[0]) | uint16(b[1])<<8 })}
	charUTF16BE = charset{[]string{"utf-16", "utf-16be"}, wide(func(b []byte) uint16 { return uint16(b[1]) | uint16(b[0])<<8 })}

	// What is declared as ISO-8859-1 is read as Windows-1252, as browsers do: the
	// two differ where ISO-8859-1 has only control characters.
	charWestern = charset{[]string{"iso-8859-1", "iso8859-1", "latin1", "windows-1252", "cp1252"}, single(func(b byte) rune {
		if b < 0xa0 {
			return windows1252[b-0x80]
		}
		return rune(b)
	})}
	charLatin9 = charset{[]string{"iso-8859-15", "latin9", "latin-9"}, single(func(b byte) rune {
		if r, ok := latin9[b]; ok {
			return r
		}
		return rune(b)
	})}
)

// windows1252 is 0x80 to 0x9f; -1 stands for nothing.
var windows1252 = [32]rune{
	'€', -1, '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', -1, 'Ž', -1,
	-1, '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', -1, 'ž', 'Ÿ',
}

// latin9 is where ISO-8859-15 differs from ISO-8859-1.
var latin9 = map[byte]rune{0xa4: '€', 0xa6: 'Š', 0xa8: 'š', 0xb4: 'Ž', 0xb8: 'ž', 0xbc: 'Œ', 0xbd: 'œ', 0xbe: 'Ÿ'}

func nextUTF8(r *bufio.Reader) (rune, error) {
	c, n, err := r.ReadRune()
	if err == nil && c == utf8.RuneError && n == 1 {
		return 0, problem(XMLEncodingDamaged)
	}
	return c, err
}

func single(high func(byte) rune) func(*bufio.Reader) (rune, error) {
	return func(r *bufio.Reader) (rune, error) {
		b, err := r.ReadByte()
		if err != nil || b < 0x80 {
			return rune(b), err
		}
		if c := high(b); c >= 0 {
			return c, nil
		}
		return 0, problem(XMLEncodingDamaged)
	}
}

func wide(unit func([]byte) uint16) func(*bufio.Reader) (rune, error) {
	next := func(r *bufio.Reader) (rune, error) {
		var b [2]byte
		if _, err := io.ReadFull(r, b[:]); err == io.ErrUnexpectedEOF {
			return 0, problem(XMLEncodingDamaged)
		} else if err != nil {
			return 0, err
		}
		return rune(unit(b[:])), nil
	}
	return func(r *bufio.Reader) (rune, error) {
		c, err := next(r)
		if err != nil || !utf16.IsSurrogate(c) {
			return c, err
		}
		low, err := next(r)
		if err == nil || err == io.EOF {
			if c = utf16.DecodeRune(c, low); c != utf8.RuneError {
				return c, nil
			}
			err = problem(XMLEncodingDamaged)
		}
		return 0, err
	}
}

// charsetOf looks at the beginning of a document: the mark at its start and the
// encoding that it declares. It consumes the mark. found are the codes of what
// is odd; an error is a problem or r's.
func charsetOf(r *bufio.Reader) (c charset, found []Code, err error) {
	head, err := r.Peek(4)
	if err != nil && err != io.EOF {
		return c, nil, err
	}
	mark := 0
	switch {
	case bytes.HasPrefix(head, []byte("\xff\xfe\x00\x00")), bytes.HasPrefix(head, []byte("\x00\x00\xfe\xff")),
		bytes.HasPrefix(head, []byte("<\x00\x00\x00")), bytes.HasPrefix(head, []byte("\x00\x00\x00<")),
		bytes.HasPrefix(head, []byte("\x4c\x6f\xa7\x94")): // UTF-32, EBCDIC
		return c, nil, problem(XMLEncodingUnknown)
	case bytes.HasPrefix(head, []byte("<\x00")), bytes.HasPrefix(head, []byte("\x00<")):
		return c, nil, problem(XMLEncodingDamaged) // UTF-16 must begin with a mark
	case bytes.HasPrefix(head, []byte("\xef\xbb\xbf")):
		c, mark = charUTF8, 3
	case bytes.HasPrefix(head, []byte("\xff\xfe")):
		c, mark = charUTF16LE, 2
	case bytes.HasPrefix(head, []byte("\xfe\xff")):
		c, mark = charUTF16BE, 2
	}
	_, _ = r.Discard(mark) // was peeked
	declared, err := declaredEncoding(r, c)
	if err != nil {
		return c, nil, err
	}
	if c.next != nil {
		if declared != "" && !c.is(declared) {
			found = []Code{XMLEncodingOther} // the mark wins
		}
		return c, found, nil
	}
	switch {
	case declared == "" || charUTF8.is(declared):
		return charUTF8, nil, nil
	case charASCII.is(declared):
		return charASCII, nil, nil
	case charWestern.is(declared):
		return charWestern, []Code{XMLEncodingOld}, nil
	case charLatin9.is(declared):
		return charLatin9, []Code{XMLEncodingOld}, nil
	case charUTF16LE.is(declared), charUTF16BE.is(declared):
		// A .NET program that writes a string into a file does this.
		return charUTF8, []Code{XMLEncodingOther}, nil
	}
	return c, nil, problem(XMLEncodingUnknown)
}

func (c charset) is(name string) bool {
	for _, n := range c.names {
		if n == name {
			return true
		}
	}
	return false
}

// maxDeclaration is how far the encoding may stand from the beginning.
const maxDeclaration = 512

// declaredEncoding peeks at the encoding in <?xml …?>, in small letters; "" if
// there is none.
func declaredEncoding(r *bufio.Reader, c charset) (string, error) {
	head, err := r.Peek(2 * maxDeclaration)
	if err != nil && err != io.EOF {
		return "", err
	}
	if len(head) > 1 && (c.is("utf-16le") || c.is("utf-16be")) {
		var narrow []byte
		for in := bufio.NewReader(bytes.NewReader(head)); len(narrow) < maxDeclaration; {
			u, err := c.next(in)
			if err != nil || u >= 0x80 {
				break
			}
			narrow = append(narrow, byte(u))
		}
		head = narrow
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
	next     func(*bufio.Reader) (rune, error)
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
