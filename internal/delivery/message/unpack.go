package message

import (
	"bufio"
	"compress/flate"
	"errors"
	"hash/crc32"
	"io"
)

// unpacker returns the unpacked bytes of one entry after
// another. It is reused, since a ZIP may have thousands.
type unpacker struct {
	f           *file
	entry       int // the one being read
	packed      *bufio.Reader
	inflate     io.ReadCloser // nil before the first packed entry
	in          io.Reader     // packed or inflate
	remaining   int64
	wantCRC     uint32
	crc         uint32
	hasTrailing bool // packed bytes remain at the end
}

func newUnpacker(f *file) *unpacker {
	return &unpacker{f: f, packed: bufio.NewReaderSize(nil, 32<<10)}
}

func (u *unpacker) open(entry int, m member) {
	u.entry = entry
	u.packed.Reset(io.NewSectionReader(u.f, m.data, m.packed))
	u.remaining, u.wantCRC, u.crc, u.hasTrailing = m.unpacked, m.crc, 0, false
	switch {
	case m.method == methodStore:
		u.in = u.packed
		return
	case u.inflate == nil:
		u.inflate = flate.NewReader(u.packed)
	default:
		_ = u.inflate.(flate.Resetter).Reset(u.packed, nil) // never fails
	}
	u.in = u.inflate
}

// Read returns io.EOF after exactly the bytes announced in the directory.
func (u *unpacker) Read(p []byte) (int, error) {
	n, err := u.in.Read(p)
	if u.remaining -= int64(n); u.remaining < 0 {
		return 0, zipError{SizeLie, u.entry}
	}
	u.crc = crc32.Update(u.crc, crc32.IEEETable, p[:n])
	switch {
	case u.f.err != nil:
		return 0, u.f.err
	case err == nil:
		return n, nil
	case !errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return 0, zipError{Damaged, u.entry}
	case u.remaining > 0:
		return 0, zipError{SizeLie, u.entry}
	case u.crc != u.wantCRC:
		return 0, zipError{Damaged, u.entry}
	}
	if _, err := u.packed.ReadByte(); err == nil {
		u.hasTrailing = true
	}
	return n, io.EOF
}
