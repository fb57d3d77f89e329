package card

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"

	"fyne.io/fyne/v2"
	"golang.org/x/text/unicode/bidi"

	"wiebelt/internal/ui/theme"
)

// Marks that isolate external text within our own sentences: whatever its direction, it
// does not affect the text around it.
const (
	isolate = '\u2068'
	endIso  = '\u2069'
)

// isolated puts s between isolate marks if needed, and removes those it contains.
func isolated(s string) string {
	if simple(s) {
		return s
	}
	own := strings.Map(func(r rune) rune {
		if isDirectionMark(r) {
			return -1
		}
		return r
	}, s)
	return string(isolate) + own + string(endIso)
}

type piece struct {
	s    string
	font fyne.Resource
}

// simple reports whether s is left-to-right in a single font.
func simple(s string) bool {
	for _, r := range s {
		if !theme.Simple(r) || isDirectionMark(r) {
			return false
		}
	}
	return true
}

// systemFonts are the system's fonts. They are discovered only when a letter needs them, and
// never while a card waits: until then, and permanently if none exists, such letters are
// shown as a replacement sign. missing is a letter not searched for yet, 0 for none; found
// records per script whether there is a font.
var systemFonts struct {
	missing atomic.Int32
	found   sync.Map // theme.Script → bool
}

// findFont searches the system's fonts for one with r.
func findFont(r rune) { systemFonts.found.Store(theme.Script(r), theme.LoadSystemFont(r)) }

// replacement is a hollow square: even many rows of it do not look like solid ink.
const replacement = '\u25FB'

// fontFor returns the font for r.
func fontFor(r rune, bold bool) fyne.Resource {
	f, _ := theme.FontFor(r, bold)
	return f
}

// drawable returns r, or its replacement while no font with it is known.
func drawable(r rune, bold bool) rune {
	if _, ok := theme.FontFor(r, bold); ok || unicode.IsSpace(r) {
		return r
	}
	there, looked := systemFonts.found.Load(theme.Script(r))
	switch {
	case !looked:
		systemFonts.missing.CompareAndSwap(0, r)
	case there.(bool):
		return r
	}
	return replacement
}

// pieces returns the parts of s in visual order, from the left. Fyne draws runs one after
// another whatever their direction, so the order (Unicode's bidirectional algorithm, for
// one line, without embeddings and bracket pairs) is computed here. Characters that could
// reverse a line are removed.
func pieces(s string, bold bool) []piece {
	if simple(s) {
		return []piece{{s, fontFor(' ', bold)}}
	}
	var runes []rune
	var inner [][]piece // of the isolates, each represented by a placeholder in runes
	for s != "" {
		before, rest, found := strings.Cut(s, string(isolate))
		for _, r := range before {
			if !isDirectionMark(r) {
				runes = append(runes, drawable(r, bold))
			}
		}
		if !found {
			break
		}
		in, after, _ := strings.Cut(rest, string(endIso))
		inner = append(inner, pieces(in, bold))
		runes = append(runes, placeholder)
		s = after
	}
	tokens := tokens(runes, levels(runes), inner, bold)
	reorder(tokens)
	var out []piece
	for _, t := range tokens {
		out = append(out, t.pieces...)
	}
	return out
}

const placeholder = '\uFFFC'

// emojiMark requests a picture instead of a text glyph; one font serves both.
const emojiMark = '\uFE0F'

// isDirectionMark reports whether r controls text direction, could be mistaken for a
// placeholder, or is invisible.
func isDirectionMark(r rune) bool {
	return r == 0x061C || r == 0x200E || r == 0x200F || r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069 || r == placeholder || r == emojiMark
}

// levels returns the embedding level of every rune: 0 and 2 are left-to-right, 1 is
// right-to-left. The first strong letter decides for the line. Package bidi forms runs by
// direction alone: a number among right-to-left letters would join the Latin letters after
// it and end up on the wrong side.
func levels(runes []rune) []int {
	class := make([]bidi.Class, len(runes))
	base := bidi.L
	for i := len(runes) - 1; i >= 0; i-- {
		p, _ := bidi.LookupRune(runes[i])
		class[i] = p.Class()
		switch class[i] {
		case bidi.L:
			base = bidi.L
		case bidi.R, bidi.AL:
			base = bidi.R
		}
	}
	resolveWeak(class, base)
	resolveNeutral(class, base)
	out := make([]int, len(runes))
	for i, c := range class {
		switch {
		case c == bidi.R:
			out[i] = 1
		case c == bidi.L && base == bidi.L:
			out[i] = 0
		default: // numbers, and left-to-right text in a right-to-left line
			out[i] = 2
		}
	}
	return out
}

// resolveWeak resolves digits, and the signs and marks next to them (UAX 9, W1 to W7).
func resolveWeak(class []bidi.Class, base bidi.Class) {
	resolveMarks(class, base)
	resolveSeparators(class)
	resolveTerminators(class)
	strong := base
	for i, c := range class {
		switch c {
		case bidi.L, bidi.R:
			strong = c
		case bidi.EN:
			if strong == bidi.L {
				class[i] = bidi.L
			}
		}
	}
}

