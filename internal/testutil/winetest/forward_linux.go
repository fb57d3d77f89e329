package winetest

import (
	"bytes"
	"encoding/binary"
)

// forwarder returns a 64-bit Windows library called name, whose only export is
// forwarded to another library. It has no code, since Windows itself resolves the
// forward. to has the form "advapi32.SystemFunction036".
func forwarder(name, function, to string) []byte {
	const base, page, align = 0x180000000, 0x1000, 0x200
	le := binary.LittleEndian
	// The section has the export directory, its three tables of one entry each, and the names.
	const directory, functions, names, ordinals, texts = 0, 40, 44, 48, 52
	text := func(s string, b *[]byte) uint32 {
		at := page + texts + len(*b)
		*b = append(append(*b, s...), 0)
		return uint32(at)
	}
	var all []byte
	own, exported, target := text(name, &all), text(function, &all), text(to, &all)
	section := make([]byte, texts, texts+len(all))
	le.PutUint32(section[directory+12:], own)
	for i, v := range []uint32{1, 1, 1, page + functions, page + names, page + ordinals} {
		le.PutUint32(section[directory+16+4*i:], v)
	}
	le.PutUint32(section[functions:], target) // an address within the section means a forward
	le.PutUint32(section[names:], exported)
	section = append(section, all...)

	var b bytes.Buffer
	put := func(v ...any) {
		for _, v := range v {
			_ = binary.Write(&b, le, v) // a buffer accepts everything
		}
	}
	put([2]byte{'M', 'Z'}, [58]byte{}, uint32(64))
	put([4]byte{'P', 'E'}, uint16(0x8664), uint16(1), uint32(0), uint32(0), uint32(0), uint16(240), uint16(0x2022))
	put(uint16(0x20b), uint16(0), uint32(0), uint32(align), uint32(0), uint32(0), uint32(page), uint64(base), uint32(page), uint32(align))
	put(uint16(6), uint16(0), uint16(0), uint16(0), uint16(6), uint16(0), uint32(0), uint32(2*page), uint32(align), uint32(0))
	put(uint16(3), uint16(0x100), uint64(1<<20), uint64(page), uint64(1<<20), uint64(page), uint32(0), uint32(16))
	put(uint32(page), uint32(len(section)), [15 * 8]byte{})
	put([8]byte{'.', 'e', 'd', 'a', 't', 'a'}, uint32(len(section)), uint32(page), uint32(align), uint32(align), [12]byte{}, uint32(0x40000040))
	out := make([]byte, 2*align)
	copy(out, b.Bytes())
	copy(out[align:], section)
	return out
}
