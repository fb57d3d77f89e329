//go:build !(linux || freebsd || netbsd || openbsd || dragonfly || windows)

package window

import "fmt"

// Open says that this system has no window of ours yet.
func Open() (Display, error) {
	return nil, fmt.Errorf("%w: cards are not supported on this system", ErrNoDisplay)
}
