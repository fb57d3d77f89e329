package outbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"
)

func init() {
	processes["full"] = func() {
		signal.Ignore(syscall.SIGXFSZ)
		orExit(syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 16 << 10, Max: 16 << 10}))
		_, err := Open(context.Background(), Options{Dir: os.Getenv(dirEnv)})
		if t, ok := errors.AsType[*Trouble](err); ok {
			fmt.Println(t.Kind)
		}
	}
}

// TestFullWhenOpened: no space for the files beside the database is a full disk,
// whatever SQLite's error.
func TestFullWhenOpened(t *testing.T) {
	p := startProcess(t, "full", t.TempDir(), "", 0)
	if kind := <-p.lines; kind != DiskFull {
		t.Errorf("%q", kind)
	}
}
