package card

import (
	"testing"

	"wiebelt/internal/testutil/shottest"
	"wiebelt/internal/text"
)

// TestGuideShots checks that the guide's pictures show cards as they are.
func TestGuideShots(t *testing.T) {
	all := gallery(t)
	for _, l := range []text.Language{text.Dutch, text.English} {
		for name, kind := range map[string]string{"card-found": "found", "card-several": "earlier"} {
			c, ok := all[kind]
			if !ok {
				t.Fatalf("no card %q", kind)
			}
			shottest.UpToDate(t, name, string(l), picture(c, Look{Language: l}, now, 2))
			shottest.UpToDate(t, name+"-dark", string(l), picture(c, Look{Language: l, Dark: true}, now, 2))
		}
	}
}
