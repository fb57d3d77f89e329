package message

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"hash/crc32"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// ZIPs are read record by record here (APPNOTE 6.3.10) instead of with archive/zip, which
// trusts what the records say about each other, keeps lists of any length and does not
// reveal where an entry is.
const (
	endSize       = 22 // end of central directory record, 4.3.16
	locatorSize   = 20 // zip64 locator, 4.3.15
	zip64EndSize  = 56 // zip64 end record, 4.3.14
	directorySize = 46 // central directory header, 4.3.12
	localSize     = 30 // local file header, 4.3.7

	flagEncrypted  = 1 << 0
	flagDescriptor = 1 << 3 // sizes and checksum follow the contents, 4.3.9
	flagStrong     = 1 << 6
	flagUTF8       = 1 << 11
	flagMasked     = 1 << 13

	methodStore   = 0
	methodDeflate = 8

	extraZip64 = 0x0001
	extraName  = 0x7075 // a second name, in UTF-8
)

var (
	sigLocal      = []byte("PK\x03\x04")
	sigDescriptor = []byte("PK\x07\x08")
	sigDirectory  = []byte("PK\x01\x02")
	sigEnd        = []byte("PK\x05\x06")
	sigZip64End   = []byte("PK\x06\x06")
	sigLocator    = []byte("PK\x06\x07")
)

func u16(b []byte, at int) int               { return int(binary.LittleEndian.Uint16(b[at:])) }
func u32(b []byte, at int) uint64            { return uint64(binary.LittleEndian.Uint32(b[at:])) }
func u64(b []byte, at int) uint64            { return binary.LittleEndian.Uint64(b[at:]) }
func hasSignature(b []byte, sig []byte) bool { return bytes.HasPrefix(b, sig) }

// file reads the bytes of the ZIP and remembers the first error that is not
// due to the ZIP: the end of the context, a failing disk, a shrinking file.
type file struct {
	ctx  context.Context
	r    io.ReaderAt
	size int64
	err  error
}

func (f *file) ReadAt(p []byte, at int64) (int, error) {
	if f.err = cmp.Or(f.err, f.ctx.Err()); f.err != nil {
		return 0, f.err
	}
	n, err := f.r.ReadAt(p, at)
	switch {
	case n == len(p):
		return n, nil
	case err == io.EOF:
		err = io.ErrUnexpectedEOF // shorter than before
	}
	f.err = err
	return n, err
}

// bytes reads n bytes at the given offset; false if they do not exist.
func (f *file) bytes(at int64, n int) ([]byte, bool) {
	if at < 0 || at > f.size-int64(n) {
		return nil, false
	}
	b := make([]byte, n)
	_, err := f.ReadAt(b, at)
	return b, err == nil
}

// zipError is a Code that ends the inspection, with the entry concerned.
type zipError struct {
	code  Code
	entry int
}

func (b zipError) Error() string { return "message: " + string(b.code) }

func archiveError(c Code) error { return zipError{c, -1} }

type directoryLocation struct {
	entries       uint64
	start, length int64
}

// findEnd reads the end record and, if present, its zip64 companion. Two readers must not
// be able to find different directories.
func (f *file) findEnd() (directoryLocation, error) {
	if f.size == 0 {
		return directoryLocation{}, archiveError(EmptyFile)
	}
	head, _ := f.bytes(0, 4)
	if !hasSignature(head, sigLocal) && !hasSignature(head, sigEnd) {
		return directoryLocation{}, archiveError(NotZIP)
	}
	tailSize := min(f.size, endSize+0xffff)
	tail, _ := f.bytes(f.size-tailSize, int(tailSize))
	at, err := findEndRecord(tail)
	if err != nil {
		return directoryLocation{}, err
	}
	b := tail[at : at+endSize]
	end := f.size - tailSize + int64(at)
	entries, length, start := uint64(u16(b, 10)), u32(b, 12), u32(b, 16)
	disk, firstDisk, here := u16(b, 4), u16(b, 6), u16(b, 8)
	wide := entries == 0xffff || length == 0xffffffff || start == 0xffffffff || disk == 0xffff || firstDisk == 0xffff
	locator, ok := f.bytes(end-locatorSize, locatorSize)
	located := ok && hasSignature(locator, sigLocator)
	switch {
	case wide != located: // some readers look for the locator only if needed
		return directoryLocation{}, archiveError(Zip64Lie)
	case located:
		if entries, length, start, end, err = f.readZip64End(locator, end, entries, length, start); err != nil {
			return directoryLocation{}, err
		}
	case disk != 0 || firstDisk != 0 || uint64(here) != entries:
		return directoryLocation{}, archiveError(SeveralDisks)
	}
	if start > uint64(end) || start+length != uint64(end) {
		return directoryLocation{}, archiveError(DirectoryBroken)
	}
	return directoryLocation{entries, int64(start), int64(length)}, nil
}

