package e2e

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"wiebelt/internal/localhub"
	"wiebelt/internal/testutil/messagetest"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/winetest"
)

// sender is a service account that delivers: a user without a home, on a server
// without a screen.
type sender struct {
	t      testing.TB
	bin    string
	dir    string // the profile
	in     string // where its files are
	hub    *localhub.Hub
	hubCfg localhub.Config
}

func newSender(t testing.TB) *sender {
	t.Helper()
	bin := must.Get(binary())(t)
	root := must.Get(os.MkdirTemp("", "wiebelt-sender-"))(t)
	t.Cleanup(func() { _ = os.RemoveAll(root) })
	s := &sender{t: t, bin: bin, dir: filepath.Join(root, "profile"), in: filepath.Join(root, "in"),
		hubCfg: localhub.Config{Dir: t.TempDir()}}
	for _, dir := range []string{s.dir, s.in} {
		must.Do(t, os.Mkdir(dir, 0o700))
	}
	for _, dir := range []string{root, s.dir, s.in} {
		must.Do(t, os.Chown(dir, nobody, nobody))
	}
	s.openHub()
	t.Cleanup(func() { _ = s.hub.Close() })
	s.hubCfg.Listen = strings.TrimPrefix(s.hub.BaseURL(), "http://")
	const secret = "geheim van de dienst"
	must.Do(t, s.hub.SetClientSecret(t.Context(), "office", "1234", secret))
	cmd := s.command("provision", "--base-url", s.hub.BaseURL(), "--hub-url", s.hub.BaseURL(), "--client-id", "office",
		"--organisation-code", "1234", "--intermediary", "intermediary", "--secret-store", "file", "--secret-stdin")
	cmd.Stdin = strings.NewReader(secret + "\n")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("provision: %v: %s", err, out)
	}
	return s
}

func (s *sender) openHub() {
	s.t.Helper()
	h := must.Get(localhub.Start(context.Background(), s.hubCfg))(s.t)
	s.hub = h
}

// command returns a command run as the service account; the program is the built one.
func (s *sender) command(args ...string) *exec.Cmd {
	s.t.Helper()
	f := must.Get(os.Open(s.bin))(s.t)
	s.t.Cleanup(func() { _ = f.Close() })
	cmd := exec.CommandContext(s.t.Context(), "/proc/self/fd/3", append(args, "--profile", s.dir)...)
	cmd.ExtraFiles = []*os.File{f}
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=/usr/bin:/bin", "LANG=nl_NL.UTF-8"} // no HOME, no DISPLAY
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}, Pdeathsig: syscall.SIGKILL}
	return cmd
}

// deliver runs "wiebelt deliver".
func (s *sender) deliver(args ...string) (code int, out, errOut string) {
	s.t.Helper()
	cmd := s.command(append([]string{"deliver"}, args...)...)
	var o, e bytes.Buffer
	cmd.Stdout, cmd.Stderr = &o, &e
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		s.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), o.String(), e.String()
}

// file creates a file that the account can read.
func (s *sender) file(name string, content []byte) string {
	s.t.Helper()
	path := filepath.Join(s.in, name)
	must.Do(s.t, os.WriteFile(path, content, 0o600))
	must.Do(s.t, os.Chown(path, nobody, nobody))
	return path
}

func contractZIP(t testing.TB, n int) []byte {
	t.Helper()
	return messagetest.ZIP(t, "bericht.xml", fmt.Sprintf(`<?xml version="1.0" encoding="UTF-8"?><Contractdocument><UN><UN_ZENDER>Zender %d</UN_ZENDER><UN_ONTVAN>Kantoor</UN_ONTVAN></UN></Contractdocument>`, n))
}

// box returns what the hub has received.
func (s *sender) box() map[string]bool {
	s.t.Helper()
	all := must.Get(s.hub.Messages(s.t.Context(), "", 100_000))(s.t)
	sums := map[string]bool{}
	for _, m := range all {
		if sums[m.SHA256] {
			s.t.Errorf("the hub has a message twice")
		}
		sums[m.SHA256] = true
	}
	return sums
}

type deliveryReport struct {
	Exit    int
	Summary struct {
		Delivered, Refused, Uncertain, Waiting int
		NotTaken                               int `json:"not_taken"`
	}
	Files []struct {
		File, ID, SHA256, Outcome, Reason string
		Status, Attempts                  int
	}
}

