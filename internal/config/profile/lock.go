package profile

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/gofrs/flock"

	"wiebelt/internal/filetrust"
	"wiebelt/internal/text"
)

// ErrLocked reports that another program, or another part of this one, holds a lock.
var ErrLocked = text.Errorf(text.ErrorHeld)

// lockTimeout limits the wait for a lock; its holder only writes a small file.
const lockTimeout = 5 * time.Second

// Lock waits for the lock at path, which excludes other programs and other parts of
// this one, and holds it until release or the end of the program. If that takes too
// long, it returns ErrLocked.
func Lock(path string) (release func(), err error) {
	l, err := openLock(path)
	if err != nil {
		return nil, err
	}
	// The system queues waiters; polling might never find it free.
	held := make(chan error, 1)
	go func() {
		err := l.Lock()
		for errors.Is(err, syscall.EINTR) {
			err = l.Lock()
		}
		held <- err
	}()
	select {
	case err = <-held:
		if err != nil {
			return nil, fmt.Errorf("lock: %w", err)
		}
		return func() { _ = l.Unlock() }, nil
	case <-time.After(lockTimeout):
		go func() { // until its holder releases it
			<-held
			_ = l.Unlock()
		}()
		return nil, fmt.Errorf("lock: %w", ErrLocked)
	}
}

// TryLock is Lock, but returns ErrLocked at once if the lock is held.
func TryLock(path string) (release func(), err error) {
	l, err := openLock(path)
	if err != nil {
		return nil, err
	}
	switch got, err := l.TryLock(); {
	case err != nil:
		return nil, fmt.Errorf("lock: %w", err)
	case !got:
		return nil, ErrLocked
	}
	return func() { _ = l.Unlock() }, nil
}

// openLock creates the lock's file, which must be ours. Package flock opens it again by its
// path: nobody else can make that lead elsewhere.
func openLock(path string) (*flock.Flock, error) {
	f, err := filetrust.OpenFile(path, os.O_CREATE|os.O_RDWR, filetrust.Private)
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("open the lock: %w", err)
	}
	return flock.New(path), nil
}
