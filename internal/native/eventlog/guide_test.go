package eventlog

import (
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"

	"wiebelt/assets"
	"wiebelt/internal/testutil/must"
)

// TestDocumented checks that every kind has its own number and name, and that both are listed
// in the package documentation and in the guide for whoever monitors the system log.
func TestDocumented(t *testing.T) {
	doc, _, _ := strings.Cut(string(must.Get(os.ReadFile("eventlog.go"))(t)), "\npackage ")
	texts := map[string]string{"the documentation": doc, "nl": "", "en": ""}
	for _, l := range []string{"nl", "en"} {
		for _, f := range must.Get(fs.Glob(assets.Help, "guide/help/*."+l+".md"))(t) {
			texts[l] += string(must.Get(fs.ReadFile(assets.Help, f))(t))
		}
	}
	seen := map[string]bool{}
	for id, m := range messageIDs {
		if seen[m] || len(m) != 32 || id < 1 || id > 1000 {
			t.Errorf("%d: %s", id, m)
		}
		seen[m] = true
		for where, text := range texts {
			if !strings.Contains(text, m) || !strings.Contains(text, fmt.Sprint(uint32(id))) {
				t.Errorf("%s: event %d (%s) is not there", where, id, m)
			}
		}
	}
}
