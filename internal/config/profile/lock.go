package profile

import (
	"errors"
	"fmt"
	"os"
	"time"

	"wiebelt/internal/filetrust"
)

// ErrHeld says that another program, or another part of this one, holds a file.
var ErrHeld = errors.New("another program holds it")

// lockIn is how long a lock is waited for; whoever has one writes a small file.
const lockIn = 5 * time.Second

// Lock waits until nobody else holds the lock at path, in this program or another,
// and holds it until release or the end of the program. ErrHeld comes back when
// that takes too long.
func Lock(path string) (release func(), err error) {
	f, err := filetrust.OpenFile(path, os.O_CREATE|os.O_RDWR, filetrust.Alone)
	if err != nil {
		return nil, fmt.Errorf("open the lock: %w", err)
	}
	// The system has waiters take their turns; who looks again and again may never
	// find it free.
	held := make(chan error, 1)
	go func() { held <- hold(f) }()
	select {
	case err = <-held:
		if err != nil {
			_ = f.Close()
			return nil, fmt.Errorf("lock: %w", err)
		}
		return func() { _ = f.Close() }, nil
	case <-time.After(lockIn):
		go func() { // until whoever has it lets go
			<-held
			_ = f.Close()
		}()
		return nil, fmt.Errorf("lock: %w", ErrHeld)
	}
}
