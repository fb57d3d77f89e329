//go:build linux

package windows

import (
	"bytes"
	"encoding/binary"
	"errors"
	"time"
)

// Properties replaced in a package's summary: its code, which wixl picks at random, its
// times, which are those of writing, and its language, which is always English.
const (
	propertyTemplate = 7
	propertyCode     = 9
	propertyCreated  = 12
	propertySaved    = 13

	typeText = 30 // VT_LPSTR
	typeTime = 64 // VT_FILETIME
)

const summaryTemplate = "x64;1043"

// summaryFormat begins the only section of a summary ([MS-OLEPS], 2.21: FMTID).
var summaryFormat = []byte{0xe0, 0x85, 0x9f, 0xf2, 0xf9, 0x4f, 0x68, 0x10, 0xab, 0x91, 0x08, 0x00, 0x2b, 0x27, 0xb3, 0xd9}

var errSummary = errors.New("the package has no summary that can be read")

// stampSummary sets a package's time, and a code derived from its content. It writes in
// place: what it changes has a fixed size, and a summary is small enough to be contiguous.
func stampSummary(b []byte, at time.Time) error {
	i := bytes.Index(b, summaryFormat)
	if i < 28 || bytes.Contains(b[i+1:], summaryFormat) {
		return errSummary
	}
	start := i - 28
	code, err := property(b[start:], propertyCode, typeText, 38)
	if err != nil {
		return err
	}
	for _, which := range []uint32{propertyCreated, propertySaved} {
		field, err := property(b[start:], which, typeTime, 8)
		if err != nil {
			return err
		}
		const to1970 = 116444736000000000 // in units of 100 ns, from 1601
		binary.LittleEndian.PutUint64(field, uint64(at.UnixNano()/100+to1970))
	}
	template, err := property(b[start:], propertyTemplate, typeText, len(summaryTemplate))
	if err != nil {
		return err
	}
	copy(template, summaryTemplate)
	clear(code)
	copy(code, packageCode(b))
	return nil
}

// property returns the bytes of a value in a property set.
func property(set []byte, id, kind uint32, size int) ([]byte, error) {
	le := binary.LittleEndian
	at := func(i int) int {
		if i < 0 || i+4 > len(set) {
			return -1
		}
		return int(le.Uint32(set[i:]))
	}
	section := at(44)
	for n := range min(max(at(section+4), 0), 100) {
		entry := section + 8 + 8*n
		if at(entry) != int(id) {
			continue
		}
		value := section + at(entry+4)
		field := value + 4
		if kind == typeText {
			field += 4 // its length
		}
		if at(value) != int(kind) || field+size > len(set) || kind == typeText && at(value+4) != size+1 {
			break
		}
		return set[field : field+size], nil
	}
	return nil, errSummary
}
