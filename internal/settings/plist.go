package settings

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
)

// A property list is what macOS keeps managed preferences in, as XML or in a
// binary form. Only what settings can be made of is read: dictionaries, arrays,
// texts, whole and other numbers, truth values, dates and data. Both forms are
// documented by Apple ("Property List Programming Guide", CFBinaryPList.c).

// Limits of a property list.
const (
	plistDepth   = 8
	plistObjects = 10_000 // counted as often as they are referred to
)

var errPlist = errors.New("not a property list")

// parsePlist reads a property list whose root is a dictionary.
func parsePlist(b []byte) (map[string]any, error) {
	var v any
	var err error
	if bytes.HasPrefix(b, []byte("bplist00")) {
		v, err = parseBinaryPlist(b)
	} else {
		v, err = parseXMLPlist(b)
	}
	if err != nil {
		return nil, err
	}
	if m, ok := v.(map[string]any); ok {
		return m, nil
	}
	return nil, errPlist
}

// xmlPlist reads one element after the other.
type xmlPlist struct {
	d    *xml.Decoder
	left int
}

func parseXMLPlist(b []byte) (any, error) {
	p := xmlPlist{xml.NewDecoder(bytes.NewReader(b)), plistObjects}
	root, err := p.next()
	if err != nil || root == nil || root.Name.Local != "plist" {
		return nil, errPlist
	}
	e, err := p.next()
	if err != nil || e == nil {
		return nil, errPlist
	}
	v, err := p.value(*e, plistDepth)
	if err != nil {
		return nil, err
	}
	if more, err := p.next(); more != nil || err != nil {
		return nil, errPlist
	}
	return v, nil
}

// next is the next element that begins, nil where the one around it ends.
func (p *xmlPlist) next() (*xml.StartElement, error) {
	for {
		t, err := p.d.Token()
		if err != nil {
			return nil, errPlist
		}
		switch t := t.(type) {
		case xml.StartElement:
			return &t, nil
		case xml.EndElement:
			return nil, nil
		}
	}
}

func (p *xmlPlist) text() (string, error) {
	var b strings.Builder
	for {
		t, err := p.d.Token()
		if err != nil {
			return "", errPlist
		}
		switch t := t.(type) {
		case xml.CharData:
			b.Write(t)
		case xml.EndElement:
			return b.String(), nil
		case xml.StartElement:
			return "", errPlist
		}
	}
}

func (p *xmlPlist) value(e xml.StartElement, depth int) (any, error) {
	if p.left--; depth == 0 || p.left < 0 {
		return nil, errPlist
	}
	switch e.Name.Local {
	case "dict":
		m := map[string]any{}
		for {
			k, err := p.next()
			if err != nil || k == nil {
				return m, err
			}
			if k.Name.Local != "key" {
				return nil, errPlist
			}
			name, err := p.text()
			if err != nil {
				return nil, err
			}
			v, err := p.next()
			if err != nil || v == nil {
				return nil, errPlist
			}
			if m[name], err = p.value(*v, depth-1); err != nil {
				return nil, err
			}
		}
	case "array":
		list := []any{}
		for {
			v, err := p.next()
			if err != nil || v == nil {
				return list, err
			}
			x, err := p.value(*v, depth-1)
			if err != nil {
				return nil, err
			}
			list = append(list, x)
		}
	}
	s, err := p.text()
	if err != nil {
		return nil, err
	}
	switch e.Name.Local {
	case "string":
		return s, nil
	case "true", "false":
		return e.Name.Local == "true", nil
	case "integer":
		n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
		return n, plistError(err)
	case "real":
		f, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
		return f, plistError(err)
	case "date":
		t, err := time.Parse(time.RFC3339, strings.TrimSpace(s))
		return t, plistError(err)
	case "data":
		b, err := io.ReadAll(base64.NewDecoder(base64.StdEncoding, strings.NewReader(strings.Join(strings.Fields(s), ""))))
		return b, plistError(err)
	}
	return nil, errPlist
}

func plistError(err error) error {
	if err != nil {
		return errPlist
	}
	return nil
}

// binaryPlist is a table of objects that refer to each other by number.
type binaryPlist struct {
	b       []byte // up to the table of offsets
	offsets []uint64
	refSize int
	left    int
}

