package resident

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"time"
)

// ErrReplaced says that another version of the program lies on disk and that the
// resident has ended to make room for it: whoever started it starts that one.
var ErrReplaced = errors.New("another version of the program has been installed")

// Times of looking at our own program (corrections.md 34).
const (
	lookAtProgram = time.Hour
	busyAgain     = time.Minute // while a call is on
	versionIn     = 5 * time.Second
)

// program watches the file that this process was started from.
type program struct {
	path string
	info os.FileInfo
	poke chan struct{} // look now: a call was handed over
}

func newProgram() *program {
	p := &program{poke: make(chan struct{}, 1)}
	p.path, _ = os.Executable() // an empty path is never found
	p.info, _ = os.Stat(p.path)
	return p
}

// look asks for a look at the file. It never blocks.
func (p *program) look() {
	select {
	case p.poke <- struct{}{}:
	default:
	}
}

// changed reports whether another file lies there now.
func (p *program) changed() bool {
	info, err := os.Stat(p.path)
	if err != nil || p.info == nil {
		return false // being written, or gone: nothing to change to
	}
	return !os.SameFile(info, p.info) || info.Size() != p.info.Size() || !info.ModTime().Equal(p.info.ModTime())
}

// another reports whether the file runs and is not what we are.
func (p *program) another(ctx context.Context, version, commit string) bool {
	ctx, cancel := context.WithTimeout(ctx, versionIn)
	defer cancel()
	cmd := exec.CommandContext(ctx, p.path, "version")
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if err != nil {
		return false // half written, or not for this computer
	}
	lines := strings.SplitN(string(out), "\n", 3)
	return len(lines) == 3 && strings.HasPrefix(lines[0], "wiebelt ") && (lines[0] != "wiebelt "+version || lines[1] != "commit "+commit)
}

// follow ends the resident, while no call is on, once another version lies on
// disk.
func (p *program) follow(ctx context.Context, r *Resident) {
	wait := lookAtProgram
	for {
		t := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			t.Stop()
			return
		case <-p.poke:
		case <-t.C:
		}
		t.Stop()
		wait = lookAtProgram
		if !p.changed() {
			continue
		}
		if s := r.engine.Snapshot(); len(s.Cards) > 0 || s.On > 0 { // a call goes on when its card was closed
			wait = busyAgain
			continue
		}
		if p.another(ctx, r.o.Version, r.o.Commit) {
			r.o.Log.Info("another version has been installed; making room for it")
			r.replaced.Store(true)
			r.stop()
			return
		}
		p.info, _ = os.Stat(p.path) // the same version once more
	}
}
