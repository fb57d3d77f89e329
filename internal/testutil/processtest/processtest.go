// Package processtest starts the test program again as another process: in a role, which
// a test may kill, or for one test alone.
package processtest

import (
	"bufio"
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
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

// Alone reports whether this process runs the calling test alone. Otherwise it runs the test
// in such a process, in which it must pass; prepare may change that process's environment.
func Alone(t *testing.T, prepare func(*exec.Cmd)) bool {
	t.Helper()
	if os.Getenv(aloneEnv) == t.Name() {
		return true
	}
	only := "^" + strings.ReplaceAll(regexp.QuoteMeta(t.Name()), "/", "$/^") + "$"
	limit := flag.Lookup("test.timeout").Value.String()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.v", "-test.run="+only, "-test.timeout="+limit)
	cmd.Env = os.Environ()
	prepare(cmd)
	cmd.Env = append(cmd.Env, aloneEnv+"="+t.Name())
	out, err := cmd.CombinedOutput()
	if t.Logf("%s", out); err != nil || !bytes.Contains(out, []byte("--- PASS: "+t.Name())) {
		t.Error("alone: ", err)
	}
	return false
}

// Within makes a command the last arguments of another one, such as unshare.
func Within(t testing.TB, cmd *exec.Cmd, outer ...string) {
	t.Helper()
	cmd.Path, cmd.Args = must.Get(exec.LookPath(outer[0]))(t), append(outer, cmd.Args...)
}

// Process is the test program in a role.
type Process struct {
	Input io.WriteCloser // ends when the process that runs the tests ends
	Lines <-chan string  // what it prints; closed when it has ended
	cmd   *exec.Cmd
	err   error // how it ended
}

// Start starts the test program in a role.
func Start(t testing.TB, role string, args ...string) *Process {
	t.Helper()
	cmd := Command(context.Background(), role, args...)
	cmd.Stderr = os.Stderr
	return StartCommand(t, cmd)
}

// StartCommand starts a process that is killed when the test ends, or when no line
// of it was read for must.Patience.
func StartCommand(t testing.TB, cmd *exec.Cmd) *Process {
	t.Helper()
	input, output := must.Get(cmd.StdinPipe())(t), must.Get(cmd.StdoutPipe())(t)
	must.Do(t, cmd.Start())
	lines := make(chan string)
	p := &Process{Input: input, Lines: lines, cmd: cmd}
	t.Cleanup(func() {
		p.Kill()
		_ = p.Wait()
	})
	go func() {
		defer close(lines)
		silent := time.AfterFunc(must.Patience, p.Kill)
		r := bufio.NewReader(output)
		// A line that a kill cuts off is not passed on: it confirms nothing.
		for line, err := r.ReadString('\n'); err == nil; line, err = r.ReadString('\n') {
			lines <- strings.TrimSpace(line)
			silent.Reset(must.Patience)
		}
		silent.Stop()
		p.err = cmd.Wait()
	}()
	return p
}

// Kill ends the process at once, like a power failure. It may have ended already.
func (p *Process) Kill() { _ = p.cmd.Process.Kill() }

// Wait discards the remaining lines and returns how the process ended.
func (p *Process) Wait() error {
	for range p.Lines {
	}
	return p.err
}