// findEndRecord finds the only end record in the last bytes of a ZIP.
func findEndRecord(tail []byte) (int, error) {
	exact, last, short := -1, -1, false
	for i := 0; i+endSize <= len(tail); i++ {
		if !hasSignature(tail[i:], sigEnd) {
			continue
		}
		last = i
		switch end := i + endSize + u16(tail, i+20); {
		case end == len(tail) && exact < 0:
			exact = i
		case end < len(tail):
			short = true
		}
	}
	switch {
	case exact < 0 && short:
		return 0, archiveError(TrailingData)
	case exact < 0:
		return 0, archiveError(Truncated)
	case exact != last:
		return 0, archiveError(TwoEnds)
	}
	return last, nil
}

// readZip64End reads the 64-bit record before the locator, which
// precedes end. Values that the end record has too must agree.
func (f *file) readZip64End(locator []byte, end int64, entries, length, start uint64) (e, l, s uint64, at int64, err error) {
	if u32(locator, 4) != 0 || u32(locator, 16) > 1 {
		return 0, 0, 0, 0, archiveError(SeveralDisks)
	}
	at = int64(u64(locator, 8)) // bytes refuses an offset that is too large
	r, ok := f.bytes(at, zip64EndSize)
	if !ok || !hasSignature(r, sigZip64End) || u64(r, 4) > uint64(f.size) || at+12+int64(u64(r, 4)) != end-locatorSize {
		return 0, 0, 0, 0, archiveError(Zip64Lie)
	}
	e, l, s = u64(r, 32), u64(r, 40), u64(r, 48)
	if entries != 0xffff && entries != e || length != 0xffffffff && length != l || start != 0xffffffff && start != s {
		return 0, 0, 0, 0, archiveError(Zip64Lie)
	}
	if u32(r, 16) != 0 || u32(r, 20) != 0 || u64(r, 24) != e {
		return 0, 0, 0, 0, archiveError(SeveralDisks)
	}
	return e, l, s, at, nil
}

type member struct {
	name, displayName string // raw, and as UTF-8
	flags, method     int
	crc               uint32
	packed, unpacked  int64
	offset            int64 // of its header
	data, end         int64 // of its contents; end includes what follows them
	folder            bool
}

// readDirectory reads the directory. Problems with a single entry go
// into the report; an error means that continuing is pointless.
func (f *file) readDirectory(e directoryLocation, l Limits, report *Report) ([]member, error) {
	switch {
	case e.entries == 0:
		return nil, archiveError(EmptyZIP)
	case e.entries > uint64(l.Entries):
		return nil, archiveError(TooManyEntries)
	case e.length > l.Directory:
		return nil, archiveError(DirectoryLong)
	case e.entries*directorySize > uint64(e.length):
		return nil, archiveError(DirectoryBroken)
	}
	in := bufio.NewReaderSize(io.NewSectionReader(f, e.start, e.length), 64<<10)
	members := make([]member, 0, e.entries)
	keys := make(map[string]int, e.entries)
	var packed, unpacked int64
	var head [directorySize]byte
	for i := range int(e.entries) {
		if _, err := io.ReadFull(in, head[:]); err != nil || !hasSignature(head[:], sigDirectory) {
			return nil, archiveError(DirectoryBroken)
		}
		rest := make([]byte, u16(head[:], 28)+u16(head[:], 30)+u16(head[:], 32))
		if _, err := io.ReadFull(in, rest); err != nil {
			return nil, archiveError(DirectoryBroken)
		}
		name, extra := rest[:u16(head[:], 28)], rest[u16(head[:], 28):][:u16(head[:], 30)]
		m := member{name: string(name), flags: u16(head[:], 8), method: u16(head[:], 10), crc: uint32(u32(head[:], 16))}
		if err := m.readSizes(head[:], extra); err != nil {
			return nil, err
		}
		m.displayName = nameOf(m, extra, i, report)
		m.folder = strings.HasSuffix(m.displayName, "/")
		code, key := checkName(m.displayName)
		if code != "" {
			report.addZIP(code, i)
		}
		if first, twice := keys[key]; !twice {
			keys[key] = i
		} else if members[first].displayName == m.displayName {
			report.addZIP(NameTwice, i)
		} else {
			report.addZIP(NameCase, i)
		}
		if code := kindOf(u16(head[:], 4)>>8, u32(head[:], 38)); code != "" {
			report.addZIP(code, i)
		}
		m.check(i, l, report)
		packed += m.packed
		if m.unpacked > l.Unpacked || unpacked > l.Unpacked-m.unpacked {
			return nil, archiveError(UnpacksTooLarge)
		}
		unpacked += m.unpacked
		members = append(members, m)
	}
	if _, err := in.ReadByte(); err != io.EOF {
		return nil, archiveError(DirectoryBroken)
	}
	if unpacked > freeRatio && unpacked/l.Ratio > packed {
		report.addZIP(UnpacksTooFar, -1)
	}
	return members, nil
}

