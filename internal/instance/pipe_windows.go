package instance

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"

	"wiebelt/internal/core/wake"
)

// listener accepts on a named pipe. Every accepted connection is one instance of the pipe;
// the next is created before the last is handed out, so that the name always exists.
type listener struct {
	name  string
	attrs *windows.SecurityAttributes
	stop  windows.Handle // event: closed
	once  sync.Once

	mu     sync.Mutex // held while accepting
	next   windows.Handle
	closed bool
}

func listen(cfg Config) (*listener, error) {
	_, name, sid, err := endpointNames(cfg)
	if err != nil {
		return nil, err
	}
	// Owned by us, only for us, and not over the network.
	sd, err := windows.SecurityDescriptorFromString("O:" + sid + "D:P(D;;GA;;;NU)(A;;GA;;;" + sid + ")")
	if err != nil {
		return nil, fmt.Errorf("rights of the pipe: %w", err)
	}
	l := &listener{name: name, attrs: &windows.SecurityAttributes{SecurityDescriptor: sd}}
	l.attrs.Length = uint32(unsafe.Sizeof(*l.attrs))
	if l.next, err = l.createInstance(windows.FILE_FLAG_FIRST_PIPE_INSTANCE); err != nil {
		return nil, fmt.Errorf("make the pipe: %w", err)
	}
	if l.stop, err = windows.CreateEvent(nil, 1, 0, nil); err != nil {
		_ = windows.CloseHandle(l.next)
		return nil, err
	}
	return l, nil
}

func (l *listener) createInstance(flags uint32) (windows.Handle, error) {
	p, err := windows.UTF16PtrFromString(l.name)
	if err != nil {
		return 0, err
	}
	return windows.CreateNamedPipe(p, windows.PIPE_ACCESS_DUPLEX|windows.FILE_FLAG_OVERLAPPED|flags,
		windows.PIPE_TYPE_BYTE|windows.PIPE_READMODE_BYTE|windows.PIPE_WAIT|windows.PIPE_REJECT_REMOTE_CLIENTS,
		windows.PIPE_UNLIMITED_INSTANCES, 4096, 4096, 0, l.attrs)
}

// Accept waits for the next peer.
func (l *listener) Accept() (*os.File, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, os.ErrClosed
	}
	for {
		err := l.connect()
		if errors.Is(err, os.ErrClosed) {
			l.closed = true
			_ = windows.CloseHandle(l.next)
			_ = windows.CloseHandle(l.stop)
			return nil, err
		}
		if errors.Is(err, windows.ERROR_NO_DATA) { // connected and left
			_ = windows.DisconnectNamedPipe(l.next)
			continue
		}
		if err != nil {
			return nil, err
		}
		h := l.next
		next, err := l.createInstance(0)
		if err != nil { // out of handles: this peer must retry
			_ = windows.DisconnectNamedPipe(h)
			return nil, err
		}
		l.next = next
		return os.NewFile(uintptr(h), l.name), nil
	}
}

// connect waits until a peer has opened the next instance.
func (l *listener) connect() error {
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
			return os.ErrClosed
		}
	}
	if errors.Is(err, windows.ERROR_PIPE_CONNECTED) { // before we waited
		err = nil
	}
	if which, _ := windows.WaitForSingleObject(l.stop, 0); err == nil && which == windows.WAIT_OBJECT_0 {
		return os.ErrClosed
	}
	return err
}

// Close ends a waiting Accept and closes the pipe.
func (l *listener) Close() error {
	var err error
	l.once.Do(func() {
		err = windows.SetEvent(l.stop)
		_, _ = l.Accept() // closes it if nobody was waiting
	})
	return err
}

func dial(ctx context.Context, cfg Config) (*os.File, error) {
	_, name, sid, err := endpointNames(cfg)
	if err != nil {
		return nil, err
	}
	p, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return nil, err
	}
	for {
		// Identification only: whoever owns the pipe cannot impersonate this user.
		h, err := windows.CreateFile(p, windows.GENERIC_READ|windows.GENERIC_WRITE, 0, nil, windows.OPEN_EXISTING,
			windows.FILE_FLAG_OVERLAPPED|windows.SECURITY_SQOS_PRESENT|windows.SECURITY_IDENTIFICATION, 0)
		if err == nil {
			if err := checkPipeOwner(h, sid); err != nil {
				_ = windows.CloseHandle(h)
				return nil, err
			}
			return os.NewFile(uintptr(h), name), nil
		}
		if !errors.Is(err, windows.ERROR_PIPE_BUSY) {
			return nil, err
		}
		// All instances are in use: the next one is created within moments.
		if err := wake.Pause(ctx, time.Millisecond); err != nil {
			return nil, err
		}
	}
}

// Runs reports whether a user's Wiebelt runs: whether its pipe exists, which
// another user may not open. The pipe's creator learns nothing about us.
func Runs(sid string, cfg Config) bool {
	p, err := windows.UTF16PtrFromString(`\\.\pipe\` + nameOf(sid, cfg))
	if err != nil {
		return false
	}
	h, err := windows.CreateFile(p, windows.GENERIC_READ, 0, nil, windows.OPEN_EXISTING, windows.SECURITY_SQOS_PRESENT|windows.SECURITY_ANONYMOUS, 0)
	if err == nil {
		_ = windows.CloseHandle(h)
	}
	return !errors.Is(err, windows.ERROR_FILE_NOT_FOUND)
}

// checkPipeOwner checks that a pipe is this user's, not one that somebody else created
// first under its name.
func checkPipeOwner(h windows.Handle, sid string) error {
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
