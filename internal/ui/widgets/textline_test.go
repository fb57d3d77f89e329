package widgets

import (
	"testing"
	"unicode/utf8"
)

func TestFit(t *testing.T) {
	width := func(s string) float32 { return float32(utf8.RuneCountInString(s)) }
	for _, tt := range []struct {
		s     string
		width float32
		want  string
	}{
		{"short", 5, "short"}, {"longer", 5, "long…"}, {"a b c", 3, "a…"}, {"één · twee", 7, "één…"}, {"x", 0, ""}, {"abc", 1, ""},
		{"", 0, ""},
	} {
		if got := fit(tt.s, tt.width, width); got != tt.want {
			t.Errorf("fit(%q, %v) = %q, want %q", tt.s, tt.width, got, tt.want)
		}
	}
	for _, tt := range []struct {
		s     string
		width float32
		want  string
	}{
		{"a.zip", 5, "a.zip"}, {"polissen-september.zip", 13, "polissen….zip"}, {"polissen-oktober.zip", 1, ""}, {"polis", 0, ""}, {"ab cd.zip", 5, "ab…p"},
	} {
		if got := fitMiddle(tt.s, tt.width, width); got != tt.want {
			t.Errorf("fitMiddle(%q, %v) = %q, want %q", tt.s, tt.width, got, tt.want)
		}
	}
}
