package instance

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"wiebelt/internal/config/profile"
)

// LockName is the file in the runtime folder that the running process keeps locked.
const LockName = "lock"

// lock takes the exclusive lock that makes this process the only one.
func lock(cfg Config) (release func(), err error) {
	release, err = profile.TryLock(filepath.Join(cfg.RunDir, LockName))
	if errors.Is(err, profile.ErrLocked) {
		return nil, ErrRunning
	}
	return release, err
}

// listener accepts on a socket; Close may be called more than once.
type listener struct {
	f    *os.File
	path string
}

// listen creates the socket. As we hold the lock, an existing one was
// left by a dead process.
func listen(cfg Config) (*listener, error) {
	if err := os.Remove(cfg.socket()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("remove the old socket: %w", err)
	}
	f, err := openSocket(cfg.socket(), func(fd int, path string) error {
		if err := unix.Bind(fd, &unix.SockaddrUnix{Name: path}); err != nil {
			return err
		}
		if err := os.Chmod(path, 0o600); err != nil {
			return err
		}
		return unix.Listen(fd, maxWaiting)
	})
	if err != nil {
		return nil, fmt.Errorf("make the socket: %w", err)
	}
	return &listener{f, cfg.socket()}, nil
}

// Accept waits for the next peer; os.ErrClosed after Close.
func (l *listener) Accept() (*os.File, error) {
	raw, err := l.f.SyscallConn()
	if err != nil {
		return nil, err
	}
	var fd int
	if raw.Read(func(s uintptr) bool {
		fd, _, err = unix.Accept4(int(s), unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK)
		return err != unix.EAGAIN
	}) != nil {
		return nil, os.ErrClosed
	}
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), l.path), nil
}

// Close ends a waiting Accept and removes the socket.
func (l *listener) Close() error {
	err := l.f.Close()
	if err == nil {
		err = os.Remove(l.path)
	}
	return err
}

// reacquire becomes the only one anew, in a folder that was removed with lock and socket.
func (i *Instance) reacquire() (*Instance, error) {
	_ = i.listener.f.Close() // the socket at its path may be another's by now
	i.release()
	return Acquire(i.cfg)
}

func dial(_ context.Context, cfg Config) (*os.File, error) {
	return openSocket(cfg.socket(), func(fd int, path string) error { return unix.Connect(fd, &unix.SockaddrUnix{Name: path}) })
}

// openSocket creates a socket and calls do to bind or connect it.
func openSocket(path string, do func(fd int, path string) error) (*os.File, error) {
	name, done, err := shortPath(path)
	if err != nil {
		return nil, err
	}
	defer done()
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if err := do(fd, name); err != nil {
		_ = unix.Close(fd)
		return nil, err
	}
	return os.NewFile(uintptr(fd), path), nil
}

// maxWaiting is how many peers may wait to be accepted.
const maxWaiting = 4096

// maxSocket is the longest path used for a socket: the system's limit is 108 bytes,
// including the terminating zero.
const maxSocket = 100

// shortPath returns another name, through its folder, for a socket whose path is too long for
// the system. It is valid until done.
func shortPath(path string) (name string, done func(), err error) {
	if len(path) <= maxSocket {
		return path, func() {}, nil
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return "", nil, err
	}
	return fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), filepath.Base(path)), func() { _ = dir.Close() }, nil
}

func startDetached(command func() *exec.Cmd) error {
	cmd := command()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}
