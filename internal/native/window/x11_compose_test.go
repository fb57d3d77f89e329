//go:build linux

package window

import (
	"os"
	"path/filepath"
	"testing"

	"wiebelt/internal/testutil/must"
)

// Keysyms used by the test below, as numbered in the X protocol.
const (
	symAcute, symDiaeresis, symCircumflex = 0xfe51, 0xfe57, 0xfe52
	symCompose, symShift                  = 0xff20, 0xffe1
)

// typed returns the text that a composer produces for keys, or nothing.
func typed(c *composer, keys ...keysym) string {
	out := ""
	for _, k := range keys {
		text := ""
		if r := k.rune(); r != 0 {
			text = string(r)
		}
		out += c.feed(k, text)
	}
	return out
}

// TestCompose checks that keys compose by the rules of a file and, without any, as in Unicode.
func TestCompose(t *testing.T) {
	rules := &composeRules{out: map[string]string{}, begins: map[string]bool{}}
	dir := t.TempDir()
	inner := filepath.Join(dir, "inner")
	outer := filepath.Join(dir, "outer")
	for file, text := range map[string]string{
		inner: "# a comment\n<dead_acute> <e>\t: \"é\" eacute # E\n<Multi_key> <equal> <e> : \"€\"\n<Multi_key> <quotedbl> <backslash> : \"\\\"\\\\\"\n",
		outer: "include \"%H/inner\"\n<Multi_key> <w> <b> : \"Wiebelt\"\n<nonsense> <e> : \"x\"\n<dead_acute> <e\n<dead_acute> : \"y\"\n<dead_acute> <z> : \"\n",
	} {
		must.Do(t, os.WriteFile(file, []byte(text), 0o600))
	}
	if !rules.readFile(outer, "", dir, 0) || len(rules.out) != 4 {
		t.Fatalf("rules: %q", rules.out)
	}
	for file, home := range map[string]string{outer: "", "": dir} { // named, or in the home
		t.Setenv("HOME", home)
		t.Setenv("XCOMPOSEFILE", file)
		must.Do(t, os.WriteFile(filepath.Join(dir, ".XCompose"), []byte("<Multi_key> <w> <b> : \"Wiebelt\"\n"), 0o600))
		if c := readCompose(); len(c.out) != 1 {
			t.Errorf("named %q, at home %q: %q", file, home, c.out)
		}
	}
	none := &composeRules{}
	for _, tt := range []struct {
		what  string
		rules *composeRules
		keys  []keysym
		want  string
	}{
		{"plain", rules, []keysym{'a', ' ', 0xe9}, "a é"},
		{"a rule", rules, []keysym{symAcute, 'e', 'e'}, "ée"},
		{"Shift in between", rules, []keysym{symAcute, symShift, 'e'}, "é"},
		{"Unicode beside the rules", rules, []keysym{symAcute, 'E', symDiaeresis, 'u'}, "Éü"},
		{"Compose", rules, []keysym{symCompose, '=', 'e', symCompose, 'w', 'b'}, "€Wiebelt"},
		{"escapes", rules, []keysym{symCompose, '"', '\\'}, `"\`},
		{"Compose that means nothing", rules, []keysym{symCompose, 'q', 'a'}, "a"},
		{"no rules", none, []keysym{symDiaeresis, 'o', symCircumflex, 'i'}, "öî"},
		{"with a space", none, []keysym{symCircumflex, ' '}, "^"},
		{"twice", none, []keysym{symAcute, symAcute}, "´"},
		{"with nothing to go with", none, []keysym{symAcute, 'q'}, "´q"},
	} {
		c := composer{rules: func() *composeRules { return tt.rules }}
		if got := typed(&c, tt.keys...); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.what, got, tt.want)
		}
	}
}

func TestDroppedFiles(t *testing.T) {
	got := droppedFiles("# from a file manager\r\nfile:///tmp/a%20b.zip\r\nfile://localhost/c.zip\r\nfile://elsewhere/d.zip\r\nhttps://e.example/f.zip\r\nfile:\r\n\r\n")
	if len(got) != 2 || got[0] != "/tmp/a b.zip" || got[1] != "/c.zip" {
		t.Errorf("%q", got)
	}
}
