package message

import (
	"bufio"
	"bytes"
	"cmp"
	"io"
	"slices"
)

// checkLayout compares each entry with the header before its contents, and ensures that every
// byte of the ZIP belongs to at most one entry.
func (f *file) checkLayout(members []member, e directoryLocation, report *Report) error {
	order := make([]int, len(members))
	for i := range members {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(members[a].offset, members[b].offset) })
	place := func(n int) int64 { // of the nth header, or where the last entry must end
		if n < len(order) {
			return min(members[order[n]].offset, e.start)
		}
		return e.start
	}
	for n, i := range order {
		if err := f.checkHeader(&members[i], i, place(n+1)); err != nil {
			return err
		}
	}
	at, unused := int64(0), false
	for n := range len(order) + 1 {
		if to := place(n); at < to {
			unused = true
			if err := f.checkGap(at, to); err != nil {
				return err
			}
		}
		if n < len(order) {
			at = members[order[n]].end
		}
	}
	if unused {
		report.addZIP(UnusedBytes, -1)
	}
	return nil
}

// checkHeader reads an entry's header and, after its contents, the descriptor. Everything
// must end before next.
func (f *file) checkHeader(m *member, i int, next int64) error {
	b, ok := f.bytes(m.offset, localSize)
	if !ok || !hasSignature(b, sigLocal) {
		return zipError{DirectoryBroken, i}
	}
	if next-m.offset < localSize {
		return zipError{Overlap, i}
	}
	nameLen, extraLen := u16(b, 26), u16(b, 28)
	rest, ok := f.bytes(m.offset+localSize, nameLen+extraLen)
	if !ok {
		return zipError{DirectoryBroken, i}
	}
	flags := u16(b, 6)
	const telling = flagEncrypted | flagDescriptor | flagStrong | flagMasked
	if string(rest[:nameLen]) != m.name || u16(b, 8) != m.method || (flags^m.flags)&telling != 0 {
		return zipError{HeaderMismatch, i}
	}
	m.data = m.offset + localSize + int64(nameLen+extraLen)
	if m.packed > next-m.data {
		return zipError{Overlap, i}
	}
	m.end = m.data + m.packed
	if flags&flagDescriptor != 0 {
		n, ok := f.descriptor(m, next)
		if !ok {
			return zipError{HeaderMismatch, i}
		}
		m.end += n
		return nil
	}
	packed, unpacked := u32(b, 18), u32(b, 22)
	wide, count := extraField(rest[nameLen:], extraZip64)
	for _, v := range []*uint64{&unpacked, &packed} {
		if *v == 0xffffffff && count == 1 && len(wide) >= 8 {
			*v, wide = u64(wide, 0), wide[8:]
		}
	}
	if uint32(u32(b, 14)) != m.crc || packed != uint64(m.packed) || unpacked != uint64(m.unpacked) {
		return zipError{HeaderMismatch, i}
	}
	return nil
}

// descriptor returns the length of the record after the contents. It has four forms: with
// or without signature, and with 32-bit or 64-bit sizes.
func (f *file) descriptor(m *member, next int64) (int64, bool) {
	b, ok := f.bytes(m.end, int(min(24, next-m.end)))
	if !ok {
		return 0, false
	}
	for _, start := range []int{4, 0} {
		if start == 4 && !hasSignature(b, sigDescriptor) {
			continue
		}
		d := b[start:]
		switch {
		case len(d) >= 20 && uint32(u32(d, 0)) == m.crc && u64(d, 4) == uint64(m.packed) && u64(d, 12) == uint64(m.unpacked):
			return int64(start) + 20, true
		case len(d) >= 12 && uint32(u32(d, 0)) == m.crc && u32(d, 4) == uint64(m.packed) && u32(d, 8) == uint64(m.unpacked):
			return int64(start) + 12, true
		}
	}
	return 0, false
}

// checkGap checks bytes that belong to no entry. Readers that scan the ZIP from its start
// instead of using its directory would find a record there.
func (f *file) checkGap(from, to int64) error {
	in := bufio.NewReaderSize(io.NewSectionReader(f, from, to-from), 32<<10)
	for {
		b, err := in.Peek(4)
		if err != nil {
			return nil // any error is in f
		}
		switch {
		case hasSignature(b, sigEnd):
			return archiveError(TwoEnds)
		case hasSignature(b, sigLocal), hasSignature(b, sigDirectory):
			return archiveError(HiddenEntry)
		}
		b, _ = in.Peek(in.Buffered())
		n := bytes.IndexByte(b[1:], 'P') + 1
		n = cmp.Or(n, len(b))
		_, _ = in.Discard(n) // buffered
	}
}
