// Package intake reads what is sent to the message box (hub-api.md 4.2, 2.1):
// the request as a stream, so that a message of any size costs the same memory,
// and the ZIP file that each message must be.
//
// Both readers take hostile input. They are pure: they hold no state between
// calls and start no goroutines.
package intake

import (
	"bufio"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// Limits of a request. The hub documents none (hub-api.md 8.3).
type Limits struct {
	Items    int   // messages in a request
	Bytes    int64 // of all messages of a request, decoded
	Entries  int   // files in one ZIP
	Unpacked int64 // bytes of all files in one ZIP
}

// Defaults are limits that leave room for every sensible message.
var Defaults = Limits{Items: 1000, Bytes: 1 << 30, Entries: 10_000, Unpacked: 4 << 30}

// maxAround is how much of a request may be something else than messages: white
// space, names, members that nobody asked for.
const maxAround = 1 << 20

const (
	maxDepth = 32
	maxName  = 256
	maxNames = 64 // members of one object
)

// Reason is why a request is refused.
type Reason string

// The reasons.
const (
	BadJSON   Reason = "invalid_json"
	BadShape  Reason = "invalid_request"
	BadBase64 Reason = "invalid_base64"
	BadZIP    Reason = "invalid_zip"
	TooLarge  Reason = "too_large"
)

// Refusal is an error of the sender. About is in English and quotes nothing of
// what was sent.
type Refusal struct {
	Reason Reason
	Item   int // which message, from 0; -1: the request as a whole
	About  string
}

func (r *Refusal) Error() string {
	if r.Item < 0 {
		return r.About
	}
	return fmt.Sprintf("item %d: %s", r.Item, r.About)
}

// Read reads a request and writes the decoded bytes of each message to what
// item gives for it. done is called when a message is complete, before the next
// one begins. A *Refusal says what the sender did wrong; an error of item, of
// done, of a writer or of r is returned as it is. io.ErrUnexpectedEOF from r, or
// an early io.EOF, is a refusal: the request is not whole.
func Read(r io.Reader, limit Limits, item func(i int) (io.Writer, error), done func(i int) error) (items int, err error) {
	p := &parser{r: bufio.NewReaderSize(r, 64<<10), limit: limit, left: limit.Bytes, item: item, done: done, at: -1}
	err = p.request()
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = p.refuse(BadJSON, "the request ends too early")
	}
	return p.items, err
}

type parser struct {
	r      *bufio.Reader
	limit  Limits
	left   int64 // decoded bytes that may still come
	around int
	items  int
	at     int // message that is being read, -1 outside
	item   func(int) (io.Writer, error)
	done   func(int) error

	decoder decoder // one for all messages: its buffer is large
}

func (p *parser) refuse(why Reason, about string) error { return &Refusal{why, p.at, about} }

func (p *parser) broken() error { return p.refuse(BadJSON, "the request is not JSON") }

// request reads the whole body.
func (p *parser) request() error {
	found := false
	err := p.object(func(name string) error {
		if name != "data" {
			return p.skip(1)
		}
		found = true
		return p.data()
	})
	if err != nil {
		return err
	}
	if !found {
		return p.refuse(BadShape, "data is missing")
	}
	if _, err := p.token(); !errors.Is(err, io.EOF) {
		if err == nil {
			return p.refuse(BadJSON, "something follows the request")
		}
		return err
	}
	return nil
}

func (p *parser) data() error {
	found := false
	err := p.object(func(name string) error {
		if name != "items" {
			return p.skip(2)
		}
		found = true
		return p.array("data.items is not an array", func() error {
			if p.items >= p.limit.Items {
				return p.refuse(TooLarge, fmt.Sprintf("more than %d items", p.limit.Items))
			}
			p.at = p.items
			if err := p.message(); err != nil {
				return err
			}
			p.items++
			p.at = -1
			return nil
		})
	})
	switch {
	case err != nil:
		return err
	case !found:
		return p.refuse(BadShape, "data.items is missing")
	case p.items == 0:
		return p.refuse(BadShape, "data.items is empty")
	}
	return nil
}

func (p *parser) message() error {
	found := false
	err := p.object(func(name string) error {
		if name != "message" {
			return p.skip(4)
		}
		found = true
		c, err := p.token()
		if err != nil {
			return err
		}
		if c != '"' {
			return p.refuse(BadShape, "message is not a string")
		}
		w, err := p.item(p.items)
		if err != nil {
			return err
		}
		if err := p.decode(w); err != nil {
			return err
		}
		return p.done(p.items)
	})
	if err == nil && !found {
		err = p.refuse(BadShape, "message is missing")
	}
	return err
}

