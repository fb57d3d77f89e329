package cli

import (
	"path/filepath"
	"syscall"
	"testing"

	"wiebelt/internal/testutil/must"
)

// TestHubImportPipe refuses a pipe without a writer at once;
// waiting for it could not be interrupted.
func TestHubImportPipe(t *testing.T) {
	dir := emptyHub(t)
	pipe := filepath.Join(t.TempDir(), "contacts.csv")
	must.Do(t, syscall.Mkfifo(pipe, 0o600))
	exits(t, 1, "", "hub", "import", "--data", dir, pipe).complains("not a file")
}

// TestHubNotThere checks the exit code for something named that does not exist.
func TestHubNotThere(t *testing.T) {
	dir := emptyHub(t)
	for _, args := range [][]string{
		{"messages", "show", "--data", dir, "nobody"}, {"messages", "export", "--data", dir, "--to", t.TempDir(), "nobody"},
		{"client", "rotate", "--data", dir, "nobody"}, {"client", "remove", "--data", dir, "nobody"}, {"user", "remove", "--data", dir, "nobody"},
	} {
		exits(t, 3, "", append([]string{"hub"}, args...)...).complains("There is no such")
	}
}
