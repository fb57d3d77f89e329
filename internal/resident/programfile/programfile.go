// Package programfile watches the file that this process was started from, and the
// versions that are installed beside it, so that one that was installed meanwhile is
// started in its place.
//
// Watcher.Follow is its one goroutine and owns what was last seen of the file. It
// knows nothing of calls: its caller says whether one is in progress.
package programfile

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"time"

	"wiebelt/internal/core/wake"
	"wiebelt/internal/instance/installed"
)

// Times of looking at our own program.
const (
	lookAtProgram = time.Hour
	lookAgain     = 2 * time.Second // while a call is on: the one that was handed over last may be over already
	versionIn     = time.Minute     // a virus scanner may read it first
)

// Watcher watches the file that this process was started from.
type Watcher struct {
	path string
	info os.FileInfo
	wake chan struct{} // look now: a call was handed over
}

// New is our own program as it lies there now.
func New() *Watcher {
	path, _ := os.Executable() // an empty path is never found
	return at(path)
}

func at(path string) *Watcher {
	p := &Watcher{path: path, wake: make(chan struct{}, 1)}
	p.info, _ = os.Stat(path) // ours, also where a newer one is there already
	return p
}

// Look asks for a look at the file. It never blocks.
func (p *Watcher) Look() {
	wake.Up(p.wake)
}

// there is the file that would be started now.
func (p *Watcher) there() (path string, info os.FileInfo) {
	path = installed.NewestOf(p.path)
	info, _ = os.Stat(path)
	return path, info
}

// changed reports whether that is another file than the one that was seen last.
func (p *Watcher) changed() bool {
	_, info := p.there()
	if info == nil || p.info == nil {
		return false // being written, or gone: nothing to change to
	}
	return !os.SameFile(info, p.info) || info.Size() != p.info.Size() || !info.ModTime().Equal(p.info.ModTime())
}

// another reports whether a file is not what we are. It returns an error where that
// cannot be told: the file is half written, held by a virus scanner, or not for this
// computer.
func another(ctx context.Context, path, version, commit string) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, versionIn)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "version")
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if err != nil {
		return false, err
	}
	lines := strings.SplitN(string(out), "\n", 3)
	return len(lines) == 3 && strings.HasPrefix(lines[0], "wiebelt ") && (lines[0] != "wiebelt "+version || lines[1] != "commit "+commit), nil
}

// Follow waits until another version lies on disk and no call is on, and reports
// whether that came before ctx ended. version and commit are ours.
func (p *Watcher) Follow(ctx context.Context, version, commit string, busy func() bool) bool {
	wait, retry := lookAtProgram, lookAgain
	for {
		t := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			t.Stop()
			return false
		case <-p.wake:
		case <-t.C:
		}
		t.Stop()
		wait = lookAtProgram
		if !p.changed() {
			continue
		}
		if busy() {
			wait = lookAgain
			continue
		}
		path, seen := p.there() // before it is run: what comes in its place meanwhile is looked at next
		is, err := another(ctx, path, version, commit)
		switch {
		case err != nil: // less and less often
			wait, retry = retry, min(2*retry, lookAtProgram)
		case !is:
			p.info, retry = seen, lookAgain // the same version once more
		case busy(): // it rang while that one was asked
			wait = lookAgain
		default:
			return true
		}
	}
}
