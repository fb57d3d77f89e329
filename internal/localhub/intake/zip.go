package intake

import (
	"archive/zip"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"strings"
	"unicode/utf8"
)

const (
	maxDirectory = 8 << 20 // bytes of a ZIP's list of files
	maxRatio     = 250     // unpacked to packed, of the whole
	freeRatio    = 32 << 20
)

// CheckZIP reads a whole ZIP file: its list of files and every byte of each.
// files is how many it holds. A *Refusal, with the given item, says what is
// wrong with it; other errors are r's or the context's. Memory is bounded by
// the limits, whatever the file says of itself.
func CheckZIP(ctx context.Context, r io.ReaderAt, size int64, limit Limits, item int) (files int, err error) {
	bad := func(about string) (int, error) { return 0, &Refusal{BadZIP, item, about} }
	if about := checkEnd(r, size, limit); about != "" {
		return bad(about)
	}
	z, err := zip.NewReader(r, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return bad("message is not a ZIP file that can be read")
	}
	if len(z.File) == 0 {
		return bad("the ZIP file is empty")
	}
	if len(z.File) > limit.Entries {
		return bad("the ZIP file holds too many files")
	}
	var packed, unpacked uint64
	seen := make(map[string]bool, len(z.File))
	for _, f := range z.File {
		if about := checkEntry(f); about != "" {
			return bad(about)
		}
		key := strings.ToLower(f.Name)
		if seen[key] {
			return bad("the ZIP file holds two files of one name")
		}
		seen[key] = true
		packed += f.CompressedSize64
		unpacked += f.UncompressedSize64
		if f.UncompressedSize64 > uint64(limit.Unpacked) || unpacked > uint64(limit.Unpacked) {
			return bad("the ZIP file unpacks to too much")
		}
	}
	if packed > uint64(size) {
		return bad("the files in the ZIP file overlap")
	}
	if unpacked > freeRatio && unpacked/maxRatio > packed {
		return bad("the ZIP file unpacks to far more than its size")
	}
	buf := make([]byte, 32<<10)
	for _, f := range z.File {
		if about, err := readEntry(ctx, f, buf); err != nil {
			return 0, err
		} else if about != "" {
			return bad(about)
		}
		if !f.FileInfo().IsDir() {
			files++
		}
	}
	if files == 0 {
		return bad("the ZIP file is empty")
	}
	return files, nil
}

func checkEntry(f *zip.File) string {
	switch name := f.Name; {
	case name == "" || len(name) > 1024 || strings.ContainsFunc(name, func(r rune) bool { return r < 0x20 || r == 0x7f }):
		return "the ZIP file holds a file with an impossible name"
	case !fs.ValidPath(strings.TrimSuffix(name, "/")) && utf8.ValidString(name),
		strings.ContainsAny(name, `\:`), strings.HasPrefix(name, "/"), strings.Contains("/"+name+"/", "/../"):
		return "the ZIP file holds a file whose name leads elsewhere"
	case f.Flags&1 != 0:
		return "the ZIP file is encrypted"
	case f.Method != zip.Store && f.Method != zip.Deflate:
		return "the ZIP file is packed in a way that is not read here"
	case !f.Mode().IsRegular() && !f.Mode().IsDir():
		return "the ZIP file holds something else than files"
	}
	return ""
}

// readEntry reads a file to its end, which compares its checksum.
func readEntry(ctx context.Context, f *zip.File, buf []byte) (about string, err error) {
	const damaged = "the ZIP file is damaged"
	in, err := f.Open()
	if err != nil {
		return damaged, nil
	}
	defer in.Close()
	for left := f.UncompressedSize64; ; {
		n, err := in.Read(buf)
		if uint64(n) > left {
			return damaged, nil
		}
		left -= uint64(n)
		switch {
		case err == io.EOF:
			return "", nil
		case err != nil:
			return damaged, nil
		case ctx.Err() != nil:
			return "", ctx.Err()
		}
	}
}

// checkEnd looks at the record at the end of a ZIP file before anything is made
// of what it says: archive/zip keeps the whole list of files in memory, and
// believes in lists outside the place that the record names.
func checkEnd(r io.ReaderAt, size int64, limit Limits) string {
	const (
		notZIP  = "message is not a ZIP file that can be read"
		endSize = 22
	)
	tail := make([]byte, min(size, endSize+1<<16))
	if _, err := r.ReadAt(tail, size-int64(len(tail))); err != nil && err != io.EOF {
		return notZIP
	}
	at := -1
	for i := len(tail) - endSize; i >= 0 && at < 0; i-- {
		if string(tail[i:i+4]) == "PK\x05\x06" && i+endSize+int(binary.LittleEndian.Uint16(tail[i+20:])) <= len(tail) {
			at = i
		}
	}
	if at < 0 {
		return "message is not a ZIP file: its end is missing"
	}
	u16 := func(o int) uint64 { return uint64(binary.LittleEndian.Uint16(tail[at+o:])) }
	u32 := func(o int) uint64 { return uint64(binary.LittleEndian.Uint32(tail[at+o:])) }
	if at+endSize+int(u16(20)) != len(tail) || u16(4) != 0 && u16(4) != 0xffff {
		return notZIP
	}
	entries, length, start := u16(10), u32(12), u32(16)
	end := uint64(size) - uint64(len(tail)-at)
	if entries == 0xffff || length == 0xffffffff || start == 0xffffffff {
		var wide bool
		if entries, length, start, end, wide = wideEnd(r, end); !wide {
			return notZIP
		}
	}
	switch {
	case entries > uint64(limit.Entries):
		return "the ZIP file holds too many files"
	case length > maxDirectory:
		return "the list of files in the ZIP file is too long"
	case start > end || length > end || start+length != end:
		return notZIP
	}
	return ""
}

// wideEnd reads the records of a ZIP file in 64 bits, which stand before end.
func wideEnd(r io.ReaderAt, end uint64) (entries, length, start, newEnd uint64, ok bool) {
	var locator [20]byte
	if end < 20 {
		return
	}
	if _, err := r.ReadAt(locator[:], int64(end-20)); err != nil || string(locator[:4]) != "PK\x06\x07" {
		return
	}
	at := binary.LittleEndian.Uint64(locator[8:])
	var record [56]byte
	if end < 76 || at > end-76 {
		return
	}
	if _, err := r.ReadAt(record[:], int64(at)); err != nil || string(record[:4]) != "PK\x06\x06" {
		return
	}
	u64 := func(o int) uint64 { return binary.LittleEndian.Uint64(record[o:]) }
	return u64(32), u64(40), u64(48), at, true
}
