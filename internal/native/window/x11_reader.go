//go:build linux

package window

import "encoding/binary"

// reader parses data sent by the server or another program.
type reader struct {
	rest   []byte
	order  binary.ByteOrder
	broken bool // the data was too short
}

// take returns n bytes and skips the padding after them, up to a multiple of four. If
// there are fewer, the result is meaningless.
func (r *reader) take(n int) []byte {
	padded := (n + 3) &^ 3
	if r.broken = r.broken || n < 0 || padded < n || padded > len(r.rest); r.broken {
		return make([]byte, 8)
	}
	b := r.rest[:n]
	r.rest = r.rest[padded:]
	return b
}

func (r *reader) number() uint32 { return r.order.Uint32(r.take(4)) }
