package e2e

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"wiebelt/internal/doctor"
	"wiebelt/internal/testutil/ptytest"
)

// doctor runs "wiebelt doctor --json" and gives its report and exit code.
func (o *office) doctor(args ...string) (r doctor.Report, code int) {
	o.t.Helper()
	began := time.Now()
	out, err := o.wiebelt(append([]string{"doctor", "--json"}, args...)...).Output()
	if took := time.Since(began); took > 10*time.Second {
		o.t.Errorf("the doctor took %v", took)
	}
	if err != nil {
		x, ok := err.(*exec.ExitError)
		if !ok {
			o.t.Fatal(err)
		}
		code = x.ExitCode()
	}
	if err := json.Unmarshal(out, &r); err != nil {
		o.t.Fatalf("%v: %s", err, out)
	}
	return r, code
}

// states are the states of a check's lines, joined.
func states(r doctor.Report, id string) string {
	var all []string
	for _, c := range r.Checks {
		if c.ID == id {
			all = append(all, string(c.State))
		}
	}
	return strings.Join(all, " ")
}

// TestDoctorWithAResident: what the doctor says of a resident at work, of one
// that is stopped, and of none.
func TestDoctorWithAResident(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0") // closed again: nobody is there
	if err != nil {
		t.Fatal(err)
	}
	gone := l.Addr().(*net.TCPAddr).Port
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	o := newOffice(t, fmt.Sprintf("[[softphone]]\nkind = \"baresip\"\nname = \"Kanarie\"\naddress = \"127.0.0.1:%d\"\n[[softphone]]\nkind = \"ari\"\naddress = \"https://127.0.0.1:%d\"", gone, gone))
	var r doctor.Report
	o.Until("both links are seen", func() bool {
		r, _ = o.doctor()
		return states(r, "link") == "warn fail"
	}, func() []any { return []any{r.Checks} })
	for id, want := range map[string]string{"settings": "ok", "setup": "ok", "secret": "ok", "hub.name": "ok", "hub.connection": "ok", "hub.clock": "ok", "hub.token": "ok",
		"hub.lookup": "off", "resident": "ok", "version": "ok", "listener": "ok", "lock": "ok", "folders": "warn", "log": "ok", "crash": "ok", "history": "ok"} {
		if got := states(r, id); got != want && !(id == "folders" && got == "ok") {
			t.Errorf("%s: %s, want %s: %+v", id, got, want, r.Checks)
		}
	}
	if strings.Contains(fmt.Sprint(r), "Kanarie") {
		t.Error("the name of a link was told")
	}
	pid := o.at().PID
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	r, code := o.doctor()
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if states(r, "resident") != "fail" || states(r, "listener") != "off" || states(r, "hub.token") != "ok" || code != 1 {
		t.Errorf("stopped: exit %d, %+v", code, r.Checks)
	}
}

// TestDoctorAlone: without a resident.
func TestDoctorAlone(t *testing.T) {
	t.Parallel()
	o := prepare(t, "")
	r, _ := o.doctor("--number", "0698760011")
	for id, want := range map[string]string{"resident": "warn", "version": "off", "listener": "off", "link": "off", "hub.token": "ok", "hub.lookup": "ok", "tray": "off", "history": "off"} {
		if got := states(r, id); got != want {
			t.Errorf("%s: %s, want %s", id, got, want)
		}
	}
}

// TestRefusedBeforeACall: credentials that the hub refuses are told without any
// call.
func TestRefusedBeforeACall(t *testing.T) {
	t.Parallel()
	o := prepare(t, "")
	o.hub.Faults().RefuseCredentials(true)
	o.start()
	var r doctor.Report
	o.Until("the resident knows", func() bool {
		r, _ = o.doctor()
		return states(r, "resident") == "fail"
	}, func() []any { return []any{r.Checks} })
	if n := strings.Count(o.log.String(), "the hub gives no token"); n != 1 {
		t.Errorf("logged %d times", n)
	}
}

// TestBundleAsksFirst: at a terminal, after its contents were shown.
func TestBundleAsksFirst(t *testing.T) {
	t.Parallel()
	o := prepare(t, "")
	for answer, written := range map[string]bool{"j\n": true, "n\n": false, "\n": false, "\x04": false} {
		path := filepath.Join(t.TempDir(), "help.zip")
		x := ptytest.Start(t, o.wiebelt("doctor", "--bundle", path))
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

// TestDoctorUnderWine: the same on Windows, with its store for secrets, its
// rights and its MicroSIP.
func TestDoctorUnderWine(t *testing.T) {
	t.Parallel()
	dir := windowsPrograms(t)
	p, o := wineOffice(t, dir)
	exe := filepath.Join(dir, "wiebelt.exe")
	ask := func() (r doctor.Report, out string) {
		t.Helper()
		cmd := p.Command(exe, "doctor", "--json", "--profile", wineProfile)
		b, err := cmd.Output()
		if _, failed := err.(*exec.ExitError); err != nil && !failed {
			t.Fatal(err)
		}
		if err := json.Unmarshal(b, &r); err != nil {
			t.Fatalf("%v: %s", err, b)
		}
		return r, string(b)
	}
	expect := func(want map[string]string) {
		t.Helper()
		r, out := ask()
		for id, w := range want {
			if got := states(r, id); got != w {
				t.Errorf("%s: %s, want %s: %s", id, got, w, out)
			}
		}
	}
	expect(map[string]string{"settings": "ok", "policy": "off", "secret": "ok", "hub.token": "ok", "resident": "warn", "scheme": "off", "autostart": "off",
		"microsip": "off", "tray": "ok", "lock": "ok", "disk": "ok", "crash": "ok", "history": "off"})
	if out, code := p.Run(exe, "register", "--profile", wineProfile); code != 0 {
		t.Fatalf("register: exit %d: %s", code, out)
	}
	roaming, err := filepath.Glob(filepath.Join(p.Dir, "drive_c", "users", "*", "AppData", "Roaming"))
	if err != nil || len(roaming) == 0 {
		t.Fatalf("no folder for MicroSIP: %v", err)
	}
	for _, r := range roaming {
		if err := os.MkdirAll(filepath.Join(r, "MicroSIP"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(r, "MicroSIP", "microsip.ini"), []byte("[Settings]\r\ncmdCallRing=\r\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o.startsUnderWine(p, dir)
	expect(map[string]string{"resident": "ok", "version": "ok", "listener": "ok", "scheme": "ok", "autostart": "ok", "microsip": "off", "log": "ok", "history": "ok"})
}
