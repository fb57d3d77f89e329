// Package phonetest runs real softphones (baresip, Linphone, Twinkle) and a real
// caller, sipp, for tests. They all use loopback, with their own ports and folders,
// and each is ended with the test by its own process id. There is one goroutine for
// each running program, which ends with it.
package phonetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"wiebelt/internal/testutil/logtest"
	"wiebelt/internal/testutil/must"
)

// startTime is how long a program may take to become ready on a busy machine.
const startTime = 60 * time.Second

// Baresip is a running softphone with the account 101.
type Baresip struct {
	SIP     string // host:port where it takes calls
	Control string // host:port of ctrl_tcp
	console string // host:port for typing keys
	dir     string
	process *process
}

// phones maps a SIP address to the phone that listens on it, so
// that a call to it can be answered there.
var phones sync.Map // string -> *Baresip

// StartBaresip starts a softphone and waits until it is ready. It ends with the
// test.
func StartBaresip(t testing.TB) (sipAddr, ctrlAddr string) {
	b := New(t)
	return b.SIP, b.Control
}

// New is StartBaresip for tests that also stop or restart the phone.
func New(t testing.TB) *Baresip {
	t.Helper()
	var b *Baresip
	started(t, func() error {
		sip, ctl, cons := freePort(t, 2), freePort(t, 1), freePort(t, 1)
		b = &Baresip{SIP: local(sip), Control: local(ctl), console: local(cons), dir: t.TempDir()}
		for name, content := range map[string]string{"contacts": "", "accounts": "<sip:101@127.0.0.1>;regint=0;answermode=manual\n",
			"config": fmt.Sprintf(config, b.SIP, modules(t), b.Control, b.console)} {
			must.Do(t, os.WriteFile(filepath.Join(b.dir, name), []byte(content), 0o600))
		}
		return b.start()
	})
	phones.Store(b.SIP, b)
	t.Cleanup(func() {
		phones.Delete(b.SIP)
		b.Stop()
	})
	return b
}

// started starts a program and retries if that fails: a port that
// is free now may be in use a moment later.
func started(t testing.TB, start func() error) {
	t.Helper()
	for range 5 {
		err := start()
		if err == nil {
			return
		}
		t.Logf("trying other ports: %v", err)
	}
	t.Fatal("it did not start")
}

// The sound goes nowhere; everything listens on loopback only.
const config = `sip_listen       %s
net_interface    127.0.0.1
audio_player     aubridge,nil
audio_source     aubridge,nil
audio_alert      aubridge,nil
module_path      %s
module           g711.so
module           aubridge.so
module           cons.so
module_app       account.so
module_app       menu.so
module_app       ctrl_tcp.so
ctrl_tcp_listen  %s
cons_listen      %s
`

func modules(t testing.TB) string {
	t.Helper()
	for _, dir := range [...]string{"/usr/lib/baresip/modules", "/usr/local/lib/baresip/modules"} {
		if _, err := os.Stat(filepath.Join(dir, "ctrl_tcp.so")); err == nil {
			return dir
		}
	}
	t.Fatal("baresip's modules are not installed (package baresip-core)")
	return ""
}

// start runs the program and waits until it reports that it is ready. The
// program exits by itself if nobody ends it.
func (b *Baresip) start() error {
	p, err := run(b.dir, nil, "baresip", "-f", b.dir, "-t", "900")
	if err != nil {
		return err
	}
	if err := p.until(p.said("baresip is ready.")); err != nil {
		return err
	}
	b.process = p
	// It reports that it is ready even if it could not open a port.
	if p.said("Address already in use")() {
		p.kill()
		return errors.New("a port is taken")
	}
	return nil
}

// Home returns the home folder that the phone was started with.
func (b *Baresip) Home() string { return b.dir }

// Stop ends the phone. It may be called again.
func (b *Baresip) Stop() { b.process.kill() }

// Restart starts a stopped phone on the same ports.
func (b *Baresip) Restart(t testing.TB) {
	t.Helper()
	must.Do(t, b.start())
}

// Place is like the function Place, for this phone.
func (b *Baresip) Place(t testing.TB, s Scenario) *Running {
	t.Helper()
	return Place(t, b.SIP, s)
}

// Accept answers the ringing call, like a user would.
func (b *Baresip) Accept(t testing.TB) { b.key(t, "a") }

// Hangup refuses the ringing call, or ends the active one.
func (b *Baresip) Hangup(t testing.TB) { b.key(t, "b") }

func (b *Baresip) key(t testing.TB, key string) {
	t.Helper()
	c, err := net.DialTimeout("udp", b.console, time.Second)
	if err == nil {
		_, err = c.Write([]byte(key))
		c.Close()
	}
	if err != nil {
		t.Errorf("press key on baresip: %v", err)
	}
}

func local(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// freePort returns a port that is free for TCP and UDP, as are the n-1 ports after it: baresip
// also uses the port after its SIP port. It is below the range from which the system assigns
// ports, since one of those could be taken while a phone is stopped, and below 28000, where
// tests of the whole program have their ports.
func freePort(t testing.TB, n int) int {
	t.Helper()
	for range 200 {
		if port := 20000 + rand.IntN(8000); allFree(port, n) {
			return port
		}
	}
	t.Fatal("no free port")
	return 0
}

func allFree(port, n int) bool {
	for p := port; p < port+n; p++ {
		l, err := net.Listen("tcp4", local(p))
		if err != nil {
			return false
		}
		l.Close()
		u, err := net.ListenPacket("udp4", local(p))
		if err != nil {
			return false
		}
		u.Close()
	}
	return true
}

// process is a running program and its output.
type process struct {
	cmd    *exec.Cmd
	cancel context.CancelFunc
	out    logtest.Buffer
	done   chan struct{} // closed when it has ended
	err    error         // valid after done
}

// run starts a program in dir with in, which may be nil, as its input.
func run(dir string, in *os.File, name string, args ...string) (*process, error) {
	ctx, cancel := context.WithCancel(context.Background())
	p := &process{cmd: exec.CommandContext(ctx, name, args...), cancel: cancel, done: make(chan struct{})}
	p.cmd.Dir = dir
	if in != nil {
		p.cmd.Stdin = in
	}
	// No bus, so that no phone starts one that outlives it.
	p.cmd.Env = append(os.Environ(), "TERM=dumb", "HOME="+dir, "DBUS_SESSION_BUS_ADDRESS=disabled:")
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.out
	if err := p.cmd.Start(); err != nil {
		cancel()
		return nil, err
	}
	go func() {
		defer close(p.done)
		p.err = p.cmd.Wait()
	}()
	return p, nil
}

// said returns a function that reports whether the program has printed what.
func (p *process) said(what string) func() bool {
	return func() bool { return strings.Contains(p.out.String(), what) }
}

// says is like said, but only for output from now on.
func (p *process) says(what string) func() bool {
	before := len(p.out.String())
	return func() bool { return strings.Contains(p.out.String()[before:], what) }
}

// until waits until is returns true. It ends a program that does not get there in time.
func (p *process) until(is func() bool) error {
	look, late := time.Tick(5*time.Millisecond), time.After(startTime)
	for !is() {
		select {
		case <-look:
		case <-p.done:
			return fmt.Errorf("%s ended: %s", p.cmd.Path, p.out.String())
		case <-late:
			p.kill()
			return fmt.Errorf("%s does not go on: %s", p.cmd.Path, p.out.String())
		}
	}
	return nil
}

// kill kills the program and waits until it has ended.
func (p *process) kill() {
	p.cancel()
	<-p.done
}