// report reads the latest report.
func (s *sender) report() deliveryReport {
	s.t.Helper()
	all, err := filepath.Glob(filepath.Join(s.dir, "outbox", "reports", "report-*.json"))
	if err != nil || len(all) == 0 {
		s.t.Fatalf("no report: %v", err)
	}
	newest := all[len(all)-1]
	raw := must.Get(os.ReadFile(newest))(s.t)
	var r deliveryReport
	must.Do(s.t, json.Unmarshal(raw, &r))
	return r
}

// TestDeliverNight delivers 250 files in one night, with refusals, losses and a restart of
// the hub: report, exit code and hub agree about every one.
func TestDeliverNight(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	const files, bad = 250, 5
	sums := map[string]string{} // by file
	for i := range files {
		name := fmt.Sprintf("bericht %03d é.zip", i)
		content := contractZIP(t, i)
		if i%50 == 7 {
			content = []byte(fmt.Sprint("geen zip ", i))
		}
		sums[s.file(name, content)] = ""
	}
	well := localhub.Fault{Times: 20} // requests without a fault
	s.hub.Faults().Set(localhub.EndpointTransaction, well, localhub.Fault{Status: 422, Times: 7},
		well, localhub.Fault{Body: localhub.BodyCut, Times: 3},
		well, localhub.Fault{Status: 503, RetryAfter: time.Second, Times: 2},
		well, localhub.Fault{Slow: localhub.Slow{Bytes: 1, Every: time.Hour}})
	cmd := s.command("deliver", filepath.Join(s.in, "*.zip"))
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	must.Do(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	must.Soon(t, func() (bool, any) {
		if len(ended) > 0 {
			t.Fatalf("it ended by itself: %v: %s", <-ended, errOut.String())
		}
		n := must.Get(s.hub.CountMessages(t.Context()))(t)
		return n >= 4*well.Times+3+1, n
	})
	must.Do(t, s.hub.Close()) // during an answer
	s.openHub()
	s.hub.Faults().Set(localhub.EndpointTransaction, well, localhub.Fault{Expired: true, Times: 1},
		well, localhub.Fault{Body: localhub.BodyHTML, Times: 3},
		well, localhub.Fault{Drop: true, Times: 3},
		well, localhub.Fault{Status: 500, Times: 6},
		well, localhub.Fault{Status: 409, Times: 1})
	<-ended
	must.Do(t, s.hub.Faults().Reset())

	r := s.report()
	code := cmd.ProcessState.ExitCode()
	line := fmt.Sprintf("%d aangeleverd · %d geweigerd · %d mogelijk aangeleverd · %d in de wacht\n",
		r.Summary.Delivered, r.Summary.Refused, r.Summary.Uncertain, r.Summary.Waiting)
	if code != 6 || r.Exit != code || out.String() != line || len(r.Files) != files {
		t.Errorf("exit %d, %d in the report with %d files, %q; want %q: %s", code, r.Exit, len(r.Files), out.String(), line, errOut.String())
	}
	there := s.box()
	count := map[string]int{}
	arrived := 0
	for _, f := range r.Files {
		count[f.Outcome]++
		if _, ours := sums[f.File]; !ours {
			t.Errorf("a file that is not ours: %s", f.File)
		}
		if there[f.SHA256] {
			arrived++
		}
		switch {
		case f.Outcome == "delivered" && there[f.SHA256] && f.Attempts >= 1:
		case f.Outcome == "refused" && !there[f.SHA256]:
		case f.Outcome == "uncertain" && f.Attempts == 1:
		default:
			t.Errorf("%s is called %s (%s, %d attempts), at the hub: %v", filepath.Base(f.File), f.Outcome, f.Reason, f.Attempts, there[f.SHA256])
		}
	}
	if count["delivered"] != r.Summary.Delivered || count["refused"] != r.Summary.Refused || count["uncertain"] != r.Summary.Uncertain || arrived != len(there) {
		t.Errorf("%v, %+v, %d of %d messages are in the report", count, r.Summary, arrived, len(there))
	}
	// 7 by the hub and 5 here; 3 truncated answers, 3 pages, 3 dropped, 1 conflict, and
	// the one in progress when the hub was restarted.
	if count["refused"] != bad+7 || count["uncertain"] != 11 || count["waiting"] != 0 {
		t.Errorf("%v", count)
	}

	// In the morning somebody checks the hub, and delivers the folder again.
	before := count["delivered"]
	for _, f := range r.Files {
		if f.Outcome == "uncertain" {
			how := "--again"
			if there[f.SHA256] {
				how = "--delivered"
				before++
			}
			if code, _, errOut := s.deliver("resolve", f.ID, how, "--note", "nagekeken"); code != 0 {
				t.Errorf("resolve: %d %s", code, errOut)
			}
		}
	}
	code, text, _ := s.deliver(s.in)
	want := fmt.Sprintf("%d aangeleverd · %d geweigerd · 0 mogelijk aangeleverd · 0 in de wacht · %d al eerder aangeleverd\n", files-bad-before, bad, before)
	if there = s.box(); code != 5 || text != want || len(there) != files-bad {
		t.Errorf("in the morning: exit %d, %q, %d messages", code, text, len(there))
	}
	for _, f := range s.report().Files {
		if (f.Outcome == "delivered") != there[f.SHA256] {
			t.Errorf("%s is called %s", filepath.Base(f.File), f.Outcome)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(s.dir, "outbox", "spool", "*")); len(left) != 7 { // the night's refused ones, kept 30 days
		t.Errorf("%d copies are left", len(left))
	}
}

// TestDeliverLargeInLittleMemory: 100 MB need at most 40 MB more than a small file.
func TestDeliverLargeInLittleMemory(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	peak := func(path string) int {
		t.Helper()
		cmd := s.command("deliver", path)
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		must.Do(t, cmd.Start())
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		// Poll: the figure that the system reports at the end
		// includes this program's own memory at the start.
		most := 0
		for tick := time.NewTicker(10 * time.Millisecond); ; {
			select {
			case <-tick.C:
				most = max(most, statusOf(cmd.Process.Pid, "VmHWM"))
			case err := <-ended:
				tick.Stop()
				if err != nil || most == 0 || !strings.Contains(out.String(), "1 aangeleverd") {
					t.Fatalf("%v, %d kB: %s", err, most, &out)
				}
				return most
			}
		}
	}
	idle := peak(s.file("klein.zip", contractZIP(t, 1)))
	const size = 100 << 20
	path := s.file("groot.zip", nil)
	f := must.Get(os.OpenFile(path, os.O_WRONLY, 0))(t)
	z := zip.NewWriter(f)
	w, err := z.Create("bericht.xml")
	if err == nil {
		_, err = w.Write([]byte("<Contractdocument><UN><UN_ZENDER>Z</UN_ZENDER><UN_ONTVAN>K</UN_ONTVAN></UN></Contractdocument>"))
	}
	if err == nil {
		w, err = z.CreateHeader(&zip.FileHeader{Name: "scan.tif", Method: zip.Store})
	}
	block := make([]byte, 1<<20)
	_, _ = rand.NewChaCha8([32]byte{7}).Read(block)
	for range size / len(block) {
		if err == nil {
			_, err = w.Write(block)
		}
	}
	must.Do(t, errors.Join(err, z.Close(), f.Close()))
	if above := float64(peak(path)-idle) / (1 << 10); above > 40 {
		t.Errorf("%.1f MB above idle", above)
	}
}

// deliversUnderWine checks that the Windows program delivers by patterns, which
// the shell there does not expand, returns its exit codes, and deletes its copies.
func deliversUnderWine(t *testing.T, p *winetest.Prefix, o *office, exe string) {
	t.Helper()
	in := t.TempDir()
	for i := range 8 {
		must.Do(t, os.WriteFile(filepath.Join(in, fmt.Sprintf("bericht %d é.zip", i)), contractZIP(t, i), 0o600))
	}
	deliver := func(args ...string) (string, int) {
		return p.Run(exe, append([]string{"deliver", "--profile", wineProfile, "--intermediary", "intermediary"}, args...)...)
	}
	out, code := deliver(winPath(in) + `\*.zip`)
	if code != 0 || !strings.Contains(out, "8 ") {
		t.Fatalf("exit %d: %s", code, out)
	}
	if n, err := o.hub.CountMessages(t.Context()); err != nil || n != 8 {
		t.Errorf("%d messages, %v", n, err)
	}
	must.Do(t, os.WriteFile(filepath.Join(in, "slecht.zip"), []byte("geen zip"), 0o600))
	if out, code := deliver(winPath(in)); code != 5 {
		t.Errorf("exit %d: %s", code, out)
	}
	if left, _ := filepath.Glob(filepath.Join(o.profile, "outbox", "spool", "*")); len(left) != 0 {
		t.Errorf("%d copies are left", len(left))
	}
}