func parseBinaryPlist(b []byte) (any, error) {
	const head, trailer = 8, 32
	if len(b) < head+trailer {
		return nil, errPlist
	}
	t := b[len(b)-trailer:]
	offsetSize, refSize := int(t[6]), int(t[7])
	count, top, table := binary.BigEndian.Uint64(t[8:]), binary.BigEndian.Uint64(t[16:]), binary.BigEndian.Uint64(t[24:])
	end := uint64(len(b) - trailer)
	if offsetSize < 1 || offsetSize > 8 || refSize < 1 || refSize > 8 || count > plistObjects || table > end || count*uint64(offsetSize) > end-table {
		return nil, errPlist
	}
	p := binaryPlist{b: b[:table], refSize: refSize, left: plistObjects}
	for i := range count {
		p.offsets = append(p.offsets, bigEndian(b[table+i*uint64(offsetSize):][:offsetSize]))
	}
	return p.object(top, plistDepth)
}

func bigEndian(b []byte) (n uint64) {
	for _, c := range b {
		n = n<<8 | uint64(c)
	}
	return n
}

// take is n bytes from an offset on.
func (p *binaryPlist) take(at, n uint64) ([]byte, error) {
	if at > uint64(len(p.b)) || n > uint64(len(p.b))-at {
		return nil, errPlist
	}
	return p.b[at : at+n], nil
}

// length is how many things an object has, and where they begin.
func (p *binaryPlist) length(at uint64, low byte) (n, from uint64, err error) {
	if low < 0xF {
		return uint64(low), at + 1, nil
	}
	b, err := p.take(at+1, 1)
	if err != nil || b[0]>>4 != 1 || b[0]&0xF > 3 {
		return 0, 0, errPlist
	}
	size := uint64(1) << (b[0] & 0xF)
	num, err := p.take(at+2, size)
	if err != nil {
		return 0, 0, err
	}
	return bigEndian(num), at + 2 + size, nil
}

func (p *binaryPlist) refs(at, n uint64) ([]uint64, error) {
	if n > plistObjects {
		return nil, errPlist
	}
	b, err := p.take(at, n*uint64(p.refSize))
	if err != nil {
		return nil, err
	}
	all := make([]uint64, n)
	for i := range all {
		all[i] = bigEndian(b[i*p.refSize:][:p.refSize])
	}
	return all, nil
}

func (p *binaryPlist) object(ref uint64, depth int) (any, error) {
	if p.left--; depth == 0 || p.left < 0 || ref >= uint64(len(p.offsets)) {
		return nil, errPlist
	}
	at := p.offsets[ref]
	marker, err := p.take(at, 1)
	if err != nil {
		return nil, err
	}
	kind, low := marker[0]>>4, marker[0]&0xF
	switch kind {
	case 0x0:
		if low == 8 || low == 9 {
			return low == 9, nil
		}
		return nil, errPlist
	case 0x1, 0x2, 0x3:
		if low > 3 || kind != 1 && low < 2 {
			return nil, errPlist
		}
		b, err := p.take(at+1, 1<<low)
		if err != nil {
			return nil, err
		}
		n := bigEndian(b)
		switch {
		case kind == 1:
			return int64(n), nil // shorter ones are never negative
		case low == 2:
			return float64(math.Float32frombits(uint32(n))), nil
		case kind == 2:
			return math.Float64frombits(n), nil
		}
		return plistDate(math.Float64frombits(n))
	}
	n, from, err := p.length(at, low)
	if err != nil {
		return nil, err
	}
	switch kind {
	case 0x4, 0x5:
		b, err := p.take(from, n)
		if kind == 0x4 || err != nil {
			return bytes.Clone(b), err
		}
		return string(b), nil
	case 0x6:
		if n > uint64(len(p.b)) {
			return nil, errPlist
		}
		b, err := p.take(from, 2*n)
		if err != nil {
			return nil, err
		}
		units := make([]uint16, n)
		for i := range units {
			units[i] = binary.BigEndian.Uint16(b[2*i:])
		}
		return string(utf16.Decode(units)), nil
	case 0xA:
		all, err := p.refs(from, n)
		if err != nil {
			return nil, err
		}
		list := make([]any, 0, len(all))
		for _, r := range all {
			v, err := p.object(r, depth-1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		return list, nil
	case 0xD:
		if n > plistObjects {
			return nil, errPlist
		}
		all, err := p.refs(from, 2*n)
		if err != nil {
			return nil, err
		}
		m := map[string]any{}
		for i := range n {
			k, err := p.object(all[i], depth-1)
			if err != nil {
				return nil, err
			}
			name, ok := k.(string)
			if !ok {
				return nil, errPlist
			}
			if m[name], err = p.object(all[n+i], depth-1); err != nil {
				return nil, err
			}
		}
		return m, nil
	}
	return nil, errPlist
}

// plistDate is a date as seconds since 2001.
func plistDate(seconds float64) (any, error) {
	if math.IsNaN(seconds) || math.Abs(seconds) > 1e11 {
		return nil, errPlist
	}
	return time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(seconds) * time.Second), nil
}
