package message

import (
	"bytes"
	"compress/flate"
	"context"
	"encoding/binary"
	"hash/crc32"
	"io"
	"strings"
	"testing"

	"wiebelt/internal/testutil/must"
)

// item is an entry of a crafted ZIP. Zero fields are set correctly.
type item struct {
	name      string
	content   string
	deflate   bool
	packed    []byte // compressed data of other content
	method    uint16 // a method other than the one used
	flags     uint16
	crc       uint32 // a different checksum in the central directory
	unpacked  uint64 // a different size in the central directory
	system    byte
	attrs     uint32
	extra     []byte // in the central directory
	localName string // in the local header
	describe  bool   // sizes and checksum follow
	before    string // bytes before the entry
	same      int    // the central directory points to this entry instead, from 1
}

// crafted is a possibly inconsistent ZIP.
type crafted struct {
	items   []item
	comment string
	gap     string                          // before the central directory
	wide    bool                            // with 64-bit records
	end     func(end, wide, locator []byte) // changes these records
}

func deflated(s string) []byte {
	var b bytes.Buffer
	w, _ := flate.NewWriter(&b, 9)
	_, _ = io.WriteString(w, s)
	_ = w.Close()
	return b.Bytes()
}

func put(b []byte, values ...any) []byte {
	for _, v := range values {
		switch x := v.(type) {
		case string:
			b = append(b, x...)
		case []byte:
			b = append(b, x...)
		case int:
			b = binary.LittleEndian.AppendUint16(b, uint16(x))
		case uint16:
			b = binary.LittleEndian.AppendUint16(b, x)
		case uint32:
			b = binary.LittleEndian.AppendUint32(b, x)
		case uint64:
			b = binary.LittleEndian.AppendUint64(b, x)
		}
	}
	return b
}

func (c crafted) bytes() []byte {
	var b []byte
	var list [][]byte
	var offsets, sizes []uint32
	for _, it := range c.items {
		packed, method := []byte(it.content), uint16(0)
		if it.deflate {
			packed, method = deflated(it.content), 8
		}
		if it.packed != nil {
			packed = it.packed
		}
		if it.method != 0 {
			method = it.method
		}
		crc, unpacked := crc32.ChecksumIEEE([]byte(it.content)), uint64(len(it.content))
		flags, name := it.flags, it.name
		if it.describe {
			flags |= flagDescriptor
		}
		if it.localName != "" {
			name = it.localName
		}
		listed, listedSize := crc, unpacked
		if it.crc != 0 {
			listed, crc = it.crc, it.crc
		}
		if it.unpacked != 0 {
			listedSize, unpacked = it.unpacked, it.unpacked
		}
		b = append(b, it.before...)
		offset, size := uint32(len(b)), uint32(len(packed))
		if it.describe {
			b = put(b, sigLocal, 20, flags, method, uint32(0x21<<16), uint32(0), uint32(0), uint32(0), len(name), 0, name, packed)
			b = put(b, sigDescriptor, crc, size, uint32(unpacked))
		} else {
			b = put(b, sigLocal, 20, flags, method, uint32(0x21<<16), crc, size, uint32(unpacked), len(name), 0, name, packed)
		}
		offsets, sizes = append(offsets, offset), append(sizes, size)
		if it.same > 0 {
			offset, size = offsets[it.same-1], sizes[it.same-1]
		}
		list = append(list, put(nil, sigDirectory, uint16(it.system)<<8|20, 20, flags, method, uint32(0x21<<16), listed, size,
			uint32(listedSize), len(it.name), len(it.extra), 0, 0, 0, it.attrs, offset, it.name, it.extra))
	}
	b = append(b, c.gap...)
	start := len(b)
	for _, l := range list {
		b = append(b, l...)
	}
	length := len(b) - start
	var wide, locator []byte
	if c.wide {
		locator = put(nil, sigLocator, uint32(0), uint64(len(b)), uint32(1))
		wide = put(nil, sigZip64End, uint64(44), 45, 45, uint32(0), uint32(0), uint64(len(list)), uint64(len(list)), uint64(length),
			uint64(start))
	}
	end := put(nil, sigEnd, 0, 0, len(list), len(list), uint32(length), uint32(start), len(c.comment), c.comment)
	if c.wide {
		copy(end[8:20], "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff")
	}
	if c.end != nil {
		c.end(end, wide, locator)
	}
	return put(b, wide, locator, end)
}

// zipped returns a valid ZIP of names and contents.
func zipped(pairs ...string) []byte {
	var c crafted
	for i := 0; i+1 < len(pairs); i += 2 {
		c.items = append(c.items, item{name: pairs[i], content: pairs[i+1], deflate: true})
	}
	return c.bytes()
}

const example = `<?xml version="1.0" encoding="UTF-8"?>
<Contractdocument>
  <UN>
    <UN_ZENDER>AFZENDER</UN_ZENDER>
    <UN_ONTVAN>ONTVANGER</UN_ONTVAN>
  </UN>
  <AL>
    <AL_VRWRKCD>1</AL_VRWRKCD>
    <AL_FUNCTIE>2</AL_FUNCTIE>
    <AL_DATACAT>3</AL_DATACAT>
    <BY>
      <BY_VRWRKCD>1</BY_VRWRKCD>
      <BY_VOLGNUM>1</BY_VOLGNUM>
      <BY_BYLSRT>PDF</BY_BYLSRT>
      <BY_EXT>pdf</BY_EXT>
      <BY_URLBY>polis.pdf</BY_URLBY>
      <BY_PROCESC>1</BY_PROCESC>
      <BY_ENDBSTM>1</BY_ENDBSTM>
      <BY_REACTIE>J</BY_REACTIE>
    </BY>
  </AL>
  <PP>
    <PP_VRWRKCD>1</PP_VRWRKCD>
    <PP_NUMMER>100200</PP_NUMMER>
    <PP_MYAAND>1</PP_MYAAND>
    <VP>
      <VP_VRWRKCD>1</VP_VRWRKCD>
      <VP_ANAAM>Testpersoon</VP_ANAAM>
      <VP_VOORL>T.</VP_VOORL>
      <VP_GEBDAT>19800229</VP_GEBDAT>
    </VP>
  </PP>
</Contractdocument>
`

// message returns a ZIP with the example and its attachment.
func message(more ...item) crafted {
	return crafted{items: append([]item{
		{name: "bericht.xml", content: example, deflate: true}, {name: "polis.pdf", content: "%PDF-1.7 verzonnen"},
	}, more...)}
}

func with(change func(c *crafted)) []byte {
	c := message()
	change(&c)
	return c.bytes()
}

// frontOf returns a ZIP whose first local header is changed.
func frontOf(zip []byte, change func(header []byte)) []byte {
	zip = bytes.Clone(zip)
	change(zip[:localSize])
	return zip
}

func inspected(t testing.TB, b []byte) *Report {
	t.Helper()
	return must.Get(Inspect(context.Background(), bytes.NewReader(b), int64(len(b)), Defaults))(t)
}

// read reads a document the way Inspect does.
func read(r io.Reader) (found []Finding, isContract bool, err error) {
	report := &Report{}
	_, isContract, err = readDocument(r, Defaults, func(c Code, element string, line int) {
		report.add(Finding{Code: c, Severity: c.Severity(), Entry: -1, Element: element, Line: line})
	})
	return report.Findings, isContract, err
}

// codes returns the codes of findings of at least the given severity, in their order.
func codes(all []Finding, from Severity) string {
	var s []string
	for _, f := range all {
		if f.Severity >= from {
			s = append(s, string(f.Code))
		}
	}
	return strings.Join(s, " ")
}
