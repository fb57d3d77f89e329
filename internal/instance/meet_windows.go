package instance

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/windows"
)

// names derives the names of mutex and pipe from the user and the profile: two
// users of one machine, and two profiles of one user, never meet.
func names(cfg Config) (mutex, pipe, sid string, err error) {
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return "", "", "", fmt.Errorf("who is this user: %w", err)
	}
	sid = user.User.Sid.String()
	sum := sha256.Sum256([]byte(strings.ToLower(cfg.SocketPath)))
	tail := sid + "-" + hex.EncodeToString(sum[:8])
	return `Local\wiebelt-` + tail, `\\.\pipe\wiebelt-` + tail, sid, nil
}

// lock makes the mutex that says who is the one; it goes with the process.
func lock(cfg Config) (release func(), err error) {
	name, _, _, err := names(cfg)
	if err != nil {
		return nil, err
	}
	p, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return nil, err
	}
	h, err := windows.CreateMutex(nil, false, p)
	if errors.Is(err, windows.ERROR_ALREADY_EXISTS) {
		_ = windows.CloseHandle(h)
		return nil, ErrRunning
	}
	if err != nil {
		return nil, fmt.Errorf("make the mutex: %w", err)
	}
	return func() { _ = windows.CloseHandle(h) }, nil
}

// pipeListener accepts on a named pipe. Every accepted connection is one
// instance of the pipe; the next one is made before the last is handed out.
type pipeListener struct {
	name   string
	attrs  *windows.SecurityAttributes
	mu     sync.Mutex
	next   windows.Handle
	closed bool
	stop   windows.Handle // event: closed
}

func listen(cfg Config) (net.Listener, error) {
	_, pipe, sid, err := names(cfg)
	if err != nil {
		return nil, err
	}
	// Only this user, and nobody over the network.
	sd, err := windows.SecurityDescriptorFromString("D:P(D;;GA;;;NU)(A;;GA;;;" + sid + ")")
	if err != nil {
		return nil, fmt.Errorf("rights of the pipe: %w", err)
	}
	l := &pipeListener{name: pipe, attrs: &windows.SecurityAttributes{SecurityDescriptor: sd}}
	l.attrs.Length = 24
	if l.stop, err = windows.CreateEvent(nil, 1, 0, nil); err != nil {
		return nil, err
	}
	if l.next, err = l.make(windows.FILE_FLAG_FIRST_PIPE_INSTANCE); err != nil {
		return nil, fmt.Errorf("make the pipe: %w", err)
	}
	return l, nil
}

func (l *pipeListener) make(flags uint32) (windows.Handle, error) {
	p, err := windows.UTF16PtrFromString(l.name)
	if err != nil {
		return 0, err
	}
	return windows.CreateNamedPipe(p, windows.PIPE_ACCESS_DUPLEX|windows.FILE_FLAG_OVERLAPPED|flags,
		windows.PIPE_TYPE_BYTE|windows.PIPE_READMODE_BYTE|windows.PIPE_WAIT|windows.PIPE_REJECT_REMOTE_CLIENTS,
		windows.PIPE_UNLIMITED_INSTANCES, 4096, 4096, 0, l.attrs)
}

func (l *pipeListener) Accept() (net.Conn, error) {
	l.mu.Lock()
	h, closed := l.next, l.closed
	l.mu.Unlock()
	if closed {
		return nil, net.ErrClosed
	}
	ready, err := windows.CreateEvent(nil, 1, 0, nil)
	if err != nil {
		return nil, err
	}
	defer windows.CloseHandle(ready)
	o := &windows.Overlapped{HEvent: ready}
	err = windows.ConnectNamedPipe(h, o)
	switch {
	case errors.Is(err, windows.ERROR_IO_PENDING):
		which, err := windows.WaitForMultipleObjects([]windows.Handle{ready, l.stop}, false, windows.INFINITE)
		if err != nil || which != windows.WAIT_OBJECT_0 {
			_ = windows.CancelIoEx(h, o)
			_ = windows.CloseHandle(h)
			return nil, net.ErrClosed
		}
	case err != nil && !errors.Is(err, windows.ERROR_PIPE_CONNECTED):
		return nil, err
	}
	next, err := l.make(0)
	l.mu.Lock()
	l.next = next
	l.mu.Unlock()
	if err != nil {
		_ = windows.CloseHandle(h)
		return nil, err
	}
	return newPipe(h, l.name), nil
}

