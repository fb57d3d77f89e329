package eventlog

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"wiebelt/assets"
	"wiebelt/internal/testutil/must"
)

// TestGuideNamesEveryEvent: whoever watches the system's log finds in the guide
// what to look for.
func TestGuideNamesEveryEvent(t *testing.T) {
	for _, l := range []string{"nl", "en"} {
		var all strings.Builder
		files, err := fs.Glob(assets.Help, "guide/help/*."+l+".md")
		if err != nil || len(files) == 0 {
			t.Fatalf("%d files: %v", len(files), err)
		}
		for _, f := range files {
			b := must.Get(fs.ReadFile(assets.Help, f))(t)
			all.Write(b)
		}
		for id, message := range messageIDs {
			if s := all.String(); !strings.Contains(s, message) || !strings.Contains(s, fmt.Sprint(uint32(id))) {
				t.Errorf("%s: event %d (%s) is not in the guide", l, id, message)
			}
		}
	}
}
