package outbox

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"syscall"
	"testing"

	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/processtest"
)

func init() {
	roles["full"] = func(t must.Test, args []string) {
		signal.Ignore(syscall.SIGXFSZ)
		must.Do(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 16 << 10, Max: 16 << 10}))
		_, err := Open(context.Background(), Options{Dir: args[0]})
		if trouble, ok := errors.AsType[*Trouble](err); ok {
			fmt.Println(trouble.Kind)
		}
	}
}

// TestFullWhenOpened: no space for the files beside the database is a full disk,
// whatever SQLite's error.
func TestFullWhenOpened(t *testing.T) {
	p := processtest.Start(t, "full", t.TempDir())
	if kind := <-p.Lines; kind != DiskFull {
		t.Errorf("%q", kind)
	}
}
