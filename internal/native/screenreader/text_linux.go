package screenreader

import (
	"unicode"
	"unicode/utf8"
)

// runes returns the number of characters in a text, as AT-SPI counts them.
func runes(s string) int32 { return int32(utf8.RuneCountInString(s)) }

// textChange returns the character at which two texts start to
// differ, and the removed and the added text.
func textChange(old, now string) (at int32, gone, come string) {
	a, b := []rune(old), []rune(now)
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b, at = a[1:], b[1:], at+1
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return at, string(a), string(b)
}

// unit is the unit in which a reader requests text.
type unit uint8

const (
	byCharacter unit = iota
	byWord
	byLine
	byAll
)

// AT-SPI's boundaries and granularities, by number. A sentence is treated as a
// line, since text typed here has neither.
var (
	boundaries    = []unit{byCharacter, byWord, byWord, byLine, byLine, byLine, byLine}
	granularities = []unit{byCharacter, byWord, byLine, byLine, byAll}
)

func unitOf(all []unit, n uint32) unit {
	if int(n) < len(all) {
		return all[n]
	}
	return byAll
}

// around returns the unit of a text around a position. A word includes the spaces after it.
func around(all []rune, at int, u unit) (from, to int) {
	at = min(max(at, 0), len(all))
	space := func(i int) bool { return unicode.IsSpace(all[i]) }
	switch from, to = at, at; u {
	case byCharacter:
		return at, min(at+1, len(all))
	case byAll:
		return 0, len(all)
	case byLine:
		for from > 0 && all[from-1] != '\n' {
			from--
		}
		for to < len(all) && all[to] != '\n' {
			to++
		}
		return from, min(to+1, len(all))
	}
	for from > 0 && from < len(all) && space(from) {
		from--
	}
	for from > 0 && !space(from-1) {
		from--
	}
	for to = from; to < len(all) && !space(to); {
		to++
	}
	for to < len(all) && space(to) {
		to++
	}
	return from, to
}

func (o object) runes() []rune {
	if o.Role != Entry {
		return nil
	}
	return []rune(o.Value)
}

// part returns the text between two positions; -1 is the end.
func (o object) part(from, to int32) string {
	all := o.runes()
	end := len(all)
	if to >= 0 {
		end = min(int(to), end)
	}
	return string(all[min(max(int(from), 0), end):end])
}

// selections returns the selected ranges: none or one.
func (o object) selections() [][2]int {
	if o.Selection[0] == o.Selection[1] {
		return nil
	}
	return [][2]int{o.Selection}
}

func (o object) around(at int, u unit) (string, int32, int32) {
	from, to := around(o.runes(), at, u)
	return o.part(int32(from), int32(to)), int32(from), int32(to)
}

func (o object) extents(from uint32) (x, y, w, h int32) {
	r := o.bounds(from)
	return int32(r.Min.X), int32(r.Min.Y), int32(r.Dx()), int32(r.Dy())
}

// textMethods returns the methods for reading what was typed. They cannot type.
func textMethods() table {
	none := map[string]string{}
	attributes := func(object) map[string]string { return none }
	return table{
		"GetText": object.part,
		"GetCharacterAtOffset": func(o object, at int32) int32 {
			if all := o.runes(); at >= 0 && int(at) < len(all) {
				return all[at]
			}
			return 0
		},
		"GetStringAtOffset": func(o object, at int32, n uint32) (string, int32, int32) {
			return o.around(int(at), unitOf(granularities, n))
		},
		"GetTextAtOffset": func(o object, at int32, n uint32) (string, int32, int32) {
			return o.around(int(at), unitOf(boundaries, n))
		},
		"GetTextBeforeOffset": func(o object, at int32, n uint32) (string, int32, int32) {
			from, _ := around(o.runes(), int(at), unitOf(boundaries, n))
			if from == 0 {
				return "", 0, 0
			}
			return o.around(from-1, unitOf(boundaries, n))
		},
		"GetTextAfterOffset": func(o object, at int32, n uint32) (string, int32, int32) {
			_, to := around(o.runes(), int(at), unitOf(boundaries, n))
			if to == len(o.runes()) {
				return "", int32(to), int32(to)
			}
			return o.around(to, unitOf(boundaries, n))
		},
		"GetAttributes": func(o object, _ int32) (map[string]string, int32, int32) { return none, 0, int32(len(o.runes())) },
		"GetAttributeRun": func(o object, _ int32, _ bool) (map[string]string, int32, int32) {
			return none, 0, int32(len(o.runes()))
		},
		"GetDefaultAttributes":   attributes,
		"GetDefaultAttributeSet": attributes,
		"GetNSelections":         func(o object) int32 { return int32(len(o.selections())) },
		"GetSelection": func(o object, i int32) (from, to int32) {
			if all := o.selections(); i >= 0 && int(i) < len(all) {
				from, to = int32(all[i][0]), int32(all[i][1])
			}
			return from, to
		},
		// The whole field, since no more is needed.
		"GetCharacterExtents": func(o object, _ int32, from uint32) (x, y, w, h int32) { return o.extents(from) },
		"GetRangeExtents":     func(o object, _, _ int32, from uint32) (x, y, w, h int32) { return o.extents(from) },
		"GetOffsetAtPoint":    func(object, int32, int32, uint32) int32 { return -1 },
		"SetCaretOffset":      func(object, int32) bool { return false },
		"AddSelection":        func(object, int32, int32) bool { return false },
		"RemoveSelection":     func(object, int32) bool { return false },
		"SetSelection":        func(object, int32, int32, int32) bool { return false },
	}
}
