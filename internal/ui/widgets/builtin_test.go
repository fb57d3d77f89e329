package widgets

import (
	"testing"

	"wiebelt/internal/text"
)

// TestBuiltinStrings checks that each of Fyne's own strings
// that our windows can show has a text in both languages.
func TestBuiltinStrings(t *testing.T) {
	for _, theirs := range text.FyneWords {
		ours := text.WindowFyne(theirs)
		for _, l := range []text.Language{text.Dutch, text.English} {
			if s := l.T(ours); s == "" || s == string(ours) {
				t.Errorf("%s has no text for %q", l, theirs)
			}
		}
	}
	if err := TranslateBuiltin(text.Dutch); err != nil {
		t.Error(err)
	}
}
