package message

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strings"
	"unicode/utf8"
)

// ErrChanged reports a file that was different when read again, or whose size
// differs from the one given.
var ErrChanged = errors.New("message: a file changed while it was read")

// BuildError reports why a ZIP cannot be built from these files. It contains no name.
type BuildError struct {
	Code   Code
	Source int // 0: the document; attachments from 1; -1: all together
}

func (e *BuildError) Error() string {
	if e.Source < 0 {
		return "message: " + string(e.Code)
	}
	return fmt.Sprintf("message: file %d: %s", e.Source, e.Code)
}

// Build writes a ZIP of a document and its attachments to w, in that order. The same
// files yield the same bytes; memory use does not depend on their size. Only the document
// is compressed: most attachments already are, and compressing a file of many equal
// bytes would look like a ZIP bomb. Sizes and checksum precede each file, so every
// reader can read it. Names that Inspect refuses or warns about are rejected, as is a
// document that is not XML.
//
// Errors are *BuildError, ErrChanged, the context's, w's, and those of Open and of what it
// opened. After an error the output is useless.
func Build(ctx context.Context, w io.Writer, xml Source, attachments []Source) error {
	sources := append([]Source{xml}, attachments...)
	if len(sources) > Defaults.Entries {
		return &BuildError{TooManyEntries, -1}
	}
	keys := map[string]bool{}
	for i, s := range sources {
		code, key := checkName(s.Name)
		switch {
		case code != "":
			return &BuildError{code, i}
		case strings.HasSuffix(s.Name, "/"):
			return &BuildError{NameImpossible, i}
		case keys[key]:
			return &BuildError{NameTwice, i}
		}
		keys[key] = true
	}
	z := zip.NewWriter(w)
	left := Defaults.Unpacked
	for i, s := range sources {
		n, err := addFile(ctx, z, s, i, left)
		if err != nil {
			return err
		}
		left -= n
	}
	return z.Close()
}

// addFile adds a file of at most limit bytes, and returns its size.
func addFile(ctx context.Context, z *zip.Writer, s Source, place int, limit int64) (int64, error) {
	h := &zip.FileHeader{Name: s.Name, CreatorVersion: 20, ReaderVersion: 20}
	//lint:ignore SA1019 CreateRaw takes it as it is, and not Modified
	h.ModifiedDate = 1<<5 | 1 // 1 January 1980, the earliest possible date
	if strings.ContainsFunc(s.Name, func(r rune) bool { return r >= utf8.RuneSelf }) {
		h.Flags |= flagUTF8
	}
	var packed bytes.Buffer
	into, pack, tooLong := io.Discard, (*flate.Writer)(nil), UnpacksTooLarge
	if place == 0 {
		limit, tooLong = min(limit, Defaults.XML), XMLTooLarge
		pack, _ = flate.NewWriter(&packed, flate.DefaultCompression) // a valid level
		into, h.Method = pack, methodDeflate
	}
	head := &prefixWriter{w: into}
	size, crc, err := copyFile(ctx, head, s, limit)
	if err == errTooLong {
		return 0, &BuildError{tooLong, place}
	}
	if err != nil {
		return 0, err
	}
	if s.Size != size {
		return 0, ErrChanged
	}
	if place == 0 && !startsWithTag(head.b) {
		return 0, &BuildError{NoDocument, place}
	}
	h.CRC32, h.UncompressedSize64, h.CompressedSize64 = crc, uint64(size), uint64(size)
	if pack != nil {
		_ = pack.Close() // cannot fail: it writes to memory
		h.CompressedSize64 = uint64(packed.Len())
	}
	out, err := z.CreateRaw(h)
	if err != nil {
		return 0, err
	}
	if pack != nil {
		_, err = out.Write(packed.Bytes())
		return size, err
	}
	again, crcAgain, err := copyFile(ctx, out, s, size)
	if err == errTooLong || err == nil && (again != size || crcAgain != crc) {
		err = ErrChanged
	}
	return size, err
}

// startsWithTag reports whether a text in any encoding begins with a tag, as every XML
// document does.
func startsWithTag(b []byte) bool {
	for _, mark := range []string{"\xef\xbb\xbf", "\xff\xfe", "\xfe\xff"} {
		b = bytes.TrimPrefix(b, []byte(mark))
	}
	return bytes.HasPrefix(bytes.TrimLeft(b, "\x00 \t\r\n"), []byte("<"))
}

// prefixWriter keeps the first bytes written.
type prefixWriter struct {
	w io.Writer
	b []byte
}

func (x *prefixWriter) Write(p []byte) (int, error) {
	x.b = append(x.b, p[:min(len(p), 64-len(x.b))]...)
	return x.w.Write(p)
}

var errTooLong = errors.New("message: a file is too long")

// copyFile copies a file of at most limit bytes.
func copyFile(ctx context.Context, w io.Writer, s Source, limit int64) (size int64, crc uint32, err error) {
	in, err := s.Open()
	if err != nil {
		return 0, 0, err
	}
	defer in.Close()
	buf := make([]byte, 64<<10)
	for {
		if err := ctx.Err(); err != nil {
			return 0, 0, err
		}
		n, err := in.Read(buf)
		if size += int64(n); size > limit {
			return 0, 0, errTooLong
		}
		crc = crc32.Update(crc, crc32.IEEETable, buf[:n])
		if _, err := w.Write(buf[:n]); err != nil {
			return 0, 0, err
		}
		if err == io.EOF {
			return size, crc, nil
		}
		if err != nil {
			return 0, 0, err
		}
	}
}
