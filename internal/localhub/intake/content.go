package intake

import (
	"encoding/base64"
	"fmt"
	"io"
)

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