func (l *pipeListener) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.closed = true
		return windows.SetEvent(l.stop)
	}
	return nil
}

func (l *pipeListener) Addr() net.Addr { return pipeAddr(l.name) }

type pipeAddr string

func (pipeAddr) Network() string  { return "pipe" }
func (a pipeAddr) String() string { return string(a) }

// pipe is one end of a named pipe with deadlines. Overlapped, so that reading
// and writing go on at the same time.
type pipe struct {
	h    windows.Handle
	name string

	once sync.Once
	mu   sync.Mutex
	rd   time.Time
	wd   time.Time
}

func newPipe(h windows.Handle, name string) *pipe { return &pipe{h: h, name: name} }

func (p *pipe) transfer(b []byte, deadline time.Time, do func(windows.Handle, []byte, *uint32, *windows.Overlapped) error) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	ready, err := windows.CreateEvent(nil, 1, 0, nil)
	if err != nil {
		return 0, err
	}
	defer windows.CloseHandle(ready)
	o := &windows.Overlapped{HEvent: ready}
	var n uint32
	err = do(p.h, b, &n, o)
	if errors.Is(err, windows.ERROR_IO_PENDING) {
		wait := uint32(windows.INFINITE)
		if !deadline.IsZero() {
			wait = uint32(max(0, time.Until(deadline).Milliseconds()))
		}
		if which, _ := windows.WaitForSingleObject(ready, wait); which != windows.WAIT_OBJECT_0 {
			_ = windows.CancelIoEx(p.h, o)
			_ = windows.GetOverlappedResult(p.h, o, &n, true)
			return int(n), os.ErrDeadlineExceeded
		}
		err = windows.GetOverlappedResult(p.h, o, &n, true)
	}
	return int(n), err
}

func (p *pipe) Read(b []byte) (int, error) {
	p.mu.Lock()
	d := p.rd
	p.mu.Unlock()
	n, err := p.transfer(b, d, windows.ReadFile)
	if errors.Is(err, windows.ERROR_BROKEN_PIPE) || errors.Is(err, windows.ERROR_INVALID_HANDLE) || errors.Is(err, windows.ERROR_OPERATION_ABORTED) {
		return n, net.ErrClosed
	}
	return n, err
}

func (p *pipe) Write(b []byte) (int, error) {
	p.mu.Lock()
	d := p.wd
	p.mu.Unlock()
	total := 0
	for total < len(b) {
		n, err := p.transfer(b[total:], d, windows.WriteFile)
		total += n
		if err != nil {
			return total, err
		}
	}
	return total, nil
}

func (p *pipe) Close() error {
	p.once.Do(func() {
		_ = windows.CancelIoEx(p.h, nil)
		_ = windows.CloseHandle(p.h)
	})
	return nil
}

func (p *pipe) LocalAddr() net.Addr  { return pipeAddr(p.name) }
func (p *pipe) RemoteAddr() net.Addr { return pipeAddr(p.name) }

func (p *pipe) SetDeadline(t time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rd, p.wd = t, t
	return nil
}

func (p *pipe) SetReadDeadline(t time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rd = t
	return nil
}

func (p *pipe) SetWriteDeadline(t time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wd = t
	return nil
}

func dial(ctx context.Context, cfg Config) (net.Conn, error) {
	_, name, _, err := names(cfg)
	if err != nil {
		return nil, err
	}
	p, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return nil, err
	}
	for {
		// Identification only: whoever holds the pipe cannot act as this user.
		h, err := windows.CreateFile(p, windows.GENERIC_READ|windows.GENERIC_WRITE, 0, nil, windows.OPEN_EXISTING,
			windows.FILE_FLAG_OVERLAPPED|windows.SECURITY_SQOS_PRESENT|windows.SECURITY_IDENTIFICATION, 0)
		if err == nil {
			return newPipe(h, name), nil
		}
		if !errors.Is(err, windows.ERROR_PIPE_BUSY) {
			return nil, err
		}
		select { // all instances taken: the next one is made within moments
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(time.Millisecond):
		}
	}
}

func startDetached(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{HideWindow: true, CreationFlags: windows.DETACHED_PROCESS | windows.CREATE_NEW_PROCESS_GROUP}
	return cmd.Start()
}
