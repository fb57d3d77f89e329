// Package programfile watches this process's program file and the versions installed beside
// it, so that a version installed meanwhile is started in its place.
//
// It starts no goroutine: WaitForUpdate runs on its caller's and owns the last state of the
// file. It knows nothing about calls: its caller reports whether one is in progress.
package programfile

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"time"

	"wiebelt/internal/core/wake"
	"wiebelt/internal/filetrust"
	"wiebelt/internal/instance/installed"
)

// Intervals of checking our own program.
const (
	checkEvery   = time.Hour
	recheckEvery = 2 * time.Second // during a call, as one just handed over may already have ended, and of a new file
	versionIn    = time.Minute     // a virus scanner may read it first
)

// Watcher watches this process's program file.
type Watcher struct {
	path string
	info os.FileInfo
	wake chan struct{} // check now: a call was handed over
}

// New returns a Watcher for our own program.
func New() *Watcher {
	path, _ := os.Executable() // an empty path is never found
	return watchFile(path)
}

func watchFile(path string) *Watcher {
	p := &Watcher{path: path, wake: make(chan struct{}, 1)}
	p.info, _ = os.Stat(path) // ours, even if a newer one already exists
	return p
}

// TriggerCheck requests a check of the file. It never blocks.
func (p *Watcher) TriggerCheck() {
	wake.Up(p.wake)
}

// newest returns the file that would be started now.
func (p *Watcher) newest() (path string, info os.FileInfo) {
	path = installed.NewestOf(p.path)
	info, _ = os.Stat(path)
	return path, info
}

// isOtherVersion reports whether a file is another version than ours. It returns an error if
// that is unknown: the file is incomplete, held by a virus scanner, or not for this computer.
func isOtherVersion(ctx context.Context, path, version, commit string) (bool, error) {
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

// WaitForUpdate waits until another version is on disk and no call is in progress, and reports
// whether that came before ctx ended. version and commit are ours. A file that cannot be run
// is reported to unusable once, and retried at growing intervals, whatever TriggerCheck says.
func (p *Watcher) WaitForUpdate(ctx context.Context, version, commit string, busy func() bool, unusable func(error)) bool {
	wait, retry := checkEvery, recheckEvery
	var seen os.FileInfo   // the file at the last check
	var failed os.FileInfo // the file that could not be run
	var retryAt time.Time
	for {
		select {
		case <-ctx.Done():
			return false
		case <-p.wake:
		case <-time.After(wait):
		}
		wait = checkEvery
		path, found := p.newest() // before running it: a replacement meanwhile is checked next
		if found == nil || p.info == nil || filetrust.Same(found, p.info) {
			continue // ours, or being written, or gone
		}
		if !filetrust.Same(found, seen) { // it may still be being copied
			seen, wait = found, recheckEvery
			continue
		}
		known := filetrust.Same(found, failed)
		if left := time.Until(retryAt); known && left > 0 {
			wait = left
			continue
		}
		if busy() {
			wait = recheckEvery
			continue
		}
		is, err := isOtherVersion(ctx, path, version, commit)
		switch {
		case ctx.Err() != nil:
			return false
		case err != nil:
			if !known {
				failed, retry = found, recheckEvery
				unusable(err)
			}
			wait, retry = retry, min(2*retry, checkEvery)
			retryAt = time.Now().Add(wait)
		case !is:
			p.info = found // the same version again
		case busy(): // a call came meanwhile
			wait = recheckEvery
		default:
			return true
		}
	}
}
