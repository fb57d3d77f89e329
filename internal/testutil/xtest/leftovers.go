package xtest

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"wiebelt/internal/testutil/must"
)

// NoneLeft makes the end of a test, after the functions passed to t.Cleanup later than this,
// wait until no program is left that has a folder of the test in its arguments or
// environment, since it would still write there while the folder is removed. A program that
// stays is killed by its id, and fails the test.
func NoneLeft(t testing.TB, dir string) {
	t.Helper()
	t.Cleanup(func() {
		tick := time.Tick(10 * time.Millisecond)
		late := time.Now().Add(must.Patience)
		for left := processesOf(dir); len(left) > 0; left = processesOf(dir) {
			if time.Now().After(late) {
				for pid, name := range left {
					t.Errorf("xtest: left running: %s", name)
					if p, err := os.FindProcess(pid); err == nil {
						_ = p.Kill() // it may just have ended
					}
				}
				late = time.Now().Add(must.Patience)
			}
			<-tick
		}
	})
}

// processesOf returns the names of the processes, other than this one, that have a folder
// in their arguments or environment, by id.
func processesOf(dir string) map[int]string {
	all, _ := filepath.Glob("/proc/[0-9]*")
	var left map[int]string
	for _, p := range all {
		pid, err := strconv.Atoi(filepath.Base(p))
		if err != nil || pid == os.Getpid() {
			continue
		}
		arguments, err := os.ReadFile(filepath.Join(p, "cmdline"))
		if err != nil || len(arguments) == 0 {
			continue // gone, or ended and not yet waited for
		}
		environment, _ := os.ReadFile(filepath.Join(p, "environ")) // another user's is unreadable, and not ours
		if bytes.Contains(arguments, []byte(dir)) || bytes.Contains(environment, []byte(dir)) {
			if left == nil {
				left = map[int]string{}
			}
			name, _, _ := bytes.Cut(arguments, []byte{0})
			left[pid] = filepath.Base(string(name))
		}
	}
	return left
}
