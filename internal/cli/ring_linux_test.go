package cli

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/core/call"
	"wiebelt/internal/guide"
	"wiebelt/internal/instance"
	"wiebelt/internal/softphone/scheme"
	"wiebelt/internal/testutil/instancetest"
	"wiebelt/internal/testutil/linktest"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/processtest"
	"wiebelt/internal/text"
)

// killer is a resident that terminates the calling program before it takes the call.
type killer struct {
	program chan *os.Process
	taken   chan call.Event
}

func (k *killer) Ring(e call.Event) error {
	p := <-k.program
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		if err := p.Signal(s); err != nil {
			return err
		}
	}
	k.taken <- e
	return nil
}

func (k *killer) Peer(context.Context, instance.Hello, *instance.Conn) {}

// TestHandOverIsFinished checks that a phone terminating the
// program it started does not lose the call.
func TestHandOverIsFinished(t *testing.T) {
	dir := t.TempDir()
	d := must.Get(profile.Find(dir))(t)
	k := &killer{make(chan *os.Process, 1), make(chan call.Event, 1)}
	instancetest.Serve(t, instance.Config{RunDir: d.Run, Version: "test", Build: "test"}, k)
	var said bytes.Buffer
	cmd := process(t, "ring", "--profile", dir, "--no-start", "--", "0698760011")
	cmd.Stderr = &said
	must.Do(t, cmd.Start())
	k.program <- cmd.Process
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v: %s", err, &said)
	}
	if e := <-k.taken; e.Number != "0698760011" {
		t.Error("another call was taken")
	}
}

// TestRecipeScript checks that the recipe's script for phones that put the call into the
// environment hands it over without the caller in any argument.
func TestRecipeScript(t *testing.T) {
	dir := t.TempDir()
	exe := filepath.Join(dir, "wiebelt")
	program := "#!/bin/sh\n" + processtest.RoleEnv + "=wiebelt exec '" + os.Args[0] + "' \"$@\"\n"
	must.Do(t, os.WriteFile(exe, []byte(program), 0o700))
	r, _ := guide.Find(text.Dutch, "any-program")
	blocks := r.Blocks()
	script := must.Get(blocks[len(blocks)-1].Fill(guide.Values{Ring: exe, Profile: dir}))(t)
	if strings.Contains(script, inventedNumber) || strings.Contains(script, "--name") || !strings.Contains(script, "$NUMBER") {
		t.Errorf("arguments tell: %s", script)
	}
	events := running(t, dir)
	cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", script)
	cmd.Env = append(os.Environ(), "NUMBER="+inventedNumber, "WIEBELT_NAME="+inventedName)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if e := events.next(t); e.Number != inventedNumber || e.Name != inventedName || e.State != call.Ringing {
		t.Errorf("%+v", e)
	}
}

// TestRingWithoutScreen checks that where Wiebelt cannot start, the phone's program
// reports it and the call waits for a Wiebelt that can.
func TestRingWithoutScreen(t *testing.T) {
	t.Setenv("DISPLAY", "")
	t.Setenv("WAYLAND_DISPLAY", "")
	dir := t.TempDir()
	for _, args := range [][]string{{"ring", "--profile", dir, "--", "0698760011"}, {"open-url", "--profile", dir, "--", "wiebelt:call?number=0698760012"}} {
		if s := exits(t, exitNotRunning, "", args...).complains("DISPLAY").hides("069876"); s.out != "" {
			t.Errorf("%s: %s", args[0], s.out)
		}
	}
	events := running(t, dir)
	for _, number := range []string{"0698760011", "0698760012"} {
		if e := events.next(t); e.Number != number {
			t.Errorf("%+v, want %s", e, number)
		}
	}
}

// TestLinksAsArguments checks that only a valid link acts; any
// other exits with code 2 and does nothing.
func TestLinksAsArguments(t *testing.T) {
	dir := t.TempDir()
	d := must.Get(profile.Find(dir))(t)
	must.Do(t, d.Make(), instance.MarkQuit(instance.Config{RunDir: d.Run}))
	all := slices.DeleteFunc(linktest.URLs(), func(l string) bool { return strings.Contains(l, "\x00") }) // no argument has NUL
	for _, l := range all {
		want := exitUsage
		if _, err := scheme.Parse(l); err == nil {
			want = exitNotRunning // accepted, but the user has quit, so nothing is started
		}
		exits(t, want, "", "open-url", "--profile", dir, "--", l)
	}
	// More, fewer or other arguments are not a link.
	const good = "wiebelt:call?number=0698760011"
	for _, args := range [][]string{{}, {good}, {"--", good, good}, {"--", good, "--profile", dir}, {"--profile", dir, good}, {"--profile", "relative", "--", good}, {"--profile", `\\evil\share`, "--", good},
		{"--profile", "//evil/share", "--", good}, {"--profile=" + dir, "--", good}, {"--help", "--", good}, {"--", "--", good}, {"-", good}, {"--no-start", "--", good}, {"--", "--profile", dir, good}} {
		exits(t, exitUsage, "", append([]string{"open-url"}, args...)...)
	}
	// After "--", ring accepts a number and a name; they are never flags, and never an error.
	for _, l := range append(all, "--help", "--state=ended", "-h", "--profile", "--no-start") {
		args := []string{"--state", "ringing", "--", l, l}
		if !strings.HasPrefix(l, "-") { // a flag value that looks like a flag is a mistake in the recipe
			args = append([]string{"--name", l}, args...)
		}
		exits(t, exitNotRunning, "", append([]string{"ring", "--no-start", "--profile", dir}, args...)...)
	}
	if left, _ := os.ReadDir(filepath.Join(d.Run, "inbox")); len(left) != 0 {
		t.Errorf("%d calls were laid by", len(left))
	}
}
