package cli

import (
	"os"
	"path/filepath"
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
		exits(t, 1, "", append(args, "--profile", dir)...).complains("--renew-tokens")
	}
	first := exits(t, 0, "", "settings", "--renew-tokens", "--profile", dir).says("/v1/call/").out
	if exits(t, 0, "", "settings", "--ways-in", "--profile", dir).out != first {
		t.Error("other tokens are shown than were made")
	}
	if exits(t, 0, "", "settings", "--renew-tokens", "--profile", dir).out == first {
		t.Error("the tokens are the same as before")
	}
}
