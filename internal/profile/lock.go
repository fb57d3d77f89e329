package profile

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"wiebelt/internal/trust"
)

// ErrHeld says that another program, or another part of this one, holds a file.
var ErrHeld = errors.New("another program holds it")

// lockIn is how long a lock is waited for; whoever has one writes a small file.
const lockIn = 5 * time.Second

// Lock waits until nobody else holds the lock at path, in this program or another,
// and holds it until release or the end of the program. ErrHeld comes back when
// that takes too long.
func Lock(path string) (release func(), err error) {
	f, err := trust.OpenFile(path, os.O_CREATE|os.O_RDWR, trust.Alone)
	if err != nil {
		return nil, fmt.Errorf("open the lock: %w", err)
	}
	for end := time.Now().Add(lockIn); ; time.Sleep(time.Millisecond + rand.N(4*time.Millisecond)) {
		if err = Hold(f); err == nil {
			return func() { _ = f.Close() }, nil
		}
		if !errors.Is(err, ErrHeld) || time.Now().After(end) {
			_ = f.Close()
			return nil, fmt.Errorf("lock: %w", err)
		}
	}
}