// resolveMarks resolves marks to the class of their base (W1), and digits after
// Arabic to Arabic (W2).
func resolveMarks(class []bidi.Class, base bidi.Class) {
	last, strong := base, base
	for i, c := range class {
		switch c {
		case bidi.NSM:
			class[i] = last
		case bidi.EN:
			if strong == bidi.AL {
				class[i] = bidi.AN
			}
		case bidi.L, bidi.R, bidi.AL:
			strong = c
		}
		last = class[i]
	}
}

// classAt returns the class at i, a neutral one beyond both ends.
func classAt(class []bidi.Class, i int) bidi.Class {
	if i < 0 || i >= len(class) {
		return bidi.ON
	}
	return class[i]
}

// resolveSeparators resolves separators between digits (W4) and Arabic letters
// to right-to-left (W3).
func resolveSeparators(class []bidi.Class) {
	for i, c := range class {
		a, b := classAt(class, i-1), classAt(class, i+1)
		switch {
		case c == bidi.AL:
			class[i] = bidi.R
		case (c == bidi.ES || c == bidi.CS) && a == bidi.EN && b == bidi.EN:
			class[i] = bidi.EN
		case c == bidi.CS && a == bidi.AN && b == bidi.AN:
			class[i] = bidi.AN
		}
	}
}

// spans calls each with every maximal range of indices for which in is true.
func spans(n int, in func(int) bool, each func(from, to int)) {
	for i := 0; i < n; i++ {
		from := i
		for i < n && in(i) {
			i++
		}
		if i > from {
			each(from, i)
		}
	}
}

func setClass(class []bidi.Class, to bidi.Class) {
	for i := range class {
		class[i] = to
	}
}

// resolveTerminators resolves terminators next to digits, such as currency signs (W5).
func resolveTerminators(class []bidi.Class) {
	spans(len(class), func(i int) bool { return class[i] == bidi.ET }, func(from, to int) {
		if classAt(class, from-1) == bidi.EN || classAt(class, to) == bidi.EN {
			setClass(class[from:to], bidi.EN)
		}
	})
}

// resolveNeutral gives spaces and signs the direction of the text on both sides, otherwise
// that of the line (N1, N2).
func resolveNeutral(class []bidi.Class, base bidi.Class) {
	side := func(i int) bidi.Class {
		switch {
		case i < 0 || i >= len(class):
			return base
		case class[i] == bidi.L:
			return bidi.L
		}
		return bidi.R
	}
	is := func(i int) bool {
		c := class[i]
		return c != bidi.L && c != bidi.R && c != bidi.EN && c != bidi.AN
	}
	spans(len(class), is, func(from, to int) {
		if before := side(from - 1); before == side(to) {
			setClass(class[from:to], before)
		} else {
			setClass(class[from:to], base)
		}
	})
}

// token is what is reordered as a unit: a piece, or a complete isolate.
type token struct {
	pieces []piece
	level  int
}

// tokens splits runes where level or font changes and replaces placeholders with
// their isolates. In right-to-left text, signs are separate tokens: Fyne would make
// them left-to-right again.
func tokens(runes []rune, level []int, isolates [][]piece, bold bool) []token {
	var out []token
	for i, j := 0, 0; i < len(runes); i = j {
		j = i + 1
		if runes[i] == placeholder {
			out = append(out, token{isolates[0], level[i]})
			isolates = isolates[1:]
			continue
		}
		font, left := fontFor(runes[i], bold), level[i] == 1
		if left && !rightToLeft(runes[i]) {
			out = append(out, token{[]piece{{mirror(runes[i]), font}}, 1})
			continue
		}
		goesOn := func(k int) bool {
			return k < len(runes) && level[k] == level[i] && runes[k] != placeholder &&
				fontFor(runes[k], bold) == font && (!left || rightToLeft(runes[k]))
		}
		// A space between two right-to-left letters stays between them.
		for goesOn(j) || left && j < len(runes) && level[j] == 1 && runes[j] == ' ' && goesOn(j+1) {
			j++
		}
		out = append(out, token{[]piece{{string(runes[i:j]), font}}, level[i]})
	}
	return out
}

// rightToLeft reports whether r is a right-to-left letter, or a mark on one.
func rightToLeft(r rune) bool {
	p, _ := bidi.LookupRune(r)
	c := p.Class()
	return c == bidi.R || c == bidi.AL || c == bidi.NSM
}

// mirror returns the opposite of an opening or closing character.
func mirror(r rune) string {
	pairs := []rune("()[]{}<>«»‹›")
	if i := slices.Index(pairs, r); i >= 0 {
		return string(pairs[i^1])
	}
	return string(r)
}

// reorder reverses right-to-left text (L2).
func reorder(t []token) {
	for level := 2; level >= 1; level-- {
		spans(len(t), func(i int) bool { return t[i].level >= level }, func(from, to int) { slices.Reverse(t[from:to]) })
	}
}
