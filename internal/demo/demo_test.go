package demo

import (
	"testing"
	"time"

	"wiebelt/internal/text"
)

// A time on the demo's window is written as its language writes it.
func TestTimesAreWrittenInTheirLanguage(t *testing.T) {
	for l, want := range map[text.Language]string{text.Dutch: "22,7 ms", text.English: "22.7 ms"} {
		if got := msIn(l, 22700*time.Microsecond); got != want {
			t.Errorf("%s: %q, want %q", l, got, want)
		}
	}
}
