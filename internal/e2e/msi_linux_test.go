package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/packaging/release"
	"wiebelt/internal/packaging/windows"
	"wiebelt/internal/simulate"
	"wiebelt/internal/store/history"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/nettest"
	"wiebelt/internal/testutil/winetest"
)

// oldVersion and newVersion are two versions of the Windows programs, which
// do not differ otherwise.
const (
	oldVersion = "7.7.1"
	newVersion = "7.7.2"
)

// packed builds a package of programs in a version; they report being the older one.
func packed(t *testing.T, p *windows.Product, programs string, names ...string) string {
	t.Helper()
	r := release.Release{Version: p.Version, Commit: "c", Time: time.Unix(1700000000, 0), Bin: t.TempDir(), Out: t.TempDir()}
	must.Do(t, os.MkdirAll(r.Program("windows"), 0o700))
	for _, name := range names {
		b := must.Get(os.ReadFile(filepath.Join(programs, name)))(t)
		must.Do(t, os.WriteFile(r.Program("windows/"+name), bytes.ReplaceAll(b, []byte(oldVersion), []byte(p.Version)), 0o600))
	}
	return must.Get(p.Pack(t.Context(), r, nil))(t)
}

// workplace is a computer under wine with three sessions, each with its own profile.
type workplace struct {
	*winetest.Prefix
	t        *testing.T
	sessions []*office
}

func newWorkplace(t *testing.T) *workplace {
	t.Helper()
	w := &workplace{Prefix: winetest.New(t), t: t}
	w.StayUp()
	// Every Windows has these; a new prefix of wine lacks them or has them empty, and an
	// installer removes a key with its last value.
	for _, key := range []string{`HKCU\Software\Classes`, `HKLM\Software\Microsoft\Windows\CurrentVersion\Run`, `HKLM\Software\Policies`, `HKLM\System\CurrentControlSet\Services\EventLog\Application`,
		`HKLM\Software\Classes\Installer\Features`, `HKLM\Software\Classes\Installer\Products`, `HKLM\Software\Classes\Installer\UpgradeCodes`, installer + `UpgradeCodes`,
		installer + `UserData\S-1-5-18\Components`, installer + `UserData\S-1-5-18\Products`} {
		if out, code := w.Run("reg", "add", key, "/v", "Another", "/d", "1", "/f"); code != 0 {
			t.Fatalf("reg add: exit %d: %s", code, out)
		}
	}
	must.Do(t, os.MkdirAll(w.file(`C:\windows\Installer`), 0o700))
	return w
}

