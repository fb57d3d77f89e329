package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/doctor"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/ptytest"
)

// doctor runs "wiebelt doctor --json", below another program
// if there is one, and returns its report and exit code.
func (o *office) doctor(before ...string) (r doctor.Report, code int) {
	o.t.Helper()
	args := append(before, o.bin, "doctor", "--json", "--profile", o.profile)
	cmd := o.Command(args[0], args[1:]...)
	began := time.Now()
	out, _ := cmd.Output() // its exit code is checked
	must.Within(o.t, began, 10*time.Second)
	if err := json.Unmarshal(out, &r); err != nil {
		o.t.Fatalf("%v: %s", err, out)
	}
	return r, cmd.ProcessState.ExitCode()
}

// states returns the states of a check's lines, joined.
func states(r doctor.Report, id string) string {
	var all []string
	for _, c := range r.Checks {
		if c.ID == id {
			all = append(all, string(c.State))
		}
	}
	return strings.Join(all, " ")
}

// TestBundleAsksFirst checks that at a terminal, the bundle is
// written only if the user agrees after seeing its contents.
func TestBundleAsksFirst(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for answer, written := range map[string]bool{"j\n": true, "n\n": false, "\n": false, "\x04": false} {
		path := filepath.Join(t.TempDir(), "help.zip")
		x := ptytest.Start(t, exec.CommandContext(t.Context(), must.Get(binary())(t), "doctor", "--bundle", path, "--profile", dir, "--language", "nl"))
		x.Until("[j/N]")
		x.Type(answer)
		shown, code := x.Wait()
		if !strings.Contains(shown, "doctor.json") || strings.Index(shown, "doctor.json") > strings.Index(shown, "[j/N]") {
			t.Errorf("%q: %s", answer, shown)
		}
		info, err := os.Lstat(path)
		if (err == nil) != written || written && (info.Mode().Perm() != 0o600 || code != 0) || !written && code != 1 {
			t.Errorf("%q: exit %d, %v, %v", answer, code, info, err)
		}
	}
}
