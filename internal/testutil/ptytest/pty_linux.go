package ptytest

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"wiebelt/internal/testutil/must"
)

// Terminal is a command in a terminal. It is not safe for concurrent use.
type Terminal struct {
	t      testing.TB
	cmd    *exec.Cmd
	master *os.File
	read   chan string // the command's output; closed when it has ended
	shown  strings.Builder
	seen   int // how much of shown Until has passed
}

// Start starts cmd with the terminal as its input, both outputs and its
// controlling terminal. The command is killed when the test ends.
func Start(t testing.TB, cmd *exec.Cmd) *Terminal {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	must.Do(t, err)
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)
	}
	must.Do(t, err)
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	must.Do(t, err)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	err = cmd.Start()
	_ = slave.Close() // the command has its own copy
	must.Do(t, err)
	x := &Terminal{t: t, cmd: cmd, master: master, read: make(chan string, 64)}
	go func() { // ends when nobody has the terminal open any more
		defer close(x.read)
		for buf := make([]byte, 4096); ; {
			n, err := master.Read(buf)
			x.read <- string(buf[:n])
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		if cmd.ProcessState == nil {
			_ = cmd.Process.Kill()
			x.Wait()
		}
		_ = master.Close()
	})
	return x
}

// Until waits until the terminal shows words, after those that it waited for before.
func (x *Terminal) Until(words string) {
	x.t.Helper()
	late := time.After(must.Patience)
	for {
		if i := strings.Index(x.shown.String()[x.seen:], words); i >= 0 {
			x.seen += i + len(words)
			return
		}
		select {
		case s, ok := <-x.read:
			if !ok {
				x.t.Fatalf("%q never came: %q", words, x.shown.String())
			}
			x.shown.WriteString(s)
		case <-late:
			x.t.Fatalf("%q never came: %q", words, x.shown.String())
		}
	}
}

// Type types keys; Enter is "\r".
func (x *Terminal) Type(keys string) {
	x.t.Helper()
	must.Get(x.master.WriteString(keys))(x.t)
}

// Hidden reports whether echo is off.
func (x *Terminal) Hidden() bool {
	x.t.Helper()
	state := must.Get(unix.IoctlGetTermios(int(x.master.Fd()), unix.TCGETS))(x.t)
	return state.Lflag&unix.ECHO == 0
}

// Wait waits for the command to end and returns everything that the terminal showed.
func (x *Terminal) Wait() (shown string, code int) {
	x.t.Helper()
	for s := range x.read {
		x.shown.WriteString(s)
	}
	_ = x.cmd.Wait() // its exit code is returned
	return x.shown.String(), x.cmd.ProcessState.ExitCode()
}
