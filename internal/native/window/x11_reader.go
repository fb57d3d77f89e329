//go:build linux

package window

import "encoding/binary"

// reader reads what the server or another program has sent.
type reader struct {
	rest   []byte
	order  binary.ByteOrder
	broken bool // there was less than was asked for
}

// take gives n bytes and passes over padding behind them, up to a multiple of four. Where
// there are fewer, what it gives means nothing.
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
