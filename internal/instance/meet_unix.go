//go:build !windows

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
)

// lock takes the exclusive lock that makes this process the one.
func lock(cfg Config) (release func(), err error) {
	f, err := os.OpenFile(filepath.Join(cfg.RunDir, "lock"), os.O_CREATE|os.O_RDWR|unix.O_NOFOLLOW, 0o600)
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
	if err := os.Remove(cfg.SocketPath); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("remove the old socket: %w", err)
	}
	l, err := net.Listen("unix", cfg.SocketPath)
	if err != nil {
		return nil, fmt.Errorf("make the socket: %w", err)
	}
	if err := os.Chmod(cfg.SocketPath, 0o600); err != nil {
		_ = l.Close()
		return nil, err
	}
	return l, nil
}

// private makes sure that nobody else can put anything into a folder of ours.
func private(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("runtime folder: %w", err)
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.IsDir() || int(st.Uid) != os.Getuid() || info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("runtime folder %s: others can write to it", dir)
	}
	return nil
}

func dial(ctx context.Context, cfg Config) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, "unix", cfg.SocketPath)
}

func startDetached(command func() *exec.Cmd) error {
	cmd := command()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}
