package templates

import (
	"regexp"
	"testing"

	"wiebelt/internal/config/settings"
	"wiebelt/internal/text"
)

// TestAllowedInBothLanguages: the allowed values of a setting are described in the reader's
// language, with the same meaning in both.
func TestAllowedInBothLanguages(t *testing.T) {
	english := regexp.MustCompile(`\b(an?|or|to|with|without|at most|address|characters|name)\b`)
	for _, e := range settings.AllEntries() {
		nl, en := Allowed(text.Dutch, e), Allowed(text.English, e)
		if nl == "" || en == "" || english.MatchString(nl) && len(e.Choices) == 0 {
			t.Errorf("%s: %q, %q", e.Key, nl, en)
		}
	}
}
