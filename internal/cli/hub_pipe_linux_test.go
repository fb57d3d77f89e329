package cli

import (
	"path/filepath"
	"syscall"
	"testing"

	"wiebelt/internal/testutil/must"
)

// TestHubImportPipe: a pipe that nobody writes to is refused at once; waiting for
// it could not be stopped.
func TestHubImportPipe(t *testing.T) {
	dir := emptyHub(t)
	pipe := filepath.Join(t.TempDir(), "contacts.csv")
	must.Do(t, syscall.Mkfifo(pipe, 0o600))
	exits(t, 1, "", "hub", "import", "--data", dir, pipe).complains("not a file")
}

// TestHubNotThere: what is asked for by name and is not there has the code for it.
func TestHubNotThere(t *testing.T) {
	dir := emptyHub(t)
	for _, args := range [][]string{
		{"messages", "show", "--data", dir, "nobody"}, {"messages", "export", "--data", dir, "--to", t.TempDir(), "nobody"},
		{"client", "rotate", "--data", dir, "nobody"}, {"client", "remove", "--data", dir, "nobody"}, {"user", "remove", "--data", dir, "nobody"},
	} {
		exits(t, 3, "", append([]string{"hub"}, args...)...).complains("there is no such")
	}
}
