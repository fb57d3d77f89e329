package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/core/contact"
	"wiebelt/internal/instance"
	"wiebelt/internal/localhub"
	"wiebelt/internal/softphone/listener"
	"wiebelt/internal/testutil/logtest"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/nettest"
	"wiebelt/internal/testutil/xtest"
)

// binary returns the resident as shipped, built once for all tests; the tests' command sets
// WIEBELT_BIN if it has already built the programs.
var binary = sync.OnceValues(func() (string, error) {
	if dir := os.Getenv("WIEBELT_BIN"); dir != "" {
		return filepath.Join(dir, "wiebelt"), nil
	}
	dir, err := built()
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "wiebelt")
	return path, errors.Join(build(path, "-s -w", "./app/wiebelt", "CGO_ENABLED=0"),
		build(path+"-ring", "-s -w", "./app/wiebelt-ring", "CGO_ENABLED=0"),
		build(path+"-relay", "-s -w", "./app/wiebelt-relay", "CGO_ENABLED=0"))
})

// windowsBuilt returns the folder with the Windows programs, also built once.
var windowsBuilt = sync.OnceValues(func() (string, error) {
	dir, err := built()
	if err != nil {
		return "", err
	}
	return dir, errors.Join(build(filepath.Join(dir, "wiebelt.exe"), "-s -w", "./app/wiebelt-console", forWindows...),
		build(filepath.Join(dir, "wiebeltw.exe"), "-s -w -H=windowsgui -X main.version="+oldVersion, "./app/wiebelt", forWindows...),
		build(filepath.Join(dir, "wiebelt-ring.exe"), "-s -w", "./app/wiebelt-ring", forWindows...),
		build(filepath.Join(dir, "wiebelt-ringw.exe"), "-s -w -H=windowsgui", "./app/wiebelt-ring", forWindows...))
})

var forWindows = []string{"CGO_ENABLED=0", "GOOS=windows", "GOARCH=amd64"}

// built returns the folder for everything that is built once; it is removed after the last test.
var built = sync.OnceValues(func() (string, error) { return os.MkdirTemp("", "wiebelt-e2e-") })

func build(out, flags, pkg string, env ...string) error {
	cmd := exec.Command("go", "build", "-trimpath", "-tags", "migrated_fynedo,no_emoji", "-ldflags", flags, "-o", out, pkg)
	cmd.Dir = "../.."
	cmd.Env = append(os.Environ(), env...)
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w: %s", out, err, said)
	}
	return nil
}

// writeProgram writes a file to be executed. No program started concurrently by another
// test inherits the open file: as long as one has it, the file cannot be executed.
func writeProgram(path string, content []byte) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return os.WriteFile(path, content, 0o755)
}

// TestMain runs more tests in parallel than there are processors: they mostly wait for
// other programs. Each has its own screen, home, bus and ports.
func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0))); err != nil {
		panic(err)
	}
	code := m.Run()
	if dir, err := built(); err == nil {
		_ = os.RemoveAll(dir)
	}
	os.Exit(code)
}

// office is a workplace: a screen, a hub, and Wiebelt configured for it.
type office struct {
	*xtest.Server
	t        testing.TB
	bin      string
	profile  string
	hub      *localhub.Hub
	resident *exec.Cmd
	log      *logtest.Buffer // written by the resident while tests read it
	failed   bool            // a screenshot of a failure has been kept
}

const width, height = 1280, 1024

// Colours of cards and windows, in light mode.
const (
	accent        = 0x0B6BCB // buttons, a ringing call
	answeredGreen = 0x1B7F4B // an answered call, success
	trouble       = 0x9A5B00
)

var vries = localhub.Record{Numbers: []string{"06-98760011"}, Contact: contact.Contact{
	ID: "c-vries", RelationNumber: "100200", Initials: "J.", Prefix: "de", FamilyName: "Vries",
	Address:  contact.Address{Street: "Dorpsstraat", Number: "1", PostalCode: "1234AB", City: "Ons Dorp"},
	Producer: contact.CodedValue{Code: "P", Description: "Producent Een"}, LastModifiedBy: contact.CodedValue{Code: "M",
		Description: "Medewerker"}}}

func newOffice(t testing.TB, settings string) *office {
	t.Helper()
	o := prepare(t, settings)
	o.start()
	return o
}

// prepare sets up an office without starting a resident.
func prepare(t testing.TB, more string) *office {
	t.Helper()
	return prepareOn(t, "openbox", xtest.Options{Width: width, Height: height}, more)
}

// prepareOn is prepare with a given window manager and screen.
func prepareOn(t testing.TB, wm string, screen xtest.Options, more string) *office {
	t.Helper()
	h, value := startHub(t)
	return configure(officeOn(t, t.TempDir(), h, wm, screen), h.BaseURL(), value, more)
}

