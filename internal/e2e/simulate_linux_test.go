package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/core/call"
	"wiebelt/internal/instance"
	"wiebelt/internal/simulate"
	"wiebelt/internal/softphone/registry"
	"wiebelt/internal/store/history"
	"wiebelt/internal/testutil/instancetest"
	"wiebelt/internal/testutil/logtest"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/storytest"
	"wiebelt/internal/testutil/xtest"
)

// receiver is as much of the resident as "wiebelt ring" needs.
type receiver struct{ told *storytest.Tracked }

func (e receiver) Ring(ev call.Event) error                             { return e.told.Take(ev) }
func (e receiver) Peer(context.Context, instance.Hello, *instance.Conn) {}

// confirmed is a phone that waits for every event: a call that is still in the inbox could
// be overtaken by what the next program reports.
type confirmed struct {
	simulate.Softphone
	t    *testing.T
	told *storytest.Tracked
}

func (c confirmed) Tell(ctx context.Context, n simulate.Update) error {
	before := c.told.Taken()
	if err := c.Softphone.Tell(ctx, n); err != nil {
		return err
	}
	c.told.Until(c.t, "the event has come", func() bool { return c.told.Taken() > before })
	return nil
}

// TestSimulatedPrograms: every built-in scenario, played by the very program that phones
// run, gives the tracker what is specified for it.
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
				play := simulate.Play{Can: registry.Of(over).Can, Speed: 1e6, Repeat: 1, Prefix: "sim-", OnStep: func(s simulate.Step) { told.Set(s.At) }}
				must.Do(t, play.Run(t.Context(), confirmed{p, t, told}, s))
				want, got := storytest.Want(t, s.ID, over), told.Lines()
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

// hangUp stops it like a user does, and it exits successfully.
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

// TestSimulatedPhones: the resident, configured only with what "wiebelt simulate" prints,
// connects to each kind of phone; the calls have cards while they ring, and are in the
// history with their contact, and with their end once hung up.
func TestSimulatedPhones(t *testing.T) {
	t.Parallel()
	o := prepare(t, "[card]\nafter_call = \"0s\"")
	phones := map[string]*simulated{}
	number := func(over string) string { return fmt.Sprintf("+316987660%02d", slices.Index(registry.Links(), over)) }
	for _, over := range registry.Links() {
		k := vries
		k.Contact.ID, k.Numbers = "c-"+over, []string{number(over)}
		must.Get(o.hub.AddInvented(t.Context(), k))(t)
		s := startSimulated(t, o, over, fmt.Sprintf("0 ring a number=%q line=\"020 765 4321\" name=\"Iemand Anders\"\n+3600 end a\n", k.Numbers[0]))
		s.setUp(o)
		phones[over] = s
	}
	o.Move(1, 1) // a card under the pointer stays
	o.start()
	var all []history.Entry
	is := func(what string, ok func(history.Entry) bool) {
		t.Helper()
		o.Until(what, func() bool {
			all = callsOf(t, o)
			return len(all) == len(phones) && !slices.ContainsFunc(all, func(e history.Entry) bool { return !ok(e) })
		}, func() []any { return []any{fmt.Sprintf("%+v", all)} })
	}
	is("every call with its contact", func(e history.Entry) bool {
		return e.Number == number(e.Kind) && e.ContactID == "c-"+e.Kind && e.Ended.IsZero()
	})
	o.Until("cards", func() bool { return !o.empty() })
	for _, s := range phones {
		s.hangUp(t)
	}
	is("the end of every call", func(e history.Entry) bool { return e.Result != "" && !e.Ended.IsZero() && e.Answered.IsZero() })
	o.Until("no card", o.empty)
}
