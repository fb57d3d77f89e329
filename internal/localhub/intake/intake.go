// Package intake reads what is sent to the message box (hub-api.md 4.2, 2.1):
// the request as a stream, so that a message of any size costs the same memory,
// and the ZIP file that each message must be.
//
// Both readers take hostile input. They are pure: they hold no state between
// calls and start no goroutines.
package intake

import (
	"bufio"
	"errors"
	"fmt"
	"io"
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
