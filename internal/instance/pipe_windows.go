package instance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// pipeListener accepts on a named pipe. Every accepted connection is one
// instance of the pipe; the next one is made before the last is handed out, so
// that the name always stands.
type pipeListener struct {
	name  string
	attrs *windows.SecurityAttributes
	stop  windows.Handle // event: closed
	once  sync.Once

	mu     sync.Mutex // held while accepting
	next   windows.Handle
	closed bool
}

func listen(cfg Config) (net.Listener, error) {
	_, name, sid, err := names(cfg)
	if err != nil {
		return nil, err
	}
	// Ours, only for us, and for nobody over the network.
	sd, err := windows.SecurityDescriptorFromString("O:" + sid + "D:P(D;;GA;;;NU)(A;;GA;;;" + sid + ")")
	if err != nil {
		return nil, fmt.Errorf("rights of the pipe: %w", err)
	}
	l := &pipeListener{name: name, attrs: &windows.SecurityAttributes{SecurityDescriptor: sd}}
	l.attrs.Length = uint32(unsafe.Sizeof(*l.attrs))
	if l.next, err = l.make(windows.FILE_FLAG_FIRST_PIPE_INSTANCE); err != nil {
		return nil, fmt.Errorf("make the pipe: %w", err)
	}
	if l.stop, err = windows.CreateEvent(nil, 1, 0, nil); err != nil {
		_ = windows.CloseHandle(l.next)
		return nil, err
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

// Accept waits for the next peer.
func (l *pipeListener) Accept() (net.Conn, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, net.ErrClosed
	}
	for {
		err := l.connect()
		if errors.Is(err, net.ErrClosed) {
			l.closed = true
			_ = windows.CloseHandle(l.next)
			_ = windows.CloseHandle(l.stop)
			return nil, err
		}
		if errors.Is(err, windows.ERROR_NO_DATA) { // came and went
			_ = windows.DisconnectNamedPipe(l.next)
			continue
		}
		if err != nil {
			return nil, err
		}
		h := l.next
		next, err := l.make(0)
		if err != nil { // out of handles: this peer has to come again
			_ = windows.DisconnectNamedPipe(h)
			return nil, err
		}
		l.next = next
		return newPipe(h, l.name)
	}
}

// connect waits until a peer has opened the instance that is next.
func (l *pipeListener) connect() error {
	ready, err := windows.CreateEvent(nil, 1, 0, nil)
	if err != nil {
		return err
	}
	defer windows.CloseHandle(ready)
	o := &windows.Overlapped{HEvent: ready}
	err = windows.ConnectNamedPipe(l.next, o)
	if errors.Is(err, windows.ERROR_IO_PENDING) {
		which, waitErr := windows.WaitForMultipleObjects([]windows.Handle{l.stop, ready}, false, windows.INFINITE)
		if waitErr != nil || which != windows.WAIT_OBJECT_0+1 {
			_ = windows.CancelIoEx(l.next, o)
		}
		var n uint32
		err = windows.GetOverlappedResult(l.next, o, &n, true)
		if waitErr != nil {
			return waitErr
		}
		if which == windows.WAIT_OBJECT_0 {
			return net.ErrClosed
		}
	}
	if errors.Is(err, windows.ERROR_PIPE_CONNECTED) { // before we asked
		err = nil
	}
	if which, _ := windows.WaitForSingleObject(l.stop, 0); err == nil && which == windows.WAIT_OBJECT_0 {
		return net.ErrClosed
	}
	return err
}

// Close ends a waiting Accept and lets go of the pipe.
func (l *pipeListener) Close() error {
	var err error
	l.once.Do(func() {
		err = windows.SetEvent(l.stop)
		_, _ = l.Accept() // lets go if nobody was waiting
	})
	return err
}

func (l *pipeListener) Addr() net.Addr { return pipeAddr(l.name) }

type pipeAddr string

func (pipeAddr) Network() string  { return "pipe" }
func (a pipeAddr) String() string { return string(a) }

// pipe is one end of a named pipe with deadlines. Reading and writing go on at
// the same time, one of each. A deadline counts from the next Read or Write on.
type pipe struct {
	h    windows.Handle
	name string
	stop windows.Handle // event: closed
	busy sync.WaitGroup // transfers under way

	mu     sync.Mutex
	closed bool
	rd, wd time.Time
}

func newPipe(h windows.Handle, name string) (*pipe, error) {
	stop, err := windows.CreateEvent(nil, 1, 0, nil)
	if err != nil {
		_ = windows.CloseHandle(h)
		return nil, err
	}
	return &pipe{h: h, name: name, stop: stop}, nil
}

// begin keeps the handle open for one transfer.
func (p *pipe) begin(deadline *time.Time) (time.Time, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return time.Time{}, net.ErrClosed
	}
	p.busy.Add(1)
	return *deadline, nil
}