const (
	programFolder = `C:\Program Files\Wiebelt`
	installer     = `HKLM\Software\Microsoft\Windows\CurrentVersion\Installer\`
)

func (w *workplace) msiexec(want int, args ...string) {
	w.t.Helper()
	args = append(args, "/qn", "/norestart", "/l*", `C:\msi.log`)
	if _, code := w.Run("msiexec", args...); code != want&0xff { // Linux keeps eight bits
		log, _ := os.ReadFile(filepath.Join(w.Dir, "drive_c", "msi.log"))
		w.t.Fatalf("msiexec %v: exit %d, want %d: %s", args, code, want, log[max(0, len(log)-3000):])
	}
}

// file returns a file of the computer.
func (w *workplace) file(path string) string {
	return filepath.Join(w.Dir, "drive_c", filepath.FromSlash(strings.ReplaceAll(strings.TrimPrefix(path, `C:\`), `\`, "/")))
}

// state returns every file and every registration of the computer, except a user's own.
func (w *workplace) state() string {
	w.t.Helper()
	var all strings.Builder
	root := w.file("")
	must.Do(w.t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(root, path)
		if d != nil && d.IsDir() && (strings.HasPrefix(rel, "session") || strings.HasPrefix(rel, "users/") && (d.Name() == "AppData" || d.Name() == "Temp")) {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(rel, ".reg") && !strings.HasSuffix(rel, "msi.log") {
			all.WriteString(rel + "\n")
		}
		return err
	}))
	for _, key := range []string{`HKLM\Software`, `HKLM\System`, `HKCU\Software`, `HKCU\Environment`} {
		if out, code := w.Run("reg", "export", key, `C:\state.reg`, "/y"); code != 0 {
			w.t.Fatalf("reg export %s: exit %d: %s", key, code, out)
		}
		b := must.Get(os.ReadFile(w.file(`C:\state.reg`)))(w.t)
		text := strings.ReplaceAll(string(b), "\x00", "")                 // UTF-16
		text = strings.ReplaceAll(text, ",3b,00,00,00\r\n", ",00,00\r\n") // left by wine at the end of the search path
		for part := range strings.SplitSeq(text, "\r\n\r\n") {
			if !strings.HasPrefix(part, `[HKEY_CURRENT_USER\Software\Wine`) { // wine's own notes
				all.WriteString(part + "\r\n")
			}
		}
	}
	return all.String()
}

// start runs a resident in every session, like log-on does, and waits until
// each accepts calls.
func (w *workplace) start(version string) {
	w.t.Helper()
	for i, o := range w.sessions {
		w.Start(programFolder+`\`+version+`\wiebeltw.exe`, "--profile", w.profile(i), "run", "--background")
		o.Until("the resident takes calls", func() bool { return exists(o.announced()) })
	}
}

func (w *workplace) profile(i int) string { return `C:\` + filepath.Base(w.sessions[i].profile) }

// ring reports a call to every session, with the program that phones run in every version.
func (w *workplace) ring(id, state string) {
	w.t.Helper()
	for i := range w.sessions {
		if _, code := w.Run(programFolder+`\wiebelt-ringw.exe`, "--profile", w.profile(i), "--id", id, "--state", state, "--", "0698760011"); code != 0 {
			w.t.Fatalf("ring: exit %d", code)
		}
	}
}

// meanwhile makes every phone ring repeatedly until the returned function is called, which
// returns how many calls each had.
func meanwhile(t *testing.T, phones []*simulate.Phone) func() int {
	stop, had := make(chan struct{}), make(chan int)
	go func() {
		again := time.Tick(300 * time.Millisecond)
		for n := 0; ; n++ {
			c := simulate.Call{ID: strconv.Itoa(n), Number: "+31698760012"}
			for _, p := range phones {
				if err := errors.Join(p.Ring(t.Context(), c), p.End(t.Context(), c, "missed")); err != nil {
					t.Errorf("call %d: %v", n, err)
				}
			}
			select {
			case <-stop:
				had <- n + 1
				return
			case <-again:
			}
		}
	}()
	return func() int { close(stop); return <-had }
}

// TestWindowsPackage installs Wiebelt, has three sessions on the phone during an upgrade,
// refuses the older version again, repairs, and removes everything.
func TestWindowsPackage(t *testing.T) {
	t.Parallel()
	programs := windowsPrograms(t)
	pack := func(version string) string {
		return packed(t, windows.Wiebelt(version), programs, "wiebelt.exe", "wiebeltw.exe", "wiebelt-ringw.exe")
	}
	old, new := pack(oldVersion), pack(newVersion)
	h, value := startHub(t)
	w := newWorkplace(t)
	must.Do(t, os.WriteFile(w.file(`C:\policy.toml`), []byte("[support]\ncontact = \"Jan (IT)\"\n"), 0o600))
	clean := w.state()
	w.msiexec(1603, "/i", winPath(old), "HUB_BASE_URL=http://hub.example")
	w.msiexec(0, "/i", winPath(old), "HUB_ORGANISATION_CODE=1234", `POLICY_FILE=C:\policy.toml`, "POLICY_TEMPLATES=1")
	w.installed(oldVersion)
	for i := range 3 {
		o := &office{t: t, Server: w.Screen, hub: h, profile: w.file(`C:\session` + string(rune('1'+i)))}
		w.sessions = append(w.sessions, o)
		set := w.Command(programFolder+`\wiebelt.exe`, "provision", "--profile", w.profile(i), "--base-url", h.BaseURL(), "--hub-url", h.HubURL(), "--client-id", "office", "--secret-store", "file", "--secret-stdin")
		set.Stdin = strings.NewReader(value + "\r\n")
		if out, err := set.CombinedOutput(); err != nil {
			t.Fatalf("provision: %v: %s", err, out)
		}
		// If the end of a phone's call is never received, the call
		// keeps the session busy no longer than its card is full size.
		o.append(fmt.Sprintf("\n[card]\nafter_call = \"0s\"\nfull_for = \"1h\"\n\n[listener]\nport = %d\n", nettest.Port(t)))
	}
	// The user's own registration points into the folder of a version that will be removed.
	w.registers("register")
	w.start(oldVersion)
	live := simulate.Call{ID: "live", Number: "+31698760011"}
	var phones []*simulate.Phone
	var before []int
	for _, o := range w.sessions {
		before = append(before, o.now().PID)
		p := dial(o)
		must.Do(t, p.Ring(t.Context(), live))
		must.Do(t, p.Answer(t.Context(), live))
		phones = append(phones, p)
	}
	w.ring("program's", "ringing")
	w.ring("program's", "answered")
	more := meanwhile(t, phones)
	w.msiexec(0, "/i", winPath(new))
	want := 2 + more()
	for i, o := range w.sessions {
		if now := o.now().PID; now != before[i] {
			t.Errorf("session %d: process %d runs while a call is on, and ran as %d", i, now, before[i])
		}
		must.Do(t, phones[i].End(t.Context(), live, ""))
	}
	w.ring("program's", "ended")
	for i, o := range w.sessions {
		o.Until("the newer version runs", func() bool { now := o.now().PID; return now != 0 && now != before[i] })
		calls := callsOf(t, o)
		if ended := slices.DeleteFunc(slices.Clone(calls), func(e history.Entry) bool { return e.Ended.IsZero() }); len(ended) != want {
			t.Errorf("session %d: %d calls of %d: %+v", i, len(ended), want, calls)
		}
	}
	w.renewed(newVersion)
	w.registers("unregister")
	w.installed(newVersion)
	must.Do(t, os.Remove(w.file(programFolder+`\wiebelt.exe`)))
	w.msiexec(0, "/i", winPath(new), "REINSTALL=ALL", "REINSTALLMODE=amus") // like /f, which wine lacks for a package
	w.installed(newVersion)
	if left := must.Get(filepath.Glob(filepath.Join(w.file(programFolder), oldVersion, "*")))(t); exists(w.file(programFolder + `\` + oldVersion)) {
		t.Errorf("the folder of the older version is still there: %q", left)
	}
	w.msiexec(1603, "/i", winPath(old))
	w.installed(newVersion)
	w.msiexec(0, "/x", winPath(new))
	w.msiexec(1605, "/x", "{"+windows.Wiebelt(newVersion).ProductCode+"}") // not installed
	if after := w.state(); after != clean {
		t.Errorf("something is left:\n%s", difference(clean, after))
	}
}

// registers runs a command that registers the first session.
func (w *workplace) registers(command string) {
	w.t.Helper()
	if out, code := w.Run(programFolder+`\wiebelt.exe`, command, "--profile", w.profile(0)); code != 0 {
		w.t.Fatalf("%s: exit %d: %s", command, code, out)
	}
}

// renewed waits until the first session's registration is that of a version.
func (w *workplace) renewed(version string) {
	w.t.Helper()
	for _, key := range []string{`Software\Microsoft\Windows\CurrentVersion\Run`, `Software\Classes\Wiebelt.Setup\shell\open\command`, `Software\Classes\wiebelt\DefaultIcon`} {
		w.sessions[0].Until("the newer version in "+key, func() bool {
			out, _ := w.Run("reg", "query", `HKCU\`+key)
			return strings.Contains(out, programFolder+`\`+version+`\wiebeltw.exe`)
		})
	}
}

// installed checks a version that was installed with properties.
func (w *workplace) installed(version string) {
	w.t.Helper()
	exe := programFolder + `\wiebelt.exe`
	if out, _ := w.Run(exe, "version"); !strings.HasPrefix(out, "wiebelt "+version) {
		w.t.Errorf("in a terminal: %s, want %s", out, version)
	}
	if out, code := w.Run(exe, "register", "--check", "--language", "en"); code != 0 {
		w.t.Errorf("register --check: exit %d: %s", code, out)
	}
	// The policy's file only counts if an administrator owns it, which wine cannot express:
	// check that it was copied.
	if out, _ := w.Run(exe, "settings", "--language", "en"); !regexp.MustCompile(`(?m)^hub.organisation_code +1234 +policy`).MatchString(out) {
		w.t.Errorf("the organisation is not the policy's: %s", out)
	}
	for _, path := range []string{`C:\windows\PolicyDefinitions\wiebelt.admx`, `C:\windows\PolicyDefinitions\nl-NL\wiebelt.adml`, `C:\ProgramData\Wiebelt\policy.toml`} {
		if !exists(w.file(path)) {
			w.t.Errorf("%s is missing", path)
		}
	}
}

// TestWindowsRelayPackage: the service and its event source are installed, stay through an
// upgrade, and are removed.
func TestWindowsRelayPackage(t *testing.T) {
	t.Parallel()
	exe := winetest.Build(t, "wiebelt/app/wiebelt-relay", "-trimpath", "-ldflags", "-s -w -X main.version="+oldVersion)
	pack := func(version string) string {
		return packed(t, windows.Relay(version), filepath.Dir(exe), "wiebelt-relay.exe")
	}
	must.Do(t, os.Rename(exe, filepath.Join(filepath.Dir(exe), "wiebelt-relay.exe")))
	old, new := pack(oldVersion), pack(newVersion)
	w := newWorkplace(t)
	before := w.state()
	for _, msi := range []string{old, new} {
		w.msiexec(0, "/i", winPath(msi))
		for key, want := range map[string]string{`Services\WiebeltRelay`: `"C:\Program Files\Wiebelt Relay\wiebelt-relay.exe" run`, `Services\EventLog\Application\WiebeltRelay`: "EventCreate.exe"} {
			if out, _ := w.Run("reg", "query", `HKLM\System\CurrentControlSet\`+key); !strings.Contains(out, want) {
				t.Errorf("%s: %s", key, out)
			}
		}
	}
	w.msiexec(0, "/x", winPath(new))
	if after := w.state(); after != before {
		t.Errorf("something is left:\n%s", difference(before, after))
	}
}
