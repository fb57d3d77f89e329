package messagebox

import (
	"context"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestPlain(t *testing.T) {
	for in, want := range map[string]string{
		"two\nlines":             "two\nlines",
		"a\x00b\x1b[31m\u202ec":  "ab[31mc",
		"\xff\xfe":               "",
		strings.Repeat("é", 100): strings.Repeat("é", 9) + "…",
	} {
		if got := readable(in, 10); got != want || utf8.RuneCountInString(got) > 10 {
			t.Errorf("%q became %q", in, got)
		}
	}
}

func TestTooLate(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Tell(ctx, "title", "text"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
