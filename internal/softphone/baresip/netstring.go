package baresip

import (
	"bufio"
	"errors"
	"io"
	"time"
)

// maxFrame is the longest accepted frame in bytes. baresip's are below 1 KiB.
const maxFrame = 64 << 10

// errFrame ends the connection: after a bad frame the start of the next one is unknown.
var errFrame = errors.New("bytes are not a netstring")

// frameReader reads netstrings: a length in decimal digits, a colon, that
// many bytes, a comma.
type frameReader struct {
	r     *bufio.Reader
	until func(time.Time) error // sets the deadline for the rest of a started frame
}

// next returns the content of the next frame. The error is io.EOF only between frames.
func (f *frameReader) next() ([]byte, error) {
	if _, err := f.r.Peek(1); err != nil {
		return nil, err
	}
	_ = f.until(time.Now().Add(frameTime)) // failures surface on reading
	n, err := f.length()
	if err != nil {
		return nil, err
	}
	b := make([]byte, n+1)
	if _, err := io.ReadFull(f.r, b); err != nil {
		return nil, unexpectedEOF(err)
	}
	if b[n] != ',' {
		return nil, errFrame
	}
	return b[:n], f.until(time.Time{})
}

// length reads "123:". A netstring's length has no sign and no leading zero.
func (f *frameReader) length() (int, error) {
	n := 0
	for i := 0; ; i++ {
		c, err := f.r.ReadByte()
		switch {
		case err != nil:
			return 0, unexpectedEOF(err)
		case c == ':' && i > 0:
			return n, nil
		case c < '0' || c > '9', i == 1 && n == 0:
			return 0, errFrame
		}
		if n = n*10 + int(c-'0'); n > maxFrame {
			return 0, errFrame
		}
	}
}

// unexpectedEOF turns the end of input within a frame into io.ErrUnexpectedEOF.
func unexpectedEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