// check reports what cannot be unpacked or trusted.
func (m member) check(i int, l Limits, report *Report) {
	switch {
	case m.flags&(flagEncrypted|flagStrong|flagMasked) != 0 || m.method == 99:
		report.addZIP(Encrypted, i)
	case m.method != methodStore && m.method != methodDeflate:
		report.addZIP(Method, i)
	case m.method == methodStore && m.packed != m.unpacked:
		report.addZIP(SizeLie, i)
	case m.folder && (m.unpacked != 0 || m.packed > 8): // compressed, nothing takes a few bytes
		report.addZIP(SizeLie, i)
	}
	if m.unpacked > freeRatio && m.unpacked/l.Ratio > m.packed {
		report.addZIP(UnpacksTooFar, i)
	}
}

// readSizes reads an entry's sizes and offset, which may be in its extra field.
func (m *member) readSizes(head, extra []byte) error {
	unpacked, packed, offset := u32(head, 24), u32(head, 20), u32(head, 42)
	disk := u16(head, 34)
	wide, count := extraField(extra, extraZip64)
	if count > 1 {
		return archiveError(Zip64Lie)
	}
	for _, v := range []*uint64{&unpacked, &packed, &offset} {
		if *v != 0xffffffff {
			continue
		}
		if len(wide) < 8 {
			return archiveError(Zip64Lie)
		}
		*v, wide = u64(wide, 0), wide[8:]
	}
	if disk == 0xffff && len(wide) >= 4 {
		disk = int(u32(wide, 0))
	}
	switch {
	case disk != 0:
		return archiveError(SeveralDisks)
	case unpacked >= 1<<62 || packed >= 1<<62 || offset >= 1<<62:
		return archiveError(Zip64Lie)
	}
	m.unpacked, m.packed, m.offset = int64(unpacked), int64(packed), int64(offset)
	return nil
}

// extraField returns one of the extra fields, and how often it occurs.
func extraField(extra []byte, id int) (found []byte, count int) {
	for len(extra) >= 4 {
		n := u16(extra, 2)
		if n > len(extra)-4 {
			break
		}
		if u16(extra, 0) == id {
			if count++; count == 1 {
				found = extra[4 : 4+n]
			}
		}
		extra = extra[4+n:]
	}
	return found, count
}

func nameOf(m member, extra []byte, i int, report *Report) string {
	ascii := !strings.ContainsFunc(m.name, func(r rune) bool { return r >= utf8.RuneSelf })
	second := ""
	if b, n := extraField(extra, extraName); n > 0 && len(b) > 5 && b[0] == 1 && uint32(u32(b, 1)) == crc32.ChecksumIEEE([]byte(m.name)) {
		second = string(b[5:])
	}
	marked := m.flags&flagUTF8 != 0
	switch {
	case second != "" && second != m.name && (ascii || marked):
		report.addZIP(NameTwofold, i) // some readers use one, some the other
		return m.name
	case ascii || marked:
		return m.name
	case second != "":
		return second
	case utf8.ValidString(m.name):
		report.addZIP(NameUnmarked, i)
		return m.name
	}
	report.addZIP(NameOld, i)
	old, _ := charmap.CodePage437.NewDecoder().String(m.name) // has a character for every byte
	return old
}

// kindOf checks an entry's attributes for anything but a file or folder.
func kindOf(system int, attributes uint64) Code {
	if system != 3 && system != 19 && attributes&0x400 != 0 { // not Unix or macOS: a reparse point
		return Symlink
	}
	switch attributes >> 16 & 0xf000 {
	case 0, 0x8000, 0x4000:
		return ""
	case 0xa000:
		return Symlink
	}
	return SpecialFile
}