// prepareAt is prepare for a hub that is reached at base, with a client's secret.
func prepareAt(t testing.TB, h *localhub.Hub, base, value, more string) *office {
	t.Helper()
	return configure(officeOn(t, t.TempDir(), h, "openbox", xtest.Options{Width: width, Height: height}), base, value, more)
}

// configure sets an office up for a hub at base.
func configure(o *office, base, value, more string) *office {
	o.t.Helper()
	// No welcome window here: it has its own test.
	must.Do(o.t, os.WriteFile(o.welcomed(), []byte("1\n"), 0o600))
	o.runWith(value+"\n", "provision", "--base-url", base, "--hub-url", o.hub.HubURL(), "--client-id", "office",
		"--organisation-code", "1234", "--secret-store", "file", "--secret-stdin")
	if !strings.Contains(more, "[listener]") {
		more += fmt.Sprintf("\n[listener]\nport = %d\n", nettest.Port(o.t))
	}
	o.append("\n" + more + "\n")
	return o
}

// officeOn returns a workplace with a profile as it is found.
func officeOn(t testing.TB, profile string, h *localhub.Hub, wm string, screen xtest.Options) *office {
	t.Helper()
	screen.Env = []string{"LANG=nl_NL.UTF-8"}
	o := &office{t: t, bin: must.Get(binary())(t), profile: profile, hub: h, log: &logtest.Buffer{}, Server: xtest.Start(t, wm, screen)}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the resident said:\n%s", o.log)
		}
	})
	return o
}

// startHub starts a hub that knows vries, and returns the secret of its client "office".
func startHub(t testing.TB) (h *localhub.Hub, secret string) {
	t.Helper()
	h = must.Get(localhub.Start(context.Background(), localhub.Config{Synthetic: 200, Demo: true}))(t)
	t.Cleanup(func() { _ = h.Close() })
	must.Get(h.AddInvented(t.Context(), vries))(t)
	return h, must.Get(h.AddClient(t.Context(), "office", "1234"))(t)
}

// wiebelt returns a command in this profile on this screen.
func (o *office) wiebelt(args ...string) *exec.Cmd {
	at := len(args)
	for i, a := range args {
		if a == "--" {
			at = i
			break
		}
	}
	all := append(append(append([]string{}, args[:at]...), "--profile", o.profile), args[at:]...)
	return o.Command(o.bin, all...)
}

// run runs a command of this profile to its end.
func (o *office) run(args ...string) {
	o.t.Helper()
	o.runWith("", args...)
}

// runWith is run with standard input.
func (o *office) runWith(in string, args ...string) {
	o.t.Helper()
	cmd := o.wiebelt(args...)
	cmd.Stdin = strings.NewReader(in)
	if out, err := cmd.CombinedOutput(); err != nil {
		o.t.Fatalf("wiebelt %s: %v: %s", args[0], err, out)
	}
}

// handOver hands over a complete call, like phones that run a program.
func (o *office) handOver(id, number string) {
	o.t.Helper()
	for _, state := range []string{"ringing", "ended"} {
		o.run("ring", "--id", id, "--state", state, "--", number)
	}
}

// ring is the program that phones run, with the arguments of "wiebelt ring".
func (o *office) ring(args ...string) *exec.Cmd {
	return o.Command(o.bin+"-ring", append([]string{"--profile", o.profile}, args...)...)
}

// start starts the resident and waits until it accepts calls.
func (o *office) start(before ...string) {
	o.t.Helper()
	o.startAs(before, "run", "--background")
}

// startAs is start below another program (none if nil) and with other arguments.
func (o *office) startAs(before []string, command ...string) {
	o.t.Helper()
	args := append(append([]string{}, before...), o.bin, "--profile", o.profile)
	args = append(args, command...)
	o.resident = o.Command(args[0], args[1:]...)
	o.resident.Env = append(o.resident.Env, "PATH="+o.Dir+":"+os.Getenv("PATH"))
	o.resident.Stdout, o.resident.Stderr = o.log, o.log
	o.resident.WaitDelay = time.Second // a browser may keep our output open
	must.Do(o.t, o.resident.Start())
	o.t.Cleanup(func() {
		if o.t.Failed() && !o.failed { // while the windows are still there
			o.failed = true
			o.shot(strings.ReplaceAll(o.t.Name(), "/", "-") + "-screen")
		}
		pid := o.resident.Process.Pid
		if own := o.now().PID; own > 1 { // also below a tracer
			pid = own
		}
		windows := o.windowsOf(pid)
		_ = syscall.Kill(pid, syscall.SIGTERM)
		done := make(chan struct{})
		go func() { _ = o.resident.Wait(); close(done) }()
		select {
		case <-done:
		case <-time.After(must.Patience):
			o.t.Error("the resident does not end when asked to")
			_ = o.resident.Process.Kill()
			<-done
		}
		// The windows exit by themselves, and write to the folder that is removed next.
		o.Until("the windows have gone", func() bool {
			return !slices.ContainsFunc(o.running(true), func(pid int) bool { return slices.Contains(windows, pid) })
		})
	})
	o.Until("the resident takes calls", func() bool { return exists(o.announced()) })
}

