package cli

import (
	"path/filepath"
	"strings"
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
	if code, _, errOut := run(t, "", "hub", "import", "--data", dir, pipe); code != 1 || !strings.Contains(errOut, "not a file") {
		t.Errorf("exit %d: %s", code, errOut)
	}
}

// TestHubNotThere: what is asked for by name and is not there has the code for it.
func TestHubNotThere(t *testing.T) {
	dir := emptyHub(t)
	for _, args := range [][]string{
		{"messages", "show", "--data", dir, "nobody"}, {"messages", "export", "--data", dir, "--to", t.TempDir(), "nobody"},
		{"client", "rotate", "--data", dir, "nobody"}, {"client", "remove", "--data", dir, "nobody"}, {"user", "remove", "--data", dir, "nobody"},
	} {
		if code, out, errOut := run(t, "", append([]string{"hub"}, args...)...); code != 3 || out != "" || !strings.Contains(errOut, "there is no such") {
			t.Errorf("%v: exit %d, %s%s", args, code, out, errOut)
		}
	}
}
