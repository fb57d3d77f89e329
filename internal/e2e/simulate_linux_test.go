package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/core/call"
	"wiebelt/internal/instance"
	"wiebelt/internal/simulate"
	"wiebelt/internal/softphone/registry"
	"wiebelt/internal/testutil/instancetest"
	"wiebelt/internal/testutil/logtest"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/storytest"
	"wiebelt/internal/testutil/xtest"
)

// receiver is as much of the resident as "wiebelt ring" needs.
type receiver struct{ told *storytest.Tracked }

func (e receiver) Ring(ev call.Event) error                             { return e.told.Receive(ev) }
func (e receiver) Peer(context.Context, instance.Hello, *instance.Conn) {}

// confirmed is a phone that waits for every event: a call that is still in the inbox could
// be overtaken by what the next program reports.
type confirmed struct {
	simulate.Softphone
	t    *testing.T
	told *storytest.Tracked
}

func (c confirmed) SendUpdate(ctx context.Context, n simulate.Update) error {
	before := c.told.Received()
	if err := c.Softphone.SendUpdate(ctx, n); err != nil {
		return err
	}
	c.told.Until(c.t, "the event has come", func() bool { return c.told.Received() > before })
	return nil
}

// TestSimulatedPrograms checks that every built-in scenario, played by the
// very program that phones run, gives the tracker what is specified for it.
func TestSimulatedPrograms(t *testing.T) {
	t.Parallel()
	bin := must.Get(binary())(t)
	for _, over := range []string{"command", "url", "twinkle"} {
		for _, s := range simulate.Builtin() {
			t.Run(over+"/"+s.ID, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				d := must.Get(profile.Find(dir))(t)
				told := storytest.New(t)
				instancetest.Serve(t, instance.Config{RunDir: d.Run, Version: "test"}, receiver{told})
				// A program that found us too slow has started a resident, which
				// ends when it sees us.
				xtest.NoneLeft(t, dir)
				p := must.Get(simulate.Open(t.Context(), over, simulate.Options{Exe: bin, Profile: dir}))(t)
				play := simulate.Play{Capabilities: registry.Of(over).Capabilities, Speed: 1e6, Repeat: 1, Prefix: "sim-", OnStep: func(s simulate.Step) { told.Set(s.At) }}
				must.Do(t, play.Run(t.Context(), confirmed{p, t, told}, s))
				want, got := storytest.Want(t, s, over), told.Lines()
				if strings.Join(got, "\n") != strings.Join(want, "\n") {
					t.Errorf("the tracker's story\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
				}
			})
		}
	}
}

// simulated is a "wiebelt simulate" that waits for the resident.
type simulated struct {
	simulate.Address
	over string
	cmd  *exec.Cmd
	log  *logtest.Buffer
}

// startSimulated starts a simulated phone that rings until hung up.
func startSimulated(t *testing.T, o *office, over, story string) *simulated {
	t.Helper()
	s := &simulated{over: over, log: &logtest.Buffer{}, cmd: o.wiebelt("simulate", "--over", over, "--scenario", "-", "--language", "en")}
	s.cmd.Stdin = strings.NewReader(story)
	s.cmd.Stderr = s.log
	out := must.Get(s.cmd.StdoutPipe())(t)
	must.Do(t, s.cmd.Start())
	t.Cleanup(func() {
		if s.cmd.ProcessState == nil {
			_ = s.cmd.Process.Kill()
			_ = s.cmd.Wait()
		}
	})
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &s.Address)
	}
	if err != nil || !s.Ready {
		t.Fatalf("%v: %s%s", err, line, s.log)
	}
	return s
}

// hangUp stops the phone as a user would, and checks that it exits successfully.
func (s *simulated) hangUp(t *testing.T) {
	t.Helper()
	must.Do(t, s.cmd.Process.Signal(syscall.SIGTERM))
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("the simulated phone: %v: %s", err, s.log)
	}
}

// setUp adds to an office's settings what the program prints for them: from the first table
// to the empty line, and its secret.
func (s *simulated) setUp(o *office) {
	o.t.Helper()
	o.Until("it has said all", func() bool { return strings.Contains(s.log.String(), "Waiting for Wiebelt") })
	_, rest, ok := strings.Cut(s.log.String(), "[[softphone]]")
	block, _, ok2 := strings.Cut(rest, "\n\n")
	if !ok || !ok2 {
		o.t.Fatalf("no settings in %s", s.log)
	}
	o.append("\n[[softphone]]" + block + "\n")
	if s.Secret != "" {
		o.runWith(s.Secret+"\n", "provision", "--softphone", "simulate-"+s.over, "--secret-stdin")
	}
}
