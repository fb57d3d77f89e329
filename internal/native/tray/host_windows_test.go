package tray

import (
	"strings"
	"testing"
	"unicode/utf16"
)

func TestTooltipFits(t *testing.T) {
	for _, s := range []string{"", "Wiebelt – Klaar.", strings.Repeat("é", 200), strings.Repeat("a", 126) + "📞"} {
		got := tooltip(s)
		if n := len(utf16.Encode([]rune(got))); n > 127 || !strings.HasPrefix(s, got) || len(s) < 100 && got != s {
			t.Errorf("%q became %q, %d units", s, got, n)
		}
	}
}