func (p *pipe) transfer(b []byte, deadline time.Time, do func(windows.Handle, []byte, *uint32, *windows.Overlapped) error) (int, error) {
	ready, err := windows.CreateEvent(nil, 1, 0, nil)
	if err != nil {
		return 0, err
	}
	defer windows.CloseHandle(ready)
	wait := uint32(windows.INFINITE)
	if !deadline.IsZero() {
		left := time.Until(deadline)
		if left <= 0 {
			return 0, os.ErrDeadlineExceeded
		}
		wait = uint32(left.Milliseconds()) + 1
	}
	o := &windows.Overlapped{HEvent: ready}
	var n uint32
	err = do(p.h, b, &n, o)
	if !errors.Is(err, windows.ERROR_IO_PENDING) {
		return int(n), err
	}
	which, _ := windows.WaitForMultipleObjects([]windows.Handle{p.stop, ready}, false, wait)
	if which != windows.WAIT_OBJECT_0+1 {
		_ = windows.CancelIoEx(p.h, o)
	}
	// The system writes into b and o until this has returned.
	err = windows.GetOverlappedResult(p.h, o, &n, true)
	switch {
	case err == nil:
		return int(n), nil
	case which == windows.WAIT_OBJECT_0:
		return int(n), net.ErrClosed
	case which == uint32(windows.WAIT_TIMEOUT):
		return int(n), os.ErrDeadlineExceeded
	}
	return int(n), err
}

func (p *pipe) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	d, err := p.begin(&p.rd)
	if err != nil {
		return 0, err
	}
	defer p.busy.Done()
	n, err := p.transfer(b, d, windows.ReadFile)
	if errors.Is(err, windows.ERROR_BROKEN_PIPE) || err == nil && n == 0 {
		return n, io.EOF
	}
	return n, err
}

func (p *pipe) Write(b []byte) (int, error) {
	d, err := p.begin(&p.wd)
	if err != nil {
		return 0, err
	}
	defer p.busy.Done()
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

// Close ends what is under way and lets go of the pipe. What was written can
// still be read by the other side.
func (p *pipe) Close() error {
	p.mu.Lock()
	was := p.closed
	p.closed = true
	p.mu.Unlock()
	if was {
		return nil
	}
	_ = windows.SetEvent(p.stop)
	p.busy.Wait()
	_ = windows.CloseHandle(p.stop)
	return windows.CloseHandle(p.h)
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
	_, name, sid, err := names(cfg)
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
			if err := ownedBy(h, sid); err != nil {
				_ = windows.CloseHandle(h)
				return nil, err
			}
			return newPipe(h, name)
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

// ownedBy checks that a pipe is this user's and not one that somebody else made
// under its name before us.
func ownedBy(h windows.Handle, sid string) error {
	sd, err := windows.GetSecurityInfo(h, windows.SE_KERNEL_OBJECT, windows.OWNER_SECURITY_INFORMATION)
	if err != nil {
		return fmt.Errorf("whose pipe is it: %w", err)
	}
	owner, _, err := sd.Owner()
	if err != nil {
		return fmt.Errorf("whose pipe is it: %w", err)
	}
	if owner.String() != sid {
		return errors.New("the pipe is another user's")
	}
	return nil
}
