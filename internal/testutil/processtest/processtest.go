// Package processtest starts the test program again as another process: in a role, which
// a test may kill, or for one test alone.
package processtest

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"wiebelt/internal/testutil/must"
)

// RoleEnv names the environment variable that says which role a process plays.
const RoleEnv = "WIEBELT_TEST_ROLE"

// Roles are what a test program can be in another process. An error that ends
// a test ends the process with exit code 1.
type Roles map[string]func(t must.Test, args []string)

var known Roles

// Main plays the role that the process was started in and exits. It returns in
// the process that runs the tests; call it first in TestMain.
func Main(roles Roles) {
	known = roles
	if name := os.Getenv(RoleEnv); name != "" {
		roles[name](player{}, os.Args[1:])
		os.Exit(0)
	}
}

// player is the test of a role.
type player struct{}

func (player) Helper() {}

func (player) Fatal(why ...any) {
	fmt.Fprintln(os.Stderr, why...)
	os.Exit(1)
}

// Command returns a command that runs the test program in a role.
func Command(ctx context.Context, role string, args ...string) *exec.Cmd {
	if known[role] == nil {
		panic("Main does not know the role " + role) // the process would run the tests again
	}
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Env = append(os.Environ(), RoleEnv+"="+role)
	return cmd
}

// aloneEnv names the environment variable with the name of the test that a process runs alone.
const aloneEnv = "WIEBELT_TEST_ALONE"

// afterAlone is how much of its own time limit a test keeps to report what its process said.
const afterAlone = 20 * time.Second

// Alone reports whether this process runs the calling test alone. Otherwise it runs the test
// in such a process, in which it must pass and may not be skipped. prepare, which may be nil,
// may change that process's Path, Args, Env and SysProcAttr. The process ends with this one on Linux.
func Alone(t *testing.T, prepare func(*exec.Cmd)) bool {
	t.Helper()
	if os.Getenv(aloneEnv) == t.Name() {
		return true
	}
	only := "^" + strings.ReplaceAll(regexp.QuoteMeta(t.Name()), "/", "$/^") + "$"
	limit := time.Duration(0) // none
	if end, limited := t.Deadline(); limited {
		limit = max(time.Until(end)-afterAlone, time.Second)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.v", "-test.run="+only, "-test.timeout="+limit.String())
	cmd.Env, cmd.WaitDelay = os.Environ(), afterAlone/2 // for what it started and did not end
	if prepare != nil {
		prepare(cmd)
	}
	cmd.Env = append(cmd.Env, aloneEnv+"="+t.Name())
	runtime.LockOSThread() // as endWithUs needs
	defer runtime.UnlockOSThread()
	endWithUs(cmd)
	out, err := cmd.CombinedOutput()
	if t.Logf("%s", out); err != nil {
		t.Error("alone: ", err)
	} else if !bytes.Contains(out, []byte("--- PASS: "+t.Name()+" (")) {
		t.Error("alone: it was skipped")
	}
	return false
}

// Inside makes a command the last arguments of another one, such as unshare.
func Inside(t testing.TB, cmd *exec.Cmd, outer ...string) {
	t.Helper()
	cmd.Path, cmd.Args = must.Get(exec.LookPath(outer[0]))(t), append(outer, cmd.Args...)
}

// Process is the test program in a role.
type Process struct {
	Input io.WriteCloser // ends when the process that runs the tests ends
	Lines <-chan string  // what it prints; closed when it has ended
	cmd   *exec.Cmd
	limit *time.Timer // kills it; stopped while nobody waits for it
	over  atomic.Bool // the limit
	err   error       // how it ended
}

// patience is how long a process may be silent while a test waits for it.
var patience = must.Patience

// Start starts the test program in a role. It is killed when no line of it was read for
// must.Patience.
func Start(t testing.TB, role string, args ...string) *Process {
	t.Helper()
	cmd := Command(context.Background(), role, args...)
	cmd.Stderr = os.Stderr
	p := StartCommand(t, cmd)
	p.limit.Reset(patience)
	return p
}

// StartCommand starts a process that is killed when the test ends. It may be silent until Wait.
func StartCommand(t testing.TB, cmd *exec.Cmd) *Process {
	t.Helper()
	input, output := must.Get(cmd.StdinPipe())(t), must.Get(cmd.StdoutPipe())(t)
	must.Do(t, cmd.Start())
	lines := make(chan string)
	p := &Process{Input: input, Lines: lines, cmd: cmd}
	p.limit = time.AfterFunc(time.Hour, func() {
		p.over.Store(true)
		p.Kill()
	})
	p.limit.Stop()
	t.Cleanup(func() {
		p.Kill()
		_ = p.Wait()
	})
	go func() {
		defer close(lines)
		r := bufio.NewReader(output)
		// A line that a kill cuts off is not passed on: it confirms nothing.
		for line, err := r.ReadString('\n'); err == nil; line, err = r.ReadString('\n') {
			lines <- strings.TrimSpace(line)
			if p.limit.Stop() {
				p.limit.Reset(patience)
			}
		}
		if p.err = cmd.Wait(); p.err != nil && p.over.Load() {
			p.err = fmt.Errorf("killed: silent for %v: %w", patience, p.err)
		}
	}()
	return p
}

// Kill ends the process at once, like a power failure. It may have ended already.
func (p *Process) Kill() { _ = p.cmd.Process.Kill() }

// Wait discards the remaining lines and returns how the process ended. It kills a process that is
// silent for must.Patience.
func (p *Process) Wait() error {
	p.limit.Reset(patience)
	defer p.limit.Stop()
	for range p.Lines {
	}
	return p.err
}
