package request

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestCut checks that the result never exceeds the limit or splits a character.
func TestCut(t *testing.T) {
	for _, s := range []string{"", "kort", strings.Repeat("é", 149), strings.Repeat("é", 150), strings.Repeat("x", 299) + "é", strings.Repeat("€", 5000)} {
		got := Truncate(s)
		if !utf8.ValidString(got) || len(got) > MaxField+len("…") || len(s) <= MaxField && got != s {
			t.Errorf("%d bytes became %q", len(s), got)
		}
	}
}

// TestDecode checks that empty contents are an empty message and invalid contents an error.
func TestDecode(t *testing.T) {
	for raw, want := range map[string]bool{"": true, `{"n":3}`: true, `{"n":"x"}`: false, `{`: false} {
		var m struct{ N int }
		if got := (Request{Raw: json.RawMessage(raw)}).Decode(&m); got != want || want && raw != "" && m.N != 3 {
			t.Errorf("%q: %v, %+v", raw, got, m)
		}
	}
}
