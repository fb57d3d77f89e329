package localhub

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// deliveryLimits are the limits of one request. The interface documents none.
type deliveryLimits struct {
	items int   // messages per request
	bytes int64 // total of all messages, decoded
}

// defaultLimits are the limits in use, enough for every sensible request.
var defaultLimits = deliveryLimits{items: 1000, bytes: 1 << 30}

// maxOverhead limits the bytes of a request other than messages: white space,
// names, unused members.
const maxOverhead = 1 << 20

// readDelivery reads a request that delivers messages, an object with data.items[].message,
// as a stream: memory use does not depend on the size of messages. The decoded bytes of
// each are written to what item returns for it; done is called when a message is complete,
// before the next one starts. A *refusal reports an error of the sender; an error of item,
// of done, of a writer or of r is returned, possibly wrapped. io.ErrUnexpectedEOF from r,
// or an early io.EOF, is a refusal: the request is incomplete.
func readDelivery(r io.Reader, limit deliveryLimits, item func(i int) (io.Writer, error), done func(i int) error) error {
	in := &splitter{r: bufio.NewReaderSize(r, chunk)}
	p := &deliveryParser{in: in, limit: limit, left: limit.bytes, item: item, done: done, at: -1}
	return p.requestError(p.read(jsontext.NewDecoder(in)))
}

type deliveryParser struct {
	in    *splitter
	limit deliveryLimits
	left  int64 // decoded bytes that may still come
	items int
	at    int // current message, -1 outside
	item  func(int) (io.Writer, error)
	done  func(int) error

	text, decoded []byte
}

func (p *deliveryParser) refuse(code, about string) error {
	return &refusal{http.StatusBadRequest, code, about, p.at}
}

func (p *deliveryParser) tooLarge(about string) error {
	return &refusal{http.StatusRequestEntityTooLarge, "too_large", about, p.at}
}

// requestError turns errors of the decoder, which may quote the request, into refusals.
func (p *deliveryParser) requestError(err error) error {
	var refused *refusal
	var semantic *json.SemanticError
	switch {
	case errors.As(err, &refused):
		return refused
	case errors.Is(err, errOverhead):
		return p.tooLarge("too much beside the messages")
	case errors.Is(err, jsontext.ErrDuplicateName):
		return p.refuse("invalid_request", "a member stands there twice")
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return p.refuse("invalid_json", "the request ends too early")
	case errors.As(err, new(*jsontext.SyntacticError)), errors.Is(err, errEscape):
		return p.refuse("invalid_json", "the request is not JSON")
	case errors.As(err, &semantic) && semantic.Err == nil: // of the decoder, not one that it passes on
		return p.refuse("invalid_request", "data is an object, and its items an array of objects")
	}
	return err
}

func (p *deliveryParser) read(d *jsontext.Decoder) error {
	var body struct {
		Data struct {
			Items []struct {
				Message *delivered `json:"message"`
			} `json:"items"`
		} `json:"data"`
	}
	if err := json.UnmarshalDecode(d, &body, json.WithUnmarshalers(json.UnmarshalFromFunc(p.readMessage))); err != nil {
		return err
	}
	if len(body.Data.Items) == 0 {
		return p.refuse("invalid_request", "data.items is missing or empty")
	}
	for i, item := range body.Data.Items {
		if item.Message == nil {
			p.at = i
			return p.refuse("invalid_request", "message is missing")
		}
	}
	switch _, err := d.ReadToken(); err {
	case io.EOF:
		return nil
	case nil:
		return p.refuse("invalid_json", "something follows the request")
	default:
		return err
	}
}

type delivered struct{}

func (p *deliveryParser) readMessage(d *jsontext.Decoder, _ *delivered) error {
	if p.items >= p.limit.items {
		return p.tooLarge(fmt.Sprintf("more than %d items", p.limit.items))
	}
	p.at = p.items
	if kind := d.PeekKind(); kind != '"' && kind != 0 {
		return p.refuse("invalid_request", "message is not a string")
	} else if kind == '"' {
		w, err := p.item(p.items)
		if err != nil {
			return err
		}
		if err := p.decode(w); err != nil {
			return err
		}
	}
	if _, err := d.ReadToken(); err != nil { // the rest of the string, or the error
		return err
	}
	if err := p.done(p.items); err != nil {
		return err
	}
	p.items, p.at = p.items+1, -1
	return nil
}

// chunk is how many bytes of base64 are decoded at a time.
const chunk = 64 << 10

var strictBase64 = base64.StdEncoding.Strict()

// decode decodes the string just opened. Line breaks, the URL alphabet and missing padding
// are rejected (RFC 4648 3.2, 3.3).
func (p *deliveryParser) decode(w io.Writer) error {
	if p.text == nil {
		p.text, p.decoded = make([]byte, chunk), make([]byte, strictBase64.DecodedLen(chunk))
	}
	padded := false
	for {
		n, ended, err := p.in.readString(p.text)
		if err != nil {
			return err
		}
		b := p.text[:n]
		size, err := strictBase64.Decode(p.decoded, b)
		if err != nil || padded && n > 0 || bytes.ContainsAny(b, "\r\n") { // which the decoder skips
			return p.refuse("invalid_base64", "message is not base64, with its padding and without line breaks")
		}
		if p.left -= int64(size); p.left < 0 {
			return p.tooLarge(fmt.Sprintf("the messages have more than %d bytes", p.limit.bytes))
		}
		if _, err := w.Write(p.decoded[:size]); err != nil {
			return err
		}
		if ended {
			return nil
		}
		padded = b[n-1] == '='
	}
}

var (
	errOverhead = errors.New("too much beside the messages")
	errEscape   = errors.New("no escape sequence of JSON")
)

// splitter sits between a request and the decoder, which keeps whole strings in memory.
// Before it is called again, it never passes on more than the opening quote of a string;
// readString can then take the string's content instead of the decoder, which sees an empty one.
type splitter struct {
	r        *bufio.Reader
	inside   bool // inside a string
	escaped  bool // the last byte was a backslash
	overhead int  // bytes handed over
}

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
	if s.overhead += n; s.overhead > maxOverhead {
		return 0, errOverhead
	}
	return n, nil
}

// readString fills b with the content of the opened string, up to its closing quote; ended is true
// once that is reached. A non-ASCII character becomes a backslash, which is not base64 either.
func (s *splitter) readString(b []byte) (n int, ended bool, err error) {
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
