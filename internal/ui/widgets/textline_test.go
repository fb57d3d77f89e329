package widgets

import (
	"testing"
	"unicode/utf8"
)

func TestFit(t *testing.T) {
	width := func(s string) float32 { return float32(utf8.RuneCountInString(s)) }
	for _, tt := range []struct {
		s      string
		width  float32
		middle bool
		want   string
	}{
		{"short", 5, false, "short"}, {"longer", 5, false, "long…"}, {"a b c", 3, false, "a…"}, {"één · twee", 7, false, "één…"},
		{"x", 0, false, ""}, {"abc", 1, false, ""}, {"", 0, false, ""},
		{"a.zip", 5, true, "a.zip"}, {"polissen-september.zip", 13, true, "polissen….zip"}, {"polissen-oktober.zip", 1, true, ""},
		{"polis", 0, true, ""}, {"ab cd.zip", 5, true, "ab…p"},
	} {
		if got := fit(tt.s, tt.width, tt.middle, width); got != tt.want {
			t.Errorf("fit(%q, %v, %v) = %q, want %q", tt.s, tt.width, tt.middle, got, tt.want)
		}
	}
}
