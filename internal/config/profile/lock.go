package profile

import (
	"errors"
	"fmt"
	"os"
	"time"

	"wiebelt/internal/filetrust"
)

// ErrLocked reports that another program, or another part of this one, holds a file.
var ErrLocked = errors.New("another program holds it")

// lockTimeout limits the wait for a lock; its holder only writes a small file.
const lockTimeout = 5 * time.Second

// Lock waits for the lock at path, which excludes other programs and other parts of
// this one, and holds it until release or the end of the program. If that takes too
// long, it returns ErrLocked.
func Lock(path string) (release func(), err error) {
	f, err := filetrust.OpenFile(path, os.O_CREATE|os.O_RDWR, filetrust.Private)
	if err != nil {
		return nil, fmt.Errorf("open the lock: %w", err)
	}
	// The system queues waiters; polling might never find it free.
	held := make(chan error, 1)
	go func() { held <- lockFile(f) }()
	select {
	case err = <-held:
		if err != nil {
			_ = f.Close()
			return nil, fmt.Errorf("lock: %w", err)
		}
		return func() { _ = f.Close() }, nil
	case <-time.After(lockTimeout):
		go func() { // until its holder releases it
			<-held
			_ = f.Close()
		}()
		return nil, fmt.Errorf("lock: %w", ErrLocked)
	}
}
