package resident

import (
	"testing"

	"wiebelt/internal/config/settings"
	"wiebelt/internal/testutil/instancetest"
)

// TestUnanswered checks that no question is asked that settings have answered;
// the hub's settings answer none of them.
func TestUnanswered(t *testing.T) {
	for src, want := range map[string]bool{
		"":                                 true,
		"[hub]\nclient_id = \"office\"\n":  true,
		"[card]\ncorner = \"top-left\"\n":  false,
		"[card]\nmonitor = \"primary\"\n":  true,
		"[ui]\nlanguage = \"en\"\n":        false,
		"[[softphone]]\nkind = \"bria\"\n": false,
	} {
		s, problems := settings.Parse(src)
		if len(problems) != 0 {
			t.Fatal(problems)
		}
		if got := unanswered(s); got != want {
			t.Errorf("%q: %v, want %v", src, got, want)
		}
	}
}

// TestShowIsStopped checks that waiting for a resident that does not answer can be canceled.
func TestShowIsStopped(t *testing.T) {
	instancetest.Stopped(t, ShowCalls)
}
