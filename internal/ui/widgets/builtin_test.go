package widgets

import (
	"testing"

	"fyne.io/fyne/v2/lang"

	"wiebelt/internal/text"
)

// TestBuiltinStrings: Fyne's own words that our windows can show are in the program's language,
// whatever the system's, also after a change.
func TestBuiltinStrings(t *testing.T) {
	for _, l := range []text.Language{text.Dutch, text.English, text.Dutch} {
		if err := TranslateBuiltin(l); err != nil {
			t.Fatal(err)
		}
		for _, theirs := range text.FyneWords {
			if ours := text.WindowFyne(theirs); lang.L(theirs) != l.T(ours) || l.T(ours) == string(ours) {
				t.Errorf("%s: %q for %q", l, lang.L(theirs), theirs)
			}
		}
	}
	if other := lang.L("Other"); other != "Other" {
		t.Errorf("%q is a word that nobody translated", other)
	}
}
