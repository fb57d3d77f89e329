package instance

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"syscall"

	"golang.org/x/sys/windows"
)

// endpointNames returns the names of mutex and pipe for the user and profile: two users of one
// machine, or two profiles of one user, never meet.
func endpointNames(cfg Config) (mutex, pipe, sid string, err error) {
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return "", "", "", fmt.Errorf("who is this user: %w", err)
	}
	sid = user.User.Sid.String()
	name := nameOf(sid, cfg)
	return `Local\` + name, `\\.\pipe\` + name, sid, nil
}

// nameOf returns what the names for a user and profile have in common.
func nameOf(sid string, cfg Config) string {
	sum := sha256.Sum256([]byte(strings.ToLower(cfg.socket())))
	return "wiebelt-" + sid + "-" + hex.EncodeToString(sum[:8])
}

// lock creates the mutex that makes this process the only one; the system releases it when
// the process ends.
func lock(cfg Config) (release func(), err error) {
	name, _, _, err := endpointNames(cfg)
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

// reacquire makes the folder anew; mutex and pipe are not in it.
func (i *Instance) reacquire() (*Instance, error) { return i, createRunDir(i.cfg) }

func startDetached(command func() *exec.Cmd) error {
	// A phone may start programs in a job that ends with it: leave it if the job allows.
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