// object reads an object; member reads the value of each. A name that stands
// there twice is refused: two readers of the same request could take different
// ones.
func (p *parser) object(member func(name string) error) error {
	c, err := p.token()
	if err != nil {
		return err
	}
	if c != '{' {
		if !startsValue(c) {
			return p.broken()
		}
		return p.refuse(BadShape, "an object is expected")
	}
	names := map[string]bool{}
	for first := true; ; first = false {
		c, err := p.token()
		switch {
		case err != nil:
			return err
		case c == '}' && first:
			return nil
		case c != '"':
			return p.broken()
		}
		name, err := p.text(maxName)
		if err != nil {
			return err
		}
		if names[name] {
			return p.refuse(BadShape, "a member stands there twice")
		}
		if names[name] = true; len(names) > maxNames {
			return p.refuse(TooLarge, "an object has too many members")
		}
		if c, err := p.token(); err != nil {
			return err
		} else if c != ':' {
			return p.broken()
		}
		if err := member(name); err != nil {
			return err
		}
		if c, err = p.token(); err != nil {
			return err
		}
		if c == '}' {
			return nil
		}
		if c != ',' {
			return p.broken()
		}
	}
}

func startsValue(c byte) bool {
	return c == '[' || c == '"' || c == '-' || c >= '0' && c <= '9' || c == 't' || c == 'f' || c == 'n'
}

func (p *parser) array(wrong string, element func() error) error {
	c, err := p.token()
	if err != nil {
		return err
	}
	if c != '[' {
		return p.refuse(BadShape, wrong)
	}
	if c, err = p.token(); err != nil || c == ']' {
		return err
	}
	p.unread()
	for {
		if err := element(); err != nil {
			return err
		}
		if c, err = p.token(); err != nil || c == ']' {
			return err
		}
		if c != ',' {
			return p.broken()
		}
	}
}

// skip reads a value that nobody asked for.
func (p *parser) skip(depth int) error {
	if depth > maxDepth {
		return p.refuse(TooLarge, "the request is nested too deeply")
	}
	c, err := p.token()
	if err != nil {
		return err
	}
	switch c {
	case '"':
		_, err := p.text(maxAround)
		return err
	case '{':
		p.unread()
		return p.object(func(string) error { return p.skip(depth + 1) })
	case '[':
		p.unread()
		return p.array("", func() error { return p.skip(depth + 1) })
	case 't':
		return p.word("rue")
	case 'f':
		return p.word("alse")
	case 'n':
		return p.word("ull")
	}
	return p.number(c)
}

func (p *parser) word(rest string) error {
	for i := range len(rest) {
		c, err := p.next()
		if err != nil {
			return err
		}
		if c != rest[i] {
			return p.broken()
		}
	}
	return nil
}

// number reads a number that begins with c, as JSON writes them.
func (p *parser) number(c byte) error {
	var err error
	digits := func() error {
		if c < '0' || c > '9' {
			return p.broken()
		}
		for err == nil && c >= '0' && c <= '9' {
			c, err = p.next()
		}
		return err
	}
	if c == '-' {
		if c, err = p.next(); err != nil {
			return err
		}
	}
	if c == '0' {
		c, err = p.next()
	} else {
		err = digits()
	}
	if err == nil && c == '.' {
		if c, err = p.next(); err == nil {
			err = digits()
		}
	}
	if err == nil && (c == 'e' || c == 'E') {
		if c, err = p.next(); err == nil && (c == '+' || c == '-') {
			c, err = p.next()
		}
		if err == nil {
			err = digits()
		}
	}
	if err == nil {
		p.unread()
	}
	return err
}

// text reads the rest of a string of at most limit bytes.
func (p *parser) text(limit int) (string, error) {
	var b []byte
	for {
		c, err := p.next()
		if err != nil {
			return "", err
		}
		switch {
		case c == '"':
			if !utf8.Valid(b) {
				return "", p.refuse(BadJSON, "the request is not UTF-8")
			}
			return string(b), nil
		case c < 0x20:
			return "", p.broken()
		case c == '\\':
			r, err := p.escape()
			if err != nil {
				return "", err
			}
			b = utf8.AppendRune(b, r)
		default:
			b = append(b, c)
		}
		if len(b) > limit {
			return "", p.refuse(TooLarge, "a name or text is too long")
		}
	}
}

