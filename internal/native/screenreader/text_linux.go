package screenreader

import (
	"unicode"
	"unicode/utf8"

	"github.com/godbus/dbus/v5"
)

// runes is how many characters a text has, as AT-SPI counts.
func runes(s string) int32 { return int32(utf8.RuneCountInString(s)) }

// differing is from which character on two texts differ, and by what.
func differing(old, now string) (at int32, gone, come string) {
	a, b := []rune(old), []rune(now)
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b, at = a[1:], b[1:], at+1
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return at, string(a), string(b)
}

// unit is what a reader asks a text by.
type unit uint8

const (
	byCharacter unit = iota
	byWord
	byLine
	byAll
)

// What a boundary and a granularity of AT-SPI mean, by their numbers. A line stands
// for a sentence: what is typed here is neither.
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

// around is the unit of a text that a place is in. A word has the spaces behind it.
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

// runes is what can be read in an entry.
func (o object) runes() []rune {
	if o.place == nil || o.Role != Entry {
		return nil
	}
	return []rune(o.Value)
}

func (o object) caret() int {
	if o.place == nil {
		return 0
	}
	return o.Caret
}

// part is the text from one place to another, -1 for its end.
func (o object) part(from, to int32) string {
	all := o.runes()
	end := len(all)
	if to >= 0 {
		end = min(int(to), end)
	}
	return string(all[min(max(int(from), 0), end):end])
}

// marked are the texts that are selected: none or one.
func (o object) marked() [][2]int {
	if o.place == nil || o.Marked[0] == o.Marked[1] {
		return nil
	}
	return [][2]int{o.Marked}
}

// textMethods are what readers may ask of what was typed; they cannot type.
func (b *Bridge) textMethods() table {
	span := func(choose func(o object, at int32, n uint32) (int, int)) any {
		return func(m dbus.Message, at int32, n uint32) (string, int32, int32, *dbus.Error) {
			o, err := b.asked(m)
			if err != nil {
				return "", 0, 0, err
			}
			from, to := choose(o, at, n)
			return o.part(int32(from), int32(to)), int32(from), int32(to), nil
		}
	}
	plain := func(m dbus.Message) (map[string]string, int32, int32, *dbus.Error) {
		o, err := b.asked(m)
		return map[string]string{}, 0, int32(len(o.runes())), err
	}
	return table{
		"GetText":              answer2(b, object.part),
		"GetCharacterAtOffset": answer1(b, func(o object, at int32) int32 { return firstRune(o.part(at, at+1)) }),
		"GetStringAtOffset": span(func(o object, at int32, n uint32) (int, int) {
			return around(o.runes(), int(at), unitOf(granularities, n))
		}),
		"GetTextAtOffset": span(func(o object, at int32, n uint32) (int, int) {
			return around(o.runes(), int(at), unitOf(boundaries, n))
		}),
		"GetTextBeforeOffset": span(func(o object, at int32, n uint32) (int, int) {
			from, _ := around(o.runes(), int(at), unitOf(boundaries, n))
			if from == 0 {
				return 0, 0
			}
			return around(o.runes(), from-1, unitOf(boundaries, n))
		}),
		"GetTextAfterOffset": span(func(o object, at int32, n uint32) (int, int) {
			_, to := around(o.runes(), int(at), unitOf(boundaries, n))
			if to == len(o.runes()) {
				return to, to
			}
			return around(o.runes(), to, unitOf(boundaries, n))
		}),
		"GetAttributes":          func(m dbus.Message, _ int32) (map[string]string, int32, int32, *dbus.Error) { return plain(m) },
		"GetAttributeRun":        func(m dbus.Message, _ int32, _ bool) (map[string]string, int32, int32, *dbus.Error) { return plain(m) },
		"GetDefaultAttributes":   answer(b, func(object) map[string]string { return map[string]string{} }),
		"GetDefaultAttributeSet": answer(b, func(object) map[string]string { return map[string]string{} }),
		"GetNSelections":         answer(b, func(o object) int32 { return int32(len(o.marked())) }),
		"GetSelection": func(m dbus.Message, i int32) (int32, int32, *dbus.Error) {
			o, err := b.asked(m)
			if all := o.marked(); err == nil && i >= 0 && int(i) < len(all) {
				return int32(all[i][0]), int32(all[i][1]), nil
			}
			return 0, 0, err
		},
		"GetCharacterExtents": func(m dbus.Message, _ int32, from uint32) (int32, int32, int32, int32, *dbus.Error) {
			o, err := b.asked(m) // where the field is: nobody needs more
			r := o.bounds(from)
			return int32(r.Min.X), int32(r.Min.Y), int32(r.Dx()), int32(r.Dy()), err
		},
		"GetRangeExtents": func(m dbus.Message, _, _ int32, from uint32) (int32, int32, int32, int32, *dbus.Error) {
			o, err := b.asked(m)
			r := o.bounds(from)
			return int32(r.Min.X), int32(r.Min.Y), int32(r.Dx()), int32(r.Dy()), err
		},
		"GetOffsetAtPoint": answer3(b, func(object, int32, int32, uint32) int32 { return -1 }),
		"SetCaretOffset":   answer1(b, func(object, int32) bool { return false }),
		"AddSelection":     answer2(b, func(object, int32, int32) bool { return false }),
		"RemoveSelection":  answer1(b, func(object, int32) bool { return false }),
		"SetSelection":     answer3(b, func(object, int32, int32, int32) bool { return false }),
	}
}

func firstRune(s string) int32 {
	for _, r := range s {
		return r
	}
	return 0
}
