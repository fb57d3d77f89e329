package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"wiebelt/internal/testutil/must"
)

// TestDamagedTokens: every command that shows tokens says how to get new ones,
// and the command that makes them works.
func TestDamagedTokens(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "tokens.json")
	must.Do(t, os.WriteFile(path, []byte("{}"), 0o600))
	for _, args := range [][]string{{"settings", "--ways-in"}, {"recipe", "any-url"}} {
		if code, _, errOut := run(t, "", append(args, "--profile", dir)...); code != 1 || !strings.Contains(errOut, "--renew-tokens") {
			t.Errorf("%v: exit %d: %s", args, code, errOut)
		}
	}
	code, first, errOut := run(t, "", "settings", "--renew-tokens", "--profile", dir)
	if code != 0 || !strings.Contains(first, "/v1/call/") {
		t.Fatalf("exit %d: %s", code, errOut)
	}
	if _, shown, _ := run(t, "", "settings", "--ways-in", "--profile", dir); shown != first {
		t.Error("other tokens are shown than were made")
	}
	if _, second, _ := run(t, "", "settings", "--renew-tokens", "--profile", dir); second == first {
		t.Error("the tokens are the same as before")
	}
}