// escape reads what follows a backslash. Half a surrogate pair is the
// replacement character; the pairs themselves are of no use here.
func (p *parser) escape() (rune, error) {
	c, err := p.next()
	if err != nil {
		return 0, err
	}
	switch c {
	case '"', '\\', '/':
		return rune(c), nil
	case 'b', 'f', 'n', 'r', 't':
		return map[byte]rune{'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}[c], nil
	case 'u':
		var r rune
		for range 4 {
			c, err := p.next()
			if err != nil {
				return 0, err
			}
			switch {
			case c >= '0' && c <= '9':
				r = r<<4 | rune(c-'0')
			case c|0x20 >= 'a' && c|0x20 <= 'f':
				r = r<<4 | rune(c|0x20-'a'+10)
			default:
				return 0, p.broken()
			}
		}
		return r, nil
	}
	return 0, p.broken()
}

// decode reads the rest of a string of base64 into w. Line breaks and the
// alphabet for URLs are refused (RFC 4648 3.3, 4); the padding must be there.
func (p *parser) decode(w io.Writer) error {
	d := &p.decoder
	d.p, d.w, d.have, d.padded, d.wrote = p, w, 0, false, 0
	for {
		if _, err := p.r.Peek(1); err != nil {
			return err
		}
		chunk, _ := p.r.Peek(p.r.Buffered())
		n := 0
		for n < len(chunk) && chunk[n] != '"' && chunk[n] != '\\' {
			n++
		}
		if err := d.take(chunk[:n]); err != nil {
			return err
		}
		_, _ = p.r.Discard(n) // buffered
		if n == len(chunk) {
			continue
		}
		if c, _ := p.r.ReadByte(); c == '"' {
			return d.end()
		}
		around := p.around
		r, err := p.escape()
		if err != nil {
			return err
		}
		p.around = around // some write every slash with a backslash
		if r >= 0x80 {
			return p.refuse(BadBase64, "message is not base64")
		}
		if err := d.take([]byte{byte(r)}); err != nil {
			return err
		}
	}
}

// decoder turns base64 into bytes, four characters at a time.
type decoder struct {
	p      *parser
	w      io.Writer
	rest   [4]byte // characters that are no four yet
	have   int
	padded bool
	wrote  int64
	head   [4]byte
	out    [48 << 10]byte
}

func (d *decoder) take(b []byte) error {
	for len(b) > 0 {
		if d.have > 0 || len(b) < 4 {
			n := copy(d.rest[d.have:], b)
			d.have += n
			b = b[n:]
			if d.have < 4 {
				return nil
			}
			d.have = 0
			if err := d.quads(d.rest[:]); err != nil {
				return err
			}
			continue
		}
		n := min(len(b)&^3, len(d.out)/3*4)
		if err := d.quads(b[:n]); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

var base = base64.StdEncoding.Strict()

func (d *decoder) quads(b []byte) error {
	if d.padded {
		return d.p.refuse(BadBase64, "message goes on after its padding")
	}
	for _, c := range b {
		if c == '\r' || c == '\n' { // which the decoder would pass over
			return d.p.refuse(BadBase64, "message is not base64: it has line breaks")
		}
	}
	n, err := base.Decode(d.out[:], b)
	if err != nil {
		return d.p.refuse(BadBase64, "message is not base64")
	}
	d.padded = b[len(b)-1] == '='
	if d.p.left -= int64(n); d.p.left < 0 {
		return d.p.refuse(TooLarge, fmt.Sprintf("the messages have more than %d bytes", d.p.limit.Bytes))
	}
	if d.wrote < int64(len(d.head)) {
		copy(d.head[d.wrote:], d.out[:n])
		if d.wrote+int64(n) >= int64(len(d.head)) && d.head != signature {
			return d.p.refuse(BadZIP, "message is not a ZIP file")
		}
	}
	d.wrote += int64(n)
	_, err = d.w.Write(d.out[:n])
	return err
}

// signature is what a ZIP file with something in it begins with.
var signature = [4]byte{'P', 'K', 3, 4}

func (d *decoder) end() error {
	switch {
	case d.have != 0:
		return d.p.refuse(BadBase64, "message is not base64: it is cut off or lacks its padding")
	case d.wrote == 0:
		return d.p.refuse(BadZIP, "message is empty")
	case d.wrote < int64(len(d.head)):
		return d.p.refuse(BadZIP, "message is not a ZIP file")
	}
	return nil
}

// token gives the next byte that is no white space.
func (p *parser) token() (byte, error) {
	for {
		c, err := p.next()
		if err != nil || c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			return c, err
		}
	}
}

func (p *parser) next() (byte, error) {
	c, err := p.r.ReadByte()
	if err != nil {
		return 0, err
	}
	if p.around++; p.around > maxAround {
		return 0, p.refuse(TooLarge, "too much beside the messages")
	}
	return c, nil
}

func (p *parser) unread() {
	_ = p.r.UnreadByte() // follows a read
	p.around--
}
