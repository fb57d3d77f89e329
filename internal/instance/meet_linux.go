package instance

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"wiebelt/internal/filetrust"
)

// lock takes the exclusive lock that makes this process the one.
func lock(cfg Config) (release func(), err error) {
	f, err := filetrust.OpenFile(filepath.Join(cfg.RunDir, "lock"), os.O_CREATE|os.O_RDWR, filetrust.Alone)
	if err != nil {
		return nil, fmt.Errorf("open the lock: %w", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, ErrRunning
		}
		return nil, fmt.Errorf("lock: %w", err)
	}
	return func() { _ = f.Close() }, nil
}

// listen makes the socket. Holding the lock, a socket that is there already is
// one that a dead process left behind.
func listen(cfg Config) (net.Listener, error) {
	if err := os.Remove(cfg.socket()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("remove the old socket: %w", err)
	}
	path, done, err := short(cfg.socket())
	if err != nil {
		return nil, err
	}
	defer done()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("make the socket: %w", err)
	}
	l.SetUnlinkOnClose(path == cfg.socket())
	if err := os.Chmod(path, 0o600); err != nil {
		_ = l.Close()
		return nil, err
	}
	return l, nil
}

func dial(ctx context.Context, cfg Config) (net.Conn, error) {
	path, done, err := short(cfg.socket())
	if err != nil {
		return nil, err
	}
	defer done()
	var d net.Dialer
	return d.DialContext(ctx, "unix", path)
}

// maxSocket is the longest path that a socket gets: the system's limit is 108
// bytes, the closing zero included.
const maxSocket = 100

// short gives another name to a socket whose path is too long for the system, by
// way of its folder. It holds until done.
func short(path string) (name string, done func(), err error) {
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
