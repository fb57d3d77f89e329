package doctor

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/config/settings"
	"wiebelt/internal/filetrust"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/native/browser"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/processtest"
	"wiebelt/internal/text"
)

// office is an installation where all is well until something is done to it: a hub with
// TLS, a secret, a resident that answers, its own folders.
type office struct {
	*exam
	t    *testing.T
	toml string
}

// examineOffice creates an office, applies before and after, and examines it.
func examineOffice(t *testing.T, before, after func(*office)) Report {
	t.Helper()
	h := startHub()
	p := &office{exam: &exam{sys: calm(), now: time.Now()}, t: t, toml: h.known(t)}
	p.sys.folder, p.sys.installed = folderFault, filetrust.CheckProgram
	if before != nil {
		before(p)
	}
	p.Config = configured(t, p.toml)
	p.Exe = filepath.Join(t.TempDir(), "wiebelt")
	write(t, p.Exe, "")
	for _, dir := range []string{p.Dirs.State, p.Dirs.Run, filepath.Dir(p.Exe)} {
		must.Do(t, os.MkdirAll(dir, 0o700))
		must.Do(t, os.Chmod(dir, 0o700))
	}
	keepSecret(t, p.Dirs, h.URL, "canary-secret")
	residentOf(t, p.Dirs, "1.2.0", "abc", answering{facts: &windowapi.DoctorFacts{SetUp: true, Port: 27471}})
	announces(`{"version":1,"port":27471,"token":"x"}`, 0o600)(t, p.exam)
	if after != nil {
		after(p)
	}
	return run(t.Context(), p.Config, p.sys, quietly)
}

// secretFile applies do to the file with the secret.
func secretFile(do func(path string) error) func(*office) {
	return func(p *office) {
		files, _ := filepath.Glob(filepath.Join(p.Dirs.State, "secrets", "*.json"))
		if len(files) != 1 {
			p.t.Fatalf("%d files with secrets", len(files))
		}
		must.Do(p.t, do(files[0]))
	}
}

// troubles are provoked on a real file or folder, where a fake could be wrong: before runs
// before the resident starts, after when all is well. Troubles with a real hub are covered
// by TestTheWay and package hub's tests.
var troubles = map[string]struct{ before, after func(*office) }{
	"secret.absent": {before: func(p *office) {
		p.t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path="+filepath.Join(p.t.TempDir(), "none"))
		p.toml = strings.Replace(p.toml, `secret_store = "file"`, `secret_store = "os"`, 1)
	}},
	"secret.exposed": {after: secretFile(func(path string) error { return os.Chmod(path, 0o644) })},
	"secret.damaged": {after: secretFile(func(path string) error { return os.WriteFile(path, []byte("{"), 0o600) })},

	"browser.none": {after: func(p *office) {
		p.t.Setenv("PATH", p.t.TempDir())
		p.sys.browser = browser.Available
	}},
	"folders.owner": {after: func(p *office) {
		must.Do(p.t, os.Chown(p.Dirs.State, 65534, 65534))
	}},
	"program.write": {after: func(p *office) { must.Do(p.t, os.Chmod(filepath.Dir(p.Exe), 0o777)) }},
}

// policyFiles are the possible faults of an administrator's file; they
// are read by a process with its own /etc.
var policyFiles = map[string]struct {
	content string
	mode    fs.FileMode
}{
	"policy.untrusted":  {"[hub]\nproxy = \"none\"\n", 0o666},
	"policy.unreadable": {"\xff\xfe", 0o644},
	"policy.syntax":     {"what is this\n", 0o644},
	"policy.closed":     {"[history]\nkeep = \"nummers\"\n", 0o644},
	"policy.key":        {"[hub]\nproxy = \"ftp://x\"\n", 0o644},
}

// TestRealTroubles checks that each trouble makes monitoring raise an
// alert, and is reported with the guide's own sentence and remedy.
func TestRealTroubles(t *testing.T) {
	if r := examineOffice(t, nil, nil); !r.OK {
		t.Fatalf("not well to begin with: %s", r.Render(Text, text.English))
	}
	for found, how := range troubles {
		t.Run(found, func(t *testing.T) { alerts(t, found, examineOffice(t, how.before, how.after)) })
	}
}

// TestPolicyTroubles checks the same for an administrator's file.
func TestPolicyTroubles(t *testing.T) {
	for found, file := range policyFiles {
		t.Run(found, func(t *testing.T) {
			if processtest.Alone(t, func(cmd *exec.Cmd) { underPolicy(t, cmd, file.content, file.mode) }) {
				alerts(t, found, examineOffice(t, nil, nil))
			}
		})
	}
}

// alerts checks that a report raises an alert and tells of a trouble.
func alerts(t *testing.T, found string, r Report) {
	t.Helper()
	if r.OK || r.ExitCode(Text) != 1 || r.ExitCode(Nagios) == 0 {
		t.Errorf("silent: %s", r.Render(Text, text.Dutch))
	}
	if !says(r, text.Dutch, found) {
		t.Errorf("not told: %s", r.Render(Text, text.Dutch))
	}
}

// says reports whether a report has the guide's sentences for a trouble.
func says(r Report, l text.Language, found string) bool {
	message, do := l.Trouble(found)
	var parts []string
	for _, p := range strings.Split(strings.TrimSuffix(message, "."), "…") {
		parts = append(parts, regexp.QuoteMeta(oneLine(p)))
	}
	like := regexp.MustCompile(`(?i)` + strings.Join(parts, ".*"))
	return slices.ContainsFunc(r.Checks, func(c Check) bool {
		return (c.State == Warn || c.State == Fail) && c.Hint == oneLine(do) &&
			(like.MatchString(c.Message) || c.Message == l.N(text.Doctor(found), 1))
	})
}

// underPolicy makes a process see a computer with this policy.
func underPolicy(t *testing.T, cmd *exec.Cmd, content string, mode fs.FileMode) {
	t.Helper()
	etc := t.TempDir()
	for _, dir := range []string{etc, filepath.Join(etc, "wiebelt")} {
		must.Do(t, os.MkdirAll(dir, 0o755))
		must.Do(t, os.Chmod(dir, 0o755))
	}
	file := filepath.Join(etc, "wiebelt", settings.PolicyFile)
	write(t, file, content)
	must.Do(t, os.Chmod(file, mode))
	processtest.Inside(t, cmd, "unshare", "-Urm", "sh", "-c", `mount --bind "$0" /etc && exec "$@"`, etc)
}
