package phonetest

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"wiebelt/internal/testutil/must"
)

// Linphone is a running linphone-daemon.
type Linphone struct {
	SIP      string // host:port where it takes calls
	Pipe     string // path of its socket, which serves one client
	dir      string
	process  *process
	commands chan string
}

// StartLinphone starts a daemon and waits until it accepts calls. It ends with the test.
func StartLinphone(t testing.TB) *Linphone {
	t.Helper()
	dir := t.TempDir()
	// Without this folder it has no database and opens no port.
	must.Do(t, os.MkdirAll(filepath.Join(dir, ".local", "share", "linphone"), 0o700))
	l := &Linphone{dir: dir, commands: make(chan string, 16)}
	started(t, func() error {
		port := freePort(t, 1)
		rc := fmt.Sprintf("[sip]\nsip_port=%d\nsip_tcp_port=0\nsip_tls_port=0\nbind_address=127.0.0.1\n", port)
		must.Do(t, os.WriteFile(filepath.Join(dir, "rc"), []byte(rc), 0o600))
		// It puts the name after "/tmp/", and a socket path may have 107 bytes.
		l.SIP, l.Pipe = local(port), fmt.Sprintf("/tmp/wiebelt-%d-%d", os.Getpid(), port)
		return l.start()
	})
	t.Cleanup(func() {
		l.Stop()
		os.Remove(l.Pipe)
	})
	return l
}

// start runs the daemon and waits until its SIP port is in use, since the
// daemon does not report that it is ready.
func (l *Linphone) start() (err error) {
	l.process, err = run(l.dir, nil, "linphone-daemon", "--pipe", filepath.Base(l.Pipe), "--config", filepath.Join(l.dir, "rc"), "--disable-stats-events")
	if err != nil {
		return err
	}
	return l.process.until(func() bool { return taken(l.SIP) })
}

// taken reports whether a UDP port is in use, from the kernel's socket table. Trying to bind
// the port would occupy it for a moment, and the daemon does not retry.
func taken(address string) bool {
	_, port, _ := net.SplitHostPort(address)
	n, _ := strconv.Atoi(port)
	b, err := os.ReadFile("/proc/self/net/udp")
	return err == nil && bytes.Contains(b, fmt.Appendf(nil, " 0100007F:%04X ", n))
}

// Stop kills the daemon, which leaves its socket file behind. It may be called repeatedly.
func (l *Linphone) Stop() { l.process.kill() }

// Restart starts a stopped daemon on the same port and socket.
func (l *Linphone) Restart(t testing.TB) {
	t.Helper()
	must.Do(t, l.start())
}

// Place places a call and returns at once. The caller's program ends with the
// test. An answered call waits for Press("answer").
func (l *Linphone) Place(t testing.TB, s Scenario) *Running {
	t.Helper()
	return s.call(t, l.SIP, "101")
}

// Press sends the daemon a command, such as "answer" or "terminate". The
// daemon serves only one client, so the command goes over a connection made
// by Dial, before the next one sent there.
func (l *Linphone) Press(command string) { l.commands <- command }

// Dial connects to the daemon, for a client under test.
func (l *Linphone) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "unix", l.Pipe)
	if err != nil {
		return nil, err
	}
	return &shared{conn, l}, nil
}

// shared is a client's connection that Press also uses.
type shared struct {
	net.Conn
	l *Linphone
}

func (s *shared) Write(b []byte) (int, error) {
	for {
		select {
		case command := <-s.l.commands:
			if _, err := s.Conn.Write([]byte(command + "\n")); err != nil {
				return 0, err
			}
			if _, err := s.Conn.Read(make([]byte, 1<<10)); err != nil {
				return 0, err
			}
		default:
			return s.Conn.Write(b)
		}
	}
}
