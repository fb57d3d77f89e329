// Package upload reads the requests that deliver messages to the message box: an
// object with data.items[].message, each a ZIP file in base64. A request is read
// as a stream, so that a message of any size costs the same memory.
//
// It takes hostile input, holds no state between calls and starts no goroutines.
package upload

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// Limits of a request. The interface documents none.
type Limits struct {
	Items int   // messages in a request
	Bytes int64 // of all messages of a request, decoded
}

// Defaults are limits that leave room for every sensible request.
var Defaults = Limits{Items: 1000, Bytes: 1 << 30}

const (
	maxAround = 1 << 20 // bytes of a request that are no message: white space, names, members that nobody asked for
	maxDepth  = 32
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
// done, of a writer or of r is returned, perhaps wrapped. io.ErrUnexpectedEOF
// from r, or an early io.EOF, is a refusal: the request is not whole.
func Read(r io.Reader, limit Limits, item func(i int) (io.Writer, error), done func(i int) error) (items int, err error) {
	in := newSplitter(r)
	p := &request{in: in, d: jsontext.NewDecoder(in), limit: limit, left: limit.Bytes, item: item, done: done, at: -1}
	err = p.blame(p.read())
	return p.items, err
}

type request struct {
	in    *splitter
	d     *jsontext.Decoder
	limit Limits
	left  int64 // decoded bytes that may still come
	items int
	at    int // message that is being read, -1 outside
	item  func(int) (io.Writer, error)
	done  func(int) error

	text, decoded []byte
}

func (p *request) refuse(why Reason, about string) error { return &Refusal{why, p.at, about} }

// blame makes errors of the decoder refusals. They may quote the request.
func (p *request) blame(err error) error {
	var syntax *jsontext.SyntacticError
	switch {
	case errors.Is(err, errAround):
		return p.refuse(TooLarge, "too much beside the messages")
	case errors.Is(err, jsontext.ErrDuplicateName):
		return p.refuse(BadShape, "a member stands there twice")
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return p.refuse(BadJSON, "the request ends too early")
	case errors.As(err, &syntax), errors.Is(err, errEscape):
		return p.refuse(BadJSON, "the request is not JSON")
	}
	return err
}

// read reads the whole body.
func (p *request) read() error {
	if err := p.object("data", p.data); err != nil {
		return err
	}
	switch _, err := p.d.ReadToken(); err {
	case io.EOF:
		return nil
	case nil:
		return p.refuse(BadJSON, "something follows the request")
	default:
		return err
	}
}

// object reads an object whose member of that name is read by member.
func (p *request) object(name string, member func() error) error {
	t, err := p.d.ReadToken()
	if err != nil {
		return err
	}
	if t.Kind() != '{' {
		return p.refuse(BadShape, "an object is expected")
	}
	found := false
	for p.d.PeekKind() != '}' {
		t, err := p.d.ReadToken()
		if err != nil {
			return err
		}
		read := p.skip
		if t.String() == name {
			read, found = member, true
		}
		if err := read(); err != nil {
			return err
		}
	}
	if !found {
		return p.refuse(BadShape, name+" is missing")
	}
	_, err = p.d.ReadToken()
	return err
}

// skip reads a value that nobody asked for.
func (p *request) skip() error {
	outside := p.d.StackDepth()
	for {
		if _, err := p.d.ReadToken(); err != nil {
			return err
		}
		switch depth := p.d.StackDepth(); {
		case depth == outside:
			return nil
		case depth > maxDepth:
			return p.refuse(TooLarge, "the request is nested too deeply")
		}
	}
}

func (p *request) data() error { return p.object("items", p.array) }

func (p *request) array() error {
	t, err := p.d.ReadToken()
	if err != nil {
		return err
	}
	if t.Kind() != '[' {
		return p.refuse(BadShape, "items is not an array")
	}
	for p.d.PeekKind() != ']' {
		if p.items >= p.limit.Items {
			return p.refuse(TooLarge, fmt.Sprintf("more than %d items", p.limit.Items))
		}
		p.at = p.items
		if err := p.object("message", p.message); err != nil {
			return err
		}
		p.items++
		p.at = -1
	}
	if p.items == 0 {
		return p.refuse(BadShape, "items is empty")
	}
	_, err = p.d.ReadToken()
	return err
}

func (p *request) message() error {
	if kind := p.d.PeekKind(); kind != '"' && kind != 0 {
		return p.refuse(BadShape, "message is not a string")
	} else if kind == '"' {
		w, err := p.item(p.items)
		if err != nil {
			return err
		}
		if err := p.decode(w); err != nil {
			return err
		}
	}
	if _, err := p.d.ReadToken(); err != nil { // what is left of the string, or what is wrong
		return err
	}
	return p.done(p.items)
}

// chunk is how many bytes of base64 are decoded at one time.
const chunk = 64 << 10

var base = base64.StdEncoding.Strict()

// decode writes the string that has just been opened as bytes. Line breaks, the
// alphabet for URLs and missing padding are refused (RFC 4648 3.2, 3.3).
func (p *request) decode(w io.Writer) error {
	if p.text == nil {
		p.text, p.decoded = make([]byte, chunk), make([]byte, base.DecodedLen(chunk))
	}
	padded := false
	for {
		n, ended, err := p.in.text(p.text)
		if err != nil {
			return err
		}
		b := p.text[:n]
		size, err := base.Decode(p.decoded, b)
		if err != nil || padded && n > 0 || bytes.ContainsAny(b, "\r\n") { // which the decoder passes over
			return p.refuse(BadBase64, "message is not base64, with its padding and without line breaks")
		}
		if p.left -= int64(size); p.left < 0 {
			return p.refuse(TooLarge, fmt.Sprintf("the messages have more than %d bytes", p.limit.Bytes))
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
