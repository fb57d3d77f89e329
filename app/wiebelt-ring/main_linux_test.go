package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/core/call"
	"wiebelt/internal/instance"
	"wiebelt/internal/testutil/must"
)

// TestMain acts as the program itself if a test has copied
// this executable next to another one.
func TestMain(m *testing.M) {
	if exe, err := os.Executable(); err == nil && filepath.Base(exe) == "wiebelt-ring" {
		main()
		return
	}
	os.Exit(m.Run())
}

type calls chan call.Event

func (c calls) Ring(e call.Event) error {
	c <- e
	return nil
}

func (calls) Peer(context.Context, instance.Hello, *instance.Conn) {}

// TestHandsOver: if the running Wiebelt, or the one that we start, takes the call, nothing
// else is done; in any other case the whole program gets the same arguments, input and
// environment, and its exit code is ours.
func TestHandsOver(t *testing.T) {
	dir := t.TempDir()
	ours := must.Get(os.Executable())(t)
	program, whole := filepath.Join(dir, "wiebelt-ring"), filepath.Join(dir, "wiebelt")
	if err := errors.Join(copyFile(ours, program),
		os.WriteFile(whole, []byte("#!/bin/sh\ncase \"$*\" in *--background) echo \"$@\" > \"$0.started\";; *) echo \"$@\"; cat; exit 7; esac\n"), 0o700)); err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(dir, "profile")
	run := func(input string, env []string, args ...string) (code int, out string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), program, args...)
		cmd.Stdin, cmd.Env = strings.NewReader(input), append(os.Environ(), env...)
		b, err := cmd.CombinedOutput()
		if x := (*exec.ExitError)(nil); err != nil && !errors.As(err, &x) {
			t.Fatal(err)
		}
		return cmd.ProcessState.ExitCode(), string(b)
	}
	twinkle := []string{"TWINKLE_TRIGGER=in_call", "SIP_FROM=<sip:0698760011@pbx.example>", "SIP_CALL_ID=a"}
	all := []struct {
		input string
		env   []string
		args  []string
		whole string // what the whole program is asked
		want  call.Event
		says  string
	}{
		{"", nil, []string{"--profile", folder, "--", "0698760011", "J.", "Jansen"}, "ring --profile " + folder + " -- 0698760011 J. Jansen\n", call.Event{State: call.Ringing, Number: "0698760011", Name: "J. Jansen"}, ""},
		{"", nil, []string{"ring", "--state", "ended", "--profile", folder, "--id", "7"}, "ring --state ended --profile " + folder + " --id 7\n", call.Event{State: call.Ended, ID: "7"}, ""},
		{"number=0698760011\nstate=answered\n", nil, []string{"--stdin", "--profile", folder}, "ring --stdin --profile " + folder + "\nnumber=0698760011\nstate=answered\n", call.Event{State: call.Answered, Number: "0698760011"}, ""},
		{"", nil, []string{"--language", "en", "--profile", folder, "ring", "--", "0698760011"}, "--language en --profile " + folder + " ring -- 0698760011\n", call.Event{State: call.Ringing, Number: "0698760011"}, ""},
		{"", twinkle, []string{"--twinkle", "--profile", folder}, "ring --twinkle --profile " + folder + "\n", call.Event{State: call.Ringing, Number: "sip:0698760011@pbx.example", ID: "a"}, "action=continue\n"},
		{"", nil, []string{"open-url", "--profile", folder, "--", "wiebelt:call?number=0698760011"}, "open-url --profile " + folder + " -- wiebelt:call?number=0698760011\n", call.Event{State: call.Ringing, Number: "0698760011"}, ""},
	}
	t.Setenv("DISPLAY", "") // where Wiebelt cannot run
	t.Setenv("WAYLAND_DISPLAY", "")
	for _, c := range all {
		if code, out := run(c.input, c.env, c.args...); code != 7 || out != c.whole {
			t.Errorf("%v with nobody there: exit %d, %q", c.args, code, out)
		}
	}
	if code, out := run("", []string{"DISPLAY=:9"}, all[0].args...); code != 0 || out != "" {
		t.Errorf("a Wiebelt is started: exit %d, %q", code, out)
	}
	must.Soon(t, func() (bool, any) {
		b, _ := os.ReadFile(whole + ".started")
		return string(b) == "--profile "+folder+" run --background\n", string(b)
	})
	must.Do(t, os.Chmod(whole, 0o600))
	if code, out := run("", append([]string{"DISPLAY=:9", "LANG=nl"}, twinkle...), all[4].args...); code != 1 || !strings.Contains(out, "wacht tot Wiebelt draait") || !strings.Contains(out, all[4].says) {
		t.Errorf("nothing can be started: exit %d, %q", code, out)
	}
	taken := running(t, folder)
	for _, waited := range []call.Event{all[0].want, all[4].want} {
		if got := <-taken; got.Number != waited.Number || got.ID != waited.ID {
			t.Errorf("what waited for it: %+v", got)
		}
	}
	must.Do(t, os.Chmod(whole, 0o700))
	for _, c := range all {
		code, out := run(c.input, c.env, c.args...)
		if code != 0 || out != c.says {
			t.Fatalf("%v: exit %d, %q", c.args, code, out)
		}
		got := <-taken
		if got.At.IsZero() {
			t.Errorf("%v: no time", c.args)
		}
		if got = (call.Event{State: got.State, Number: got.Number, Name: got.Name, ID: got.ID}); got != c.want {
			t.Errorf("%v: %+v", c.args, got)
		}
	}
	for _, args := range [][]string{{"--hepl"}, {"--help"}, {"--state", "soon"}, {"open-url", "x", "--", "wiebelt:call?number=0698760011"}} {
		if code, out := run("", nil, args...); code != 7 || !strings.Contains(out, args[len(args)-1]) {
			t.Errorf("%v: exit %d, %q", args, code, out)
		}
	}
}

func running(t *testing.T, folder string) calls {
	t.Helper()
	d := must.Get(profile.Find(folder))(t)
	one := must.Get(instance.Acquire(instance.Config{RunDir: d.Run}))(t)
	taken := make(calls, 1)
	ctx, stop := context.WithCancel(t.Context())
	var serving sync.WaitGroup
	serving.Go(func() { _ = one.Serve(ctx, taken) })
	t.Cleanup(func() {
		stop()
		serving.Wait()
		_ = one.Close()
	})
	return taken
}

func copyFile(from, to string) error {
	b, err := os.ReadFile(from)
	return errors.Join(err, os.WriteFile(to, b, 0o700))
}
