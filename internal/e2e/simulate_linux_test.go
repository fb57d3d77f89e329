package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/core/call"
	"wiebelt/internal/instance"
	"wiebelt/internal/simulate"
	"wiebelt/internal/softphone/registry"
	"wiebelt/internal/store/history"
	"wiebelt/internal/testutil/logtest"
	"wiebelt/internal/testutil/storytest"
	"wiebelt/internal/testutil/xtest"
)

// ear is the resident as far as "wiebelt ring" knows it.
type ear struct{ told *storytest.Tracked }

func (e ear) Ring(ev call.Event) error                             { return e.told.Take(ev) }
func (e ear) Peer(context.Context, instance.Hello, *instance.Conn) {}

// awaited is a phone whose every event is waited for: a call that lies in the
// inbox for a moment could be overtaken by what the next program says.
type awaited struct {
	simulate.Softphone
	t    *testing.T
	told *storytest.Tracked
}

func (c awaited) Tell(ctx context.Context, n simulate.News) error {
	before := c.told.Taken()
	if err := c.Softphone.Tell(ctx, n); err != nil {
		return err
	}
	c.told.Until(c.t, "the event has come", func() bool { return c.told.Taken() > before })
	return nil
}

// TestSimulatedPrograms: every built-in scenario, played by the program itself
// that phones run, is to the tracker what is written down for it.
func TestSimulatedPrograms(t *testing.T) {
	t.Parallel()
	bin, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	for _, over := range []string{"command", "url", "twinkle"} {
		for _, s := range simulate.Builtin() {
			t.Run(over+"/"+s.ID, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				d, err := profile.Find(dir)
				if err != nil {
					t.Fatal(err)
				}
				cfg := instance.Config{RunDir: d.Run, Version: "test"}
				i, err := instance.Acquire(cfg)
				if err != nil {
					t.Fatal(err)
				}
				told := storytest.New(t)
				ctx, cancel := context.WithCancel(context.Background())
				served := make(chan struct{})
				go func() { defer close(served); _ = i.Serve(ctx, ear{told}) }()
				t.Cleanup(func() { cancel(); <-served; _ = i.Close() })
				// A program that found us too slow has started a resident, which goes
				// as long as it sees us.
				xtest.NoneLeft(t, dir)
				p, err := simulate.Open(t.Context(), over, simulate.Options{Exe: bin, Profile: dir})
				if err != nil {
					t.Fatal(err)
				}
				play := simulate.Play{Can: registry.Of(over).Can, Speed: 1e6, Repeat: 1, Prefix: "sim-", Said: func(s simulate.Step) { told.Set(s.At) }}
				if err := play.Run(t.Context(), awaited{p, t, told}, s); err != nil {
					t.Fatal(err)
				}
				want, got := storytest.Want(t, s.ID, over), told.Lines()
				if strings.Join(got, "\n") != strings.Join(want, "\n") {
					t.Errorf("the tracker's story\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
				}
			})
		}
	}
}

// simulated is "wiebelt simulate" that waits for the resident.
type simulated struct {
	simulate.Address
	cmd *exec.Cmd
	log *logtest.Buffer
}

// startSimulated starts a simulated phone that rings until it is hung up.
func startSimulated(t *testing.T, o *office, over, story string) *simulated {
	t.Helper()
	s := &simulated{log: &logtest.Buffer{}, cmd: o.wiebelt("simulate", "--over", over, "--scenario", "-", "--language", "en")}
	s.cmd.Stdin = strings.NewReader(story)
	s.cmd.Stderr = s.log
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
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

// hangUp stops it as a person does, and it ends well.
func (s *simulated) hangUp(t *testing.T) {
	t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("the simulated phone: %v: %s", err, s.log)
	}
}

// setUp puts into an office's settings what the program says should be put there:
// from the first table to the empty line.
func (s *simulated) setUp(o *office) {
	o.t.Helper()
	o.Until("it has said all", func() bool { return strings.Contains(s.log.String(), "Waiting for Wiebelt") })
	_, rest, ok := strings.Cut(s.log.String(), "[[softphone]]")
	block, _, ok2 := strings.Cut(rest, "\n\n")
	if !ok || !ok2 {
		o.t.Fatalf("no settings in %s", s.log)
	}
	o.append("\n[[softphone]]" + block + "\n")
}

// TestSimulatedPhones: the resident, set up with nothing but what "wiebelt
// simulate" says, connects to each kind of phone; the call is on the card with
// its contact while it rings, and in the history once it was hung up.
func TestSimulatedPhones(t *testing.T) {
	t.Parallel()
	for over, line := range map[string]string{"bria": "", "baresip": "sip:0207654321@127.0.0.1", "linphone": "", "ari": "0207654321", "wazo": "0207654321", "3cx": "0207654321"} {
		t.Run(over, func(t *testing.T) {
			o := prepare(t, "")
			s := startSimulated(t, o, over, "0 ring a number=\"06 98760011\" line=\"020 765 4321\" name=\"Iemand Anders\"\n+3600 end a\n")
			s.setUp(o)
			if s.Secret != "" {
				cmd := o.wiebelt("provision", "--softphone", "simulate-"+over, "--secret-stdin")
				cmd.Stdin = strings.NewReader(s.Secret + "\n")
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("provision: %v: %s", err, out)
				}
			}
			o.start()
			o.shows("a card by the link", foundCard(t, "0698760011", line, vries.Contact))
			s.hangUp(t)
			o.Until("no card", o.empty)
			var all []history.Entry
			o.Until("the call in the history", func() bool {
				all = callsOf(t, o)
				return len(all) == 1 && all[0].Result != ""
			}, func() []any { return []any{fmt.Sprintf("%+v", all)} })
			if e := all[0]; e.Kind != over || e.Number != "+31698760011" || e.ContactID == "" || e.Ended.IsZero() || !e.Answered.IsZero() {
				t.Errorf("in the history: %+v", e)
			}
		})
	}
}

// TestSimulateToTheResident: without any settings, a story is played to the
// running Wiebelt by each way in that needs none.
func TestSimulateToTheResident(t *testing.T) {
	t.Parallel()
	o := newOffice(t, "")
	link := o.wiebelt("simulate", "--over", "url", "--scenario", "-", "--speed", "20", "--language", "en")
	link.Stdin = strings.NewReader("0 ring a number=\"06 98760012\" name=Jan\n+5 end a\n")
	out, err := link.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "does not tell: that a call is over, names.") {
		t.Fatalf("%v: %s", err, out)
	}
	o.Until("a card of the link", func() bool { return !o.empty() })
	for n, over := range []string{"websocket", "http", "command", "twinkle"} {
		began := time.Now()
		out, err := o.wiebelt("simulate", "--over", over, "--scenario", "callback", "--speed", "20", "--language", "en").CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v: %s", over, err, out)
		}
		if took := time.Since(began); took < 2*time.Second {
			t.Errorf("%s: played in %v", over, took)
		}
		told := strings.Contains(string(out), "A phone of this kind does not tell")
		if !strings.Contains(string(out), "Playing: The same caller") || !strings.Contains(string(out), "Done.") || told == (n < 2) {
			t.Errorf("%s said\n%s", over, out)
		}
		// A link leaves nothing in the history unless somebody clicks.
		o.Until("both calls in the history", func() bool { return len(callsOf(t, o)) == 2*(n+1) }, func() []any { return []any{over, len(callsOf(t, o)), "calls"} })
	}
}
