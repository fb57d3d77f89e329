//go:build linux

package window

import (
	"bufio"
	"cmp"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// composer combines several key presses into text: dead keys and the Compose key, by
// the rules of the system and the user, or without rules by Unicode composition. The
// X server does not do this.
type composer struct {
	rules func() *composeRules
	begun []rune // the presses so far, encoded as in composeRules
}

func (c *composer) reset() { c.begun = nil }

// feed takes a pressed key and the text it types alone, and returns the resulting text.
func (c *composer) feed(s keysym, text string) string {
	r := s.composing()
	if r == 0 {
		if text == "" {
			return "" // Shift and similar keys
		}
		r, _ = utf8.DecodeRuneInString(text)
	}
	if len(c.begun) == 0 && !isComposing(r) {
		return text
	}
	if c.begun = append(c.begun, r); len(c.begun) == 1 {
		return ""
	}
	rules, keys := c.rules(), string(c.begun)
	out, more := rules.out[keys], rules.begins[keys]
	if out == "" && !more {
		out = unicodeComposed(c.begun)
	}
	if out == "" && more {
		return ""
	}
	begun := c.begun
	c.begun = nil
	if out == "" && begun[0] != composeKey {
		out = spellOut(begun)
	}
	return out
}

// In rules, dead keys and the Compose key are represented by characters that no key types.
const (
	deadKeys   = 0xE000
	composeKey = 0xE0FF
)

func isComposing(r rune) bool { return r >= deadKeys && r <= composeKey }

// composing returns the character that represents a dead key
// or the Compose key, or 0 for other keys.
func (s keysym) composing() rune {
	switch {
	case s == 0xff20:
		return composeKey
	case s >= 0xfe50 && s <= 0xfe93:
		return deadKeys + rune(s-0xfe50)
	}
	return 0
}

// deadMarks lists the dead keys in numeric order: name,
// combining mark, and stand-alone character.
var deadMarks = [...]struct {
	name  string
	mark  rune
	alone string
}{
	{"grave", 0x300, "`"}, {"acute", 0x301, "´"}, {"circumflex", 0x302, "^"}, {"tilde", 0x303, "~"}, {"macron", 0x304, "¯"},
	{"breve", 0x306, "˘"}, {"abovedot", 0x307, "˙"}, {"diaeresis", 0x308, "¨"}, {"abovering", 0x30a, "°"}, {"doubleacute", 0x30b, "˝"},
	{"caron", 0x30c, "ˇ"}, {"cedilla", 0x327, "¸"}, {"ogonek", 0x328, "˛"}, {"iota", 0x345, "ͺ"}, {"voiced_sound", 0x3099, "゛"},
	{"semivoiced_sound", 0x309a, "゜"}, {"belowdot", 0x323, ""}, {"hook", 0x309, ""}, {"horn", 0x31b, ""}, {"stroke", 0x338, "/"},
	{"abovecomma", 0x313, ""}, {"abovereversedcomma", 0x314, ""}, {"doublegrave", 0x30f, ""}, {"belowring", 0x325, ""},
	{"belowmacron", 0x331, ""}, {"belowcircumflex", 0x32d, ""}, {"belowtilde", 0x330, ""}, {"belowbreve", 0x32e, ""},
	{"belowdiaeresis", 0x324, ""}, {"invertedbreve", 0x311, ""}, {"belowcomma", 0x326, ","}, {"currency", 0, "¤"},
}

// unicodeComposed returns a letter combined with the mark of the preceding dead key.
func unicodeComposed(keys []rune) string {
	if len(keys) != 2 || int(keys[0]-deadKeys) >= len(deadMarks) {
		return ""
	}
	d := deadMarks[keys[0]-deadKeys]
	switch {
	case keys[1] == ' ' || keys[1] == keys[0]:
		return d.alone
	case d.mark == 0 || isComposing(keys[1]):
		return ""
	}
	s := norm.NFC.String(string([]rune{keys[1], d.mark}))
	if utf8.RuneCountInString(s) != 1 {
		return ""
	}
	return s
}

// spellOut returns what dead keys type that do not combine: themselves and what follows.
func spellOut(keys []rune) string {
	var b strings.Builder
	for _, r := range keys {
		if !isComposing(r) {
			b.WriteRune(r)
		} else if i := int(r - deadKeys); i < len(deadMarks) {
			b.WriteString(deadMarks[i].alone)
		}
	}
	return b.String()
}

type composeRules struct {
	out    map[string]string
	begins map[string]bool // of longer sequences
	files  int             // read so far
}

// systemCompose reads the rules on the first dead key: most users never press one, and
// reading takes milliseconds.
var systemCompose = sync.OnceValue(readCompose)

func readCompose() *composeRules {
	c := &composeRules{out: map[string]string{}, begins: map[string]bool{}}
	home, _ := os.UserHomeDir()
	locale, _, _ := strings.Cut(cmp.Or(os.Getenv("LC_ALL"), os.Getenv("LC_CTYPE"), os.Getenv("LANG")), "@")
	language, _, _ := strings.Cut(locale, ".")
	const system = "/usr/share/X11/locale"
	of := filepath.Join(system, "en_US.UTF-8", "Compose")
	if own := filepath.Join(system, filepath.Base(language)+".UTF-8", "Compose"); language != "" && exists(own) {
		of = own
	}
	for _, file := range []string{os.Getenv("XCOMPOSEFILE"), filepath.Join(home, ".XCompose"), of} {
		if filepath.IsAbs(file) && c.readFile(file, of, home, 0) {
			break
		}
	}
	return c
}

func exists(file string) bool {
	i, err := os.Stat(file)
	return err == nil && i.Mode().IsRegular()
}

const (
	maxComposeFile  = 4 << 20
	maxComposeDepth = 4
	maxComposeFiles = 50
)

func (c *composeRules) readFile(file, locale, home string, depth int) bool {
	if depth > maxComposeDepth || c.files >= maxComposeFiles || !exists(file) {
		return false
	}
	c.files++
	f, err := os.Open(file)
	if err != nil {
		return false
	}
	defer f.Close()
	lines := bufio.NewScanner(io.LimitReader(f, maxComposeFile))
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if rest, ok := strings.CutPrefix(line, "include "); ok {
			name := strings.NewReplacer("%L", locale, "%H", home, "%S", filepath.Dir(filepath.Dir(locale))).Replace(strings.Trim(strings.TrimSpace(rest), `"`))
			c.readFile(name, locale, home, depth+1)
			continue
		}
		c.rule(line)
	}
	return true
}

