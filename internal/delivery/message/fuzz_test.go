package message

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"io"
	"strings"
	"testing"
)

// FuzzXML: reading any document ends without an error and with a verdict.
func FuzzXML(f *testing.F) {
	for _, c := range xmlCases() {
		if len(c.xml) < 4000 {
			f.Add([]byte(c.xml))
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		found, isContract, err := read(bytes.NewReader(b))
		if err != nil || !isContract && len(found) == 0 {
			t.Fatalf("%v, %v", found, err)
		}
	})
}

// FuzzZIPDirectory checks that inspecting any ZIP ends without an error, and
// that archive/zip finds the same files, all intact, in a ZIP that may be sent.
func FuzzZIPDirectory(f *testing.F) {
	for _, c := range zipCases() {
		if len(c.zip) < 4000 {
			f.Add(c.zip)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) { sameForOthers(t, b) })
}

// FuzzZIPFields is FuzzZIPDirectory for ZIPs whose records are consistent,
// except for an entry with arbitrary fields and four arbitrary bytes anywhere.
func FuzzZIPFields(f *testing.F) {
	f.Add("brief.txt", "tekst", []byte{}, uint16(0), byte(0), byte(0), uint32(0), uint32(0), uint32(0))
	f.Add("caf\x82", "", extraOf(extraName, put(nil, "\x01", uint32(0), "caf\u00e9")), uint16(flagUTF8), byte(3), byte(1), uint32(0xa1ff<<16), uint32(9), uint32(9))
	f.Add("groot", "tekst", extraOf(extraZip64, put(nil, uint64(5), uint64(5))), uint16(0), byte(0), byte(6), uint32(0), uint32(300), uint32(0xffffffff))
	f.Fuzz(func(t *testing.T, name, content string, extra []byte, flags uint16, system, how byte, attrs, at, value uint32) {
		if len(name) > 2000 || len(extra) > 2000 || len(content) > 10_000 {
			return
		}
		it := item{name: name, content: content, extra: extra, flags: flags, system: system, attrs: attrs, describe: how&2 != 0}
		if how&1 != 0 { // a single uncompressed block: cheap to create
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
	f := &file{ctx: t.Context(), r: bytes.NewReader(b), size: int64(len(b))}
	limits := Defaults
	limits.Entries, limits.Unpacked, limits.XML = 100, 1<<20, 1<<16
	i := inspection{f: f, in: newUnpacker(f), limit: limits, report: &Report{}}
	candidates, err := i.checkZIP()
	if err == nil && i.report.Sendable(false) {
		err = i.readDocuments(candidates)
	}
	if f.err != nil {
		t.Fatal(f.err)
	}
	if err != nil || !i.report.Sendable(false) {
		return
	}
	z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil || len(z.File) != len(i.members) {
		t.Fatalf("%v, %d entries", err, len(i.members))
	}
	for n, e := range z.File {
		want := i.members[n]
		if e.UncompressedSize64 != uint64(want.unpacked) || strings.HasSuffix(e.Name, "/") != want.folder {
			t.Fatalf("entry %d: %d bytes, %d", n, e.UncompressedSize64, want.unpacked)
		}
		in, err := e.Open()
		if err != nil {
			t.Fatalf("entry %d: %v", n, err)
		}
		if size, err := io.Copy(io.Discard, in); err != nil || size != want.unpacked {
			t.Fatalf("entry %d: %d bytes, %v", n, size, err)
		}
	}
}
