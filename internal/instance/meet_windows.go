package instance

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"strings"
	"syscall"

	"github.com/Microsoft/go-winio"
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
	sum := sha256.Sum256([]byte(strings.ToLower(cfg.socket())))
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

// listen makes the pipe, which is ours, only for us, and for nobody over the
// network. A pipe that somebody else made under its name is an error.
func listen(cfg Config) (net.Listener, error) {
	_, name, sid, err := names(cfg)
	if err != nil {
		return nil, err
	}
	l, err := winio.ListenPipe(name, &winio.PipeConfig{SecurityDescriptor: "O:" + sid + "D:P(D;;GA;;;NU)(A;;GA;;;" + sid + ")",
		InputBufferSize: 4096, OutputBufferSize: 4096})
	if err != nil {
		return nil, fmt.Errorf("make the pipe: %w", err)
	}
	return l, nil
}

// dial opens the pipe with a right to identify us only: whoever holds it cannot
// act as this user.
func dial(ctx context.Context, cfg Config) (net.Conn, error) {
	_, name, _, err := names(cfg)
	if err != nil {
		return nil, err
	}
	return winio.DialPipeAccessImpLevel(ctx, name, windows.GENERIC_READ|windows.GENERIC_WRITE, winio.PipeImpLevelIdentification)
}

var errOtherUser = errors.New("the other side is another user")

// samePeer checks that the pipe is this user's, and not one that somebody else
// made under its name before us: only its owner may open ours.
func samePeer(c net.Conn) error {
	p, ok := c.(interface{ Fd() uintptr })
	if !ok {
		return errOtherUser
	}
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return fmt.Errorf("who is this user: %w", err)
	}
	sd, err := windows.GetSecurityInfo(windows.Handle(p.Fd()), windows.SE_KERNEL_OBJECT, windows.OWNER_SECURITY_INFORMATION)
	if err != nil {
		return fmt.Errorf("whose pipe is it: %w", err)
	}
	owner, _, err := sd.Owner()
	if err != nil {
		return fmt.Errorf("whose pipe is it: %w", err)
	}
	if !owner.Equals(user.User.Sid) {
		return errOtherUser
	}
	return nil
}

func startDetached(command func() *exec.Cmd) error {
	// A phone may put what it starts into a job that ends with it: out of there,
	// if the job lets us go.
	var err error
	for _, leave := range []uint32{windows.CREATE_BREAKAWAY_FROM_JOB, 0} {
		cmd := command()
		cmd.SysProcAttr = &syscall.SysProcAttr{HideWindow: true,
			CreationFlags: windows.DETACHED_PROCESS | windows.CREATE_NEW_PROCESS_GROUP | leave}
		if err = cmd.Start(); err == nil {
			return cmd.Process.Release()
		}
	}
	return err
}