// rule parses a line such as <dead_acute> <e> : "é" eacute; lines with unknown keys are
// skipped.
func (c *composeRules) rule(line string) {
	left, right, ok := strings.Cut(line, ":")
	if !ok || !strings.HasPrefix(left, "<") {
		return
	}
	var keys []rune
	for _, k := range strings.Fields(left) {
		if len(k) < 3 || k[0] != '<' || k[len(k)-1] != '>' {
			return
		}
		r := keyNamed(k[1 : len(k)-1])
		if r == 0 {
			return
		}
		keys = append(keys, r)
	}
	quoted, _ := strconv.QuotedPrefix(strings.TrimSpace(right))
	out, _ := strconv.Unquote(quoted)
	if out == "" || !utf8.ValidString(out) || len(keys) < 2 {
		return
	}
	c.out[string(keys)] = out
	for i := 1; i < len(keys); i++ {
		c.begins[string(keys[:i])] = true
	}
}

// charNames has the X protocol's names of characters, except ASCII letters and digits, which are
// their own names: those of a first character and the ones after it.
var charNames = []struct {
	first rune
	names []string
}{
	{' ', strings.Fields("space exclam quotedbl numbersign dollar percent ampersand apostrophe parenleft parenright asterisk plus comma minus period slash")},
	{':', strings.Fields("colon semicolon less equal greater question at")},
	{'[', strings.Fields("bracketleft backslash bracketright asciicircum underscore grave")},
	{'{', strings.Fields("braceleft bar braceright asciitilde")},
	{0xa0, strings.Fields(`nobreakspace exclamdown cent sterling currency yen brokenbar section diaeresis copyright ordfeminine
		guillemotleft notsign hyphen registered macron degree plusminus twosuperior threesuperior acute mu paragraph periodcentered
		cedilla onesuperior masculine guillemotright onequarter onehalf threequarters questiondown Agrave Aacute Acircumflex Atilde
		Adiaeresis Aring AE Ccedilla Egrave Eacute Ecircumflex Ediaeresis Igrave Iacute Icircumflex Idiaeresis ETH Ntilde Ograve
		Oacute Ocircumflex Otilde Odiaeresis multiply Oslash Ugrave Uacute Ucircumflex Udiaeresis Yacute THORN ssharp agrave aacute
		acircumflex atilde adiaeresis aring ae ccedilla egrave eacute ecircumflex ediaeresis igrave iacute icircumflex idiaeresis
		eth ntilde ograve oacute ocircumflex otilde odiaeresis division oslash ugrave uacute ucircumflex udiaeresis yacute thorn
		ydiaeresis`)},
}

// keyNamed returns the character that a key in a rule types, or its stand-in; 0 for
// unknown keys.
func keyNamed(name string) rune {
	if name == "Multi_key" {
		return composeKey
	}
	if mark, ok := strings.CutPrefix(name, "dead_"); ok {
		for i, d := range deadMarks {
			if d.name == mark {
				return deadKeys + rune(i)
			}
		}
		return 0
	}
	if utf8.RuneCountInString(name) == 1 {
		r, _ := utf8.DecodeRuneInString(name)
		return r
	}
	for _, row := range charNames {
		if i := slices.Index(row.names, name); i >= 0 {
			return row.first + rune(i)
		}
	}
	if hex, ok := strings.CutPrefix(name, "U"); ok {
		if n, err := strconv.ParseUint(hex, 16, 21); err == nil && unicode.IsGraphic(rune(n)) {
			return rune(n)
		}
	}
	return 0
}
