package message

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"reflect"
	"strings"
	"testing"
)

// FuzzXML: whatever a document is, reading it ends without an error; what was
// read can be written, and reads the same again.
func FuzzXML(f *testing.F) {
	for _, c := range xmlCases() {
		if len(c.xml) < 4000 {
			f.Add([]byte(c.xml))
		}
	}
	limits := Limits{XML: 1 << 16, Token: 1 << 12, Tokens: 2000}
	f.Fuzz(func(t *testing.T, b []byte) {
		d, found, err := Read(bytes.NewReader(b), limits)
		if err != nil || d == nil && len(found) == 0 {
			t.Fatalf("%v, %v", found, err)
		}
		if d == nil {
			return
		}
		var once, twice bytes.Buffer
		if err := Write(&once, d); err != nil {
			t.Fatal(err)
		}
		again, found, err := Read(bytes.NewReader(once.Bytes()), Limits{})
		if err != nil || !reflect.DeepEqual(again, d) {
			t.Fatalf("%v, %v\n%q", found, err, once.Bytes())
		}
		if err := Write(&twice, again); err != nil || !bytes.Equal(once.Bytes(), twice.Bytes()) {
			t.Fatalf("%v\n%q\n%q", err, once.Bytes(), twice.Bytes())
		}
	})
}

// FuzzZIPDirectory: whatever a ZIP says of itself, looking at it ends without an
// error; what may be sent is for archive/zip the same files, all whole.
func FuzzZIPDirectory(f *testing.F) {
	for _, c := range zipCases() {
		if len(c.zip) < 4000 {
			f.Add(c.zip)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) { sameForOthers(t, b) })
}

// FuzzZIPFields is the same for ZIPs whose records fit together, but for an entry
// with any fields and four bytes anywhere.
func FuzzZIPFields(f *testing.F) {
	f.Add("brief.txt", "tekst", []byte{}, uint16(0), byte(0), byte(0), uint32(0), uint32(0), uint32(0))
	f.Add("caf\x82", "", extraOf(extraName, put(nil, "\x01", uint32(0), "caf\u00e9")), uint16(flagUTF8), byte(3), byte(1), uint32(0xa1ff<<16), uint32(9), uint32(9))
	f.Add("groot", "tekst", extraOf(extraZip64, put(nil, uint64(5), uint64(5))), uint16(0), byte(0), byte(6), uint32(0), uint32(300), uint32(0xffffffff))
	f.Fuzz(func(t *testing.T, name, content string, extra []byte, flags uint16, system, how byte, attrs, at, value uint32) {
		if len(name) > 2000 || len(extra) > 2000 || len(content) > 10_000 {
			return
		}
		it := item{name: name, content: content, extra: extra, flags: flags, system: system, attrs: attrs, describe: how&2 != 0}
		if how&1 != 0 { // one block that is not packed any further: cheap to make
			it.method, it.packed = methodDeflate, put(nil, "\x01", len(content), ^uint16(len(content)), content)
		}
		c := crafted{items: []item{{name: "a.xml", content: "<Contractdocument/>"}, it, {name: "slot", content: content}}, wide: how&4 != 0}
		if how&8 != 0 {
			c.gap = content
		}
		b := c.bytes()
		if value != 0 {
			at %= uint32(len(b) - 4)
			binary.LittleEndian.PutUint32(b[at:], value)
		}
		sameForOthers(t, b)
	})
}

func sameForOthers(t *testing.T, b []byte) {
	limits := Limits{Entries: 100, Unpacked: 1 << 20, XML: 1 << 16}
	r, err := Inspect(context.Background(), bytes.NewReader(b), int64(len(b)), Options{Limits: limits})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range r.Findings {
		if x.Entry >= len(r.Entries) {
			t.Fatalf("no entry %d", x.Entry)
		}
	}
	if !r.Sendable(false) {
		return
	}
	z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil || len(z.File) != len(r.Entries) {
		t.Fatalf("%v, %d entries", err, len(r.Entries))
	}
	for i, e := range z.File {
		if e.UncompressedSize64 != uint64(r.Entries[i].Unpacked) || strings.HasSuffix(e.Name, "/") != r.Entries[i].Folder {
			t.Fatalf("entry %d: %d bytes, %d", i, e.UncompressedSize64, r.Entries[i].Unpacked)
		}
		in, err := e.Open()
		if err != nil {
			t.Fatalf("entry %d: %v", i, err)
		}
		if n, err := io.Copy(io.Discard, in); err != nil || n != r.Entries[i].Unpacked {
			t.Fatalf("entry %d: %d bytes, %v", i, n, err)
		}
	}
}
