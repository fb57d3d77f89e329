package cli

import (
	"archive/zip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/doctor"
	"wiebelt/internal/logfile"
	"wiebelt/internal/store/history"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/text"
)

func checkup(t *testing.T, out string) doctor.Report {
	t.Helper()
	var r doctor.Report
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return r
}

func stateOf(r doctor.Report, id string) doctor.State {
	for _, c := range r.Checks {
		if c.ID == id {
			return c.State
		}
	}
	return ""
}

// failing returns the ids that fail, except the one that depends on where the test binary is.
func failing(r doctor.Report) (ids []string) {
	for _, c := range r.Checks {
		if c.State == doctor.Fail && c.ID != "program" {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

// TestDoctor examines a provisioned profile, one that is not, and a hub that refuses.
func TestDoctor(t *testing.T) {
	dir, h := setUp(t)
	_, out, errOut := run(t, "", "doctor", "--json", "--profile", dir)
	if got := failing(checkup(t, out)); len(got) != 0 || errOut != "" {
		t.Errorf("%v fail: %s%s", got, out, errOut)
	}
	_, out, _ = run(t, "", "doctor", "--json", "--number", "0698760011", "--profile", dir)
	if s := stateOf(checkup(t, out), "hub.lookup"); s != doctor.OK || strings.Contains(out, "9876") || strings.Contains(out, "Vries") {
		t.Errorf("lookup %s: %s", s, out)
	}
	h.Faults().RefuseCredentials(true)
	out = exits(t, 1, "", "doctor", "--json", "--profile", dir).out
	if r := checkup(t, out); r.OK || stateOf(r, "hub.token") != doctor.Fail {
		t.Error(out)
	}
	s := exits(t, 1, "", "doctor", "--profile", t.TempDir(), "--language", "nl").says("fail  setup", "wiebelt provision")
	if s.err != "" || strings.Count(s.out, "\n") != len(text.DoctorChecks)+1 {
		t.Errorf("%s%s", s.out, s.err)
	}
	exits(t, 1, "", "doctor", "--profile", t.TempDir(), "--language", "en").says("Not set yet: hub.base_url")
	exits(t, 2, "", "doctor", "--nonsense")
}

// TestDoctorForMonitoring checks the formats and exit codes that monitoring expects.
func TestDoctorForMonitoring(t *testing.T) {
	dir, h := setUp(t)
	t.Setenv("DISPLAY", "")
	t.Setenv("WAYLAND_DISPLAY", "")
	// Ignore what depends on where the test binary is and on this computer's disk.
	said := func(format string) (code int, out string) {
		code, out, errOut := run(t, "", "doctor", "--profile", dir, "--format", format, "--language", "nl")
		if errOut != "" {
			t.Errorf("%s: %s", format, errOut)
		}
		return code, out
	}
	h.Faults().RefuseCredentials(true)
	code, out := said("nagios")
	first, rest, _ := strings.Cut(out, "\n")
	if code != 2 || !strings.HasPrefix(first, "WIEBELT CRITICAL - ") || !strings.Contains(first, " | fail=") || !strings.Contains(rest, "fail  hub.token") || strings.Contains(rest, "|") {
		t.Errorf("exit %d: %s", code, out)
	}
	if code, out := said("prometheus"); code != 0 || !strings.Contains(out, "\nwiebelt_check{id=\"hub.token\"} 2\n") || !strings.Contains(out, "\nwiebelt_ok 0\n") ||
		strings.Count(out, "wiebelt_check{") != len(text.DoctorChecks) {
		t.Errorf("exit %d: %s", code, out)
	}
	if code, out := said("json"); code != 1 || checkup(t, out).OK {
		t.Errorf("exit %d: %s", code, out)
	}
	for _, r := range []struct {
		checks []doctor.Check
		ok     bool
		nagios int
		word   string
	}{
		{nil, true, 0, "WIEBELT OK - Geen storing gevonden. | fail=0 warn=0\n"},
		{[]doctor.Check{{ID: "expiry", State: doctor.Warn, Message: "a|b"}}, false, 1, "WIEBELT WARNING - 1 controle wijst op een storing. | fail=0 warn=1\nwarn  expiry           a/b\n"},
	} {
		report := doctor.Report{OK: r.ok, Checks: r.checks}
		if got := report.Render(doctor.Nagios, text.Dutch); got != r.word || report.ExitCode(doctor.Nagios) != r.nagios || (report.ExitCode(doctor.Text) == 0) != r.ok {
			t.Errorf("exit %d: %q", report.ExitCode(doctor.Nagios), got)
		}
	}
}

// TestDoctorHelp lists every check of the one table.
func TestDoctorHelp(t *testing.T) {
	s := exits(t, 0, "", "doctor", "--help")
	s.out = strings.Join(strings.Fields(s.out), " ")
	for _, id := range text.DoctorChecks {
		s.says(id + " " + text.English.T(text.DoctorAbout(id)))
	}
}

// canaries are texts that must not appear anywhere in output.
type canaries struct {
	n     int
	names []string // names of people and things, in the order sown
	all   []string // what to search for
}

// name returns a name whose words are all unique, except the shared ones.
func (c *canaries) name() string {
	c.n++
	family := "Kanarie" + strings.Map(func(r rune) rune { return r - '0' + 'a' }, fmt.Sprintf("%03d", c.n)) + "stra"
	c.all, c.names = append(c.all, family), append(c.names, "K. van "+family)
	return "K. van " + family
}

func (c *canaries) number() string {
	c.n++
	d := fmt.Sprintf("069876%04d", c.n)
	c.all = append(c.all, d[1:], d[:2]+" "+d[2:6]+" "+d[6:], d[:2]+"-"+d[2:])
	return []string{d, "+31" + d[1:], "0031" + d[1:], d[:2] + " " + d[2:6] + " " + d[6:], d[:2] + "-" + d[2:]}[c.n%5]
}

func (c *canaries) secret() string {
	c.n++
	s := fmt.Sprintf("pW-kanarie%03d!", c.n)
	c.all = append(c.all, fmt.Sprintf("kanarie%03d", c.n))
	return s
}

func (c *canaries) token() string {
	c.n++
	s := fmt.Sprintf("eyJhbGciOiJub25lIn0.kanarietoken%03dabcdefgh.x", c.n)
	c.all = append(c.all, fmt.Sprintf("kanarietoken%03d", c.n))
	return s
}

func (c *canaries) sow(t *testing.T, dir string) {
	t.Helper()
	var s strings.Builder
	fmt.Fprintf(&s, "\nlookup_kanarie = %q\n%s = 1\n[support]\ncontact = %q\n[phone]\ncall_back = %q\nnever_lookup = [%q, %q]\n[card]\nmonitor = %q\ncorner = %q\n",
		c.secret(), strings.Trim(c.secret(), "!"), c.name(), "/opt/dial --key "+c.secret()+" {number}", c.number(), c.number(), c.name(), c.secret())
	for range 20 {
		fmt.Fprintf(&s, "[[line]]\nnumber = %q\nname = %q\n", c.number(), c.name())
	}
	for _, kind := range []string{"ari", "wazo", "3cx", "baresip", "bria", "dancing"} {
		fmt.Fprintf(&s, "[[softphone]]\nkind = %q\nname = %q\naddress = \"https://pbx.example\"\nuser = %q\nextension = %q\npassword = %q\n", kind, c.name(), c.name(), c.number(), c.secret())
	}
	f := must.Get(os.OpenFile(filepath.Join(dir, settings.FileName), os.O_APPEND|os.O_WRONLY, 0))(t)
	must.Get(f.WriteString(s.String()))(t)
	must.Do(t, f.Close())
	d := must.Get(profile.Find(dir))(t)
	loaded, _ := settings.Load(d)
	for _, p := range loaded.Softphones {
		if p.Kind == "ari" || p.Kind == "wazo" || p.Kind == "3cx" {
			exits(t, 0, c.secret(), "provision", "--profile", dir, "--softphone", p.Name, "--secret-stdin")
		}
	}

	h := must.Get(history.Open(filepath.Join(dir, "history.db"), history.KeepFull, 7, time.Now))(t)
	settled := len(c.names)
	for range 80 {
		c.n++
		c.all = append(c.all, fmt.Sprintf("relkanarie%03d", c.n))
		must.Get(h.Put(t.Context(), history.Entry{Rang: time.Now(), Kind: "command", Number: c.number(), NumberDisplay: c.number(), Name: c.name(), Line: c.name(),
			RelationNumber: fmt.Sprintf("relkanarie%03d", c.n), Link: "https://hub.example/contacts/" + fmt.Sprintf("relkanarie%03d", c.n)}))(t)
	}
	must.Do(t, h.Close())

	sown := slices.Concat(c.names[2:22], c.names[settled:]) // of log lines and calls
	var log strings.Builder
	line := func(fields map[string]any) {
		fields["time"], fields["level"] = time.Now().Format(time.RFC3339Nano), "WARN"
		b := must.Get(json.Marshal(fields))(t)
		log.Write(append(b, '\n'))
	}
	for i := range 40 {
		who := sown[i*len(sown)/40]
		line(map[string]any{"msg": "called by " + who + " at " + c.number(), "why": fmt.Sprintf("lookup of %q failed: %s", c.name(), c.number())})
		line(map[string]any{"msg": "softphone link", "name": c.name(), "why": "Authorization: Bearer " + c.token(), "client_secret": "client_secret=" + c.secret()})
		line(map[string]any{"msg": "m", "group": map[string]any{"name": c.name(), "why": "token=" + c.token()}, "list": []string{c.name()}, strings.Trim(c.secret(), "!"): 1})
		fmt.Fprintf(&log, "a line of nobody: %s %s %s %s\n", c.name(), c.number(), c.secret(), c.token())
	}
	must.Do(t, os.MkdirAll(d.Log(), 0o700))
	for name, s := range map[string]string{logfile.Name: log.String(), logfile.Name + ".1": log.String(), logfile.CrashName: "panic: " + c.name() + " " + c.number() +
		"\n\tpanic: interface conversion: " + c.secret() + "\n\ngoroutine 1 [running]:\nmain.main()\n\t/home/" + sown[0] + "/main.go:7 +0x1d\n" + c.name() + "\n" + c.token() + "\n"} {
		must.Do(t, os.WriteFile(filepath.Join(d.Log(), name), []byte(s), 0o600))
	}
	for _, name := range []string{"XDG_CURRENT_DESKTOP", "XDG_SESSION_TYPE", "XDG_SESSION_DESKTOP", "DESKTOP_SESSION", "USER", "LOGNAME", "HOSTNAME", "WIEBELT_SECRET", "HTTPS_PROXY", "PS1"} {
		t.Setenv(name, c.name()+c.secret())
	}
	t.Setenv("WIEBELT_TOKEN", c.token())
	t.Setenv("HTTPS_PROXY", "http://user:"+strings.Trim(c.secret(), "!")+"@proxy.invalid:3128")
}

func contents(t *testing.T, path string) map[string]string {
	t.Helper()
	z := must.Get(zip.OpenReader(path))(t)
	defer z.Close()
	all := map[string]string{}
	for _, f := range z.File {
		r := must.Get(f.Open())(t)
		b := must.Get(io.ReadAll(r))(t)
		must.Do(t, r.Close())
		all[f.Name] = string(b)
	}
	return all
}

// TestCanaries puts names, numbers, secrets and tokens into settings, history, log, crash
// report and environment; none appears in the output.
func TestCanaries(t *testing.T) {
	dir, _ := setUp(t)
	c := &canaries{all: []string{"p@ss+/=% canary", "canary", dir}}
	c.sow(t, dir)
	path := filepath.Join(t.TempDir(), "help.zip")
	said := map[string]string{}
	for name, args := range map[string][]string{
		"nl": {"--language", "nl"}, "en": {"--language", "en"}, "json": {"--json"}, "number": {"--number", c.number()}, "bundle": {"--bundle", path, "--yes", "--json"},
	} {
		_, out, errOut := run(t, "", append([]string{"doctor", "--profile", dir}, args...)...)
		said[name+" output"], said[name+" errors"] = out, strings.ReplaceAll(errOut, path, "")
	}
	for name, s := range contents(t, path) {
		said["bundle "+name] = s
	}
	for _, needed := range []string{"bundle doctor.json", "bundle settings.txt", "bundle environment.txt", "bundle log/wiebelt.log", "bundle log/wiebelt.log.1", "bundle log/crash.txt"} {
		if said[needed] == "" {
			t.Errorf("%s is missing or empty", needed)
		}
	}
	for where, s := range said {
		for _, v := range c.all {
			if at := strings.Index(s, v); at >= 0 {
				t.Errorf("%s: %q in %q", where, v, s[max(0, at-60):min(len(s), at+60)])
			}
		}
	}
	// Useful information is still there.
	for where, s := range map[string]string{"bundle log/wiebelt.log": "softphone link", "bundle log/crash.txt": "main.go:7", "bundle settings.txt": "hub.base_url\thttp://127.",
		"bundle environment.txt": "wiebelt: test", "nl output": "settings.toml: "} {
		if !strings.Contains(said[where], s) {
			t.Errorf("%s lacks %q: %.400s", where, s, said[where])
		}
	}
}

// TestBundleOverwritesNothing checks that a bundle replaces no
// file and is readable by its owner only.
func TestBundleOverwritesNothing(t *testing.T) {
	dir, folder := t.TempDir(), t.TempDir()
	path := func(name string) string { return filepath.Join(folder, name) }
	must.Do(t, os.WriteFile(path("there.zip"), []byte("mine"), 0o600))
	must.Do(t, os.Symlink(path("victim"), path("link.zip")))
	for _, name := range []string{"there.zip", "link.zip", "."} {
		exits(t, 1, "", "doctor", "--profile", dir, "--bundle", path(name), "--yes").complains(text.English.T(text.DoctorBundleThere))
		if err := doctor.Write(path(name), nil); err != doctor.ErrExists {
			t.Errorf("%s: %v", name, err)
		}
	}
	if b, err := os.ReadFile(path("there.zip")); err != nil || string(b) != "mine" {
		t.Errorf("%q, %v", b, err)
	}
	if _, err := os.Lstat(path("victim")); err == nil {
		t.Error("a link was followed")
	}
	exits(t, 2, "y\n", "doctor", "--profile", dir, "--bundle", path("new.zip"), "--language", "en"). // no terminal
														says("doctor.json").complains("--yes")
	if _, err := os.Lstat(path("new.zip")); err == nil {
		t.Error("written without being asked to")
	}
	exits(t, 0, "", "doctor", "--profile", dir, "--bundle", path("new.zip"), "--yes")
	if info, err := os.Lstat(path("new.zip")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	exits(t, 1, "", "doctor", "--profile", dir, "--bundle", path("none/new.zip"), "--yes").complains("wiebelt: ")
	if left, _ := os.ReadDir(folder); len(left) != 3 {
		t.Errorf("%v", left)
	}
}