// running returns the processes of the office's profile: those with windows, or the others.
func (o *office) running(windows bool) (pids []int) {
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range all {
		b, err := os.ReadFile(f)
		if err == nil && strings.HasPrefix(string(b), o.bin+"\x00") && strings.Contains(string(b), "\x00"+o.profile+"\x00") &&
			strings.Contains(string(b), "\x00window\x00") == windows {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(f)))
			pids = append(pids, pid)
		}
	}
	return pids
}

// windowsOf returns the processes with windows that a resident has started.
func (o *office) windowsOf(resident int) []int {
	return slices.DeleteFunc(o.running(true), func(pid int) bool {
		b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		return !strings.Contains(string(b), fmt.Sprintf("\nPPid:\t%d\n", resident))
	})
}

// welcomed is the path of a file that exists once the first start's window was shown.
func (o *office) welcomed() string { return filepath.Join(o.profile, "start-asked") }

func (o *office) announced() string { return filepath.Join(o.profile, "run", "listener.json") }

// now returns what the listener announces, nothing while there is none.
func (o *office) now() (a listener.Announcement) {
	if b, err := os.ReadFile(o.announced()); err != nil || json.Unmarshal(b, &a) != nil {
		return listener.Announcement{}
	}
	return a
}

// at is now where there must be one.
func (o *office) at() listener.Announcement {
	o.t.Helper()
	b := must.Get(os.ReadFile(o.announced()))(o.t)
	var a listener.Announcement
	must.Do(o.t, json.Unmarshal(b, &a))
	return a
}

// instance returns how to find the office's resident.
func (o *office) instance() instance.Config {
	o.t.Helper()
	dirs := must.Get(profile.Find(o.profile))(o.t)
	return instance.Config{RunDir: dirs.Run, Version: "test", Build: "test"}
}

// place returns the place of the first card, given its height.
func place(h int) image.Rectangle {
	return image.Rect(width-16-380, height-16-h, width-16, height-16)
}

const foundHeight = 284

// look returns what the screen shows in r, with its corner at zero.
func (o *office) look(r image.Rectangle) *image.RGBA {
	img := o.Crop(r)
	img.Rect = img.Rect.Sub(img.Rect.Min)
	return img
}

// empty reports whether no card is on screen.
func (o *office) empty() bool {
	img := o.look(place(40))
	first := img.RGBAAt(0, 0)
	for y := range img.Rect.Dy() {
		for x := range img.Rect.Dx() {
			if img.RGBAAt(x, y) != first {
				return false
			}
		}
	}
	return true
}

// shows waits until the screen shows exactly want at the first card's
// place, except its clock.
func (o *office) shows(what string, want *image.RGBA) {
	o.t.Helper()
	r := place(want.Rect.Dy())
	differ := -1
	o.t.Cleanup(func() {
		if dir := os.Getenv("WIEBELT_SHOTS"); dir != "" && o.t.Failed() {
			keep(o.t, filepath.Join(dir, o.t.Name()+"-wanted.png"), want)
		}
	})
	o.Until(what, func() bool {
		got := o.look(r)
		differ = 0
		for y := range want.Rect.Dy() {
			for x := range want.Rect.Dx() {
				if y < 34 && x > 270 && x < 345 {
					continue // the clock
				}
				if got.RGBAAt(x, y) != want.RGBAAt(x, y) {
					differ++
				}
			}
		}
		return differ == 0
	}, func() []any { return []any{differ, "pixels differ"} })
}

// opener replaces xdg-open with a program that records its argument.
func (o *office) opener() (notes string) {
	o.t.Helper()
	notes = filepath.Join(o.Dir, "opened")
	body := "#!/bin/sh\nprintf '%s\\n' \"$1\" >> " + notes + "\n"
	must.Do(o.t, writeProgram(filepath.Join(o.Dir, "xdg-open"), []byte(body)))
	return notes
}

func opened(notes string) []string {
	b, _ := os.ReadFile(notes)
	return strings.Fields(string(b))
}

func keep(t testing.TB, path string, img image.Image) {
	f, err := os.Create(path)
	if err != nil {
		t.Error(err)
		return
	}
	defer f.Close()
	must.Do(t, png.Encode(f, img))
}
