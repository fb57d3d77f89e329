package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"wiebelt/internal/localhub"
	"wiebelt/internal/testutil/messagetest"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/winetest"
)

// sender is a service account that delivers: a user without a home, on a server
// without a screen.
type sender struct {
	t   testing.TB
	bin string
	dir string // the profile
	in  string // where its files are
	hub *localhub.Hub
}

func newSender(t testing.TB) *sender {
	t.Helper()
	bin := must.Get(binary())(t)
	root := must.Get(os.MkdirTemp("", "wiebelt-sender-"))(t)
	t.Cleanup(func() { _ = os.RemoveAll(root) })
	s := &sender{t: t, bin: bin, dir: filepath.Join(root, "profile"), in: filepath.Join(root, "in"),
		hub: must.Get(localhub.Start(context.Background(), localhub.Config{}))(t)}
	t.Cleanup(func() { _ = s.hub.Close() })
	for _, dir := range []string{s.dir, s.in} {
		must.Do(t, os.Mkdir(dir, 0o700))
	}
	for _, dir := range []string{root, s.dir, s.in} {
		must.Do(t, os.Chown(dir, nobody, nobody))
	}
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
