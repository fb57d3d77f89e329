// Package browser opens a web address in the user's browser. It is the only
// place from which a program of ours does so; numbers go by package dial.
//
// The caller has already checked where the address leads; this package only
// makes sure that it is a web address at all and that the program which opens
// it gets nothing of ours but the address. One goroutine per call waits for
// that program and ends with it.
package browser

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	pkgbrowser "github.com/pkg/browser"
)

// ErrRefused is returned for what is no plain web address; nothing is started.
var ErrRefused = errors.New("not a web address")

// ErrNoBrowser is returned where no program is there to open it with.
var ErrNoBrowser = errors.New("no browser found")

const (
	// patience is how long Open waits for the program that opens addresses.
	// One that is still running then is a browser that stays in front.
	patience = 5 * time.Second
	// longest is the longest address handed on; the Windows shell ends there.
	longest = 2048
)

// Open hands an address to the user's browser and returns when that is known to
// have worked or failed: mostly within a second, after five at the latest. A
// program that is still running then counts as success, since without a desktop
// environment it is the browser itself. Errors never hold the address. Open may
// be called from any goroutine; do not call it where waiting hurts. When ctx
// ends first, its error is returned and the program goes on.
func Open(ctx context.Context, address string) error {
	if err := check(address); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := silence(); err != nil {
		return fmt.Errorf("open browser: %w", err)
	}
	done := make(chan error, 1)
	go func() { done <- pkgbrowser.OpenURL(address) }()
	late := time.After(patience)
	select {
	case err := <-done:
		return explain(err)
	case <-late:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// check takes nothing but an absolute http or https address of printable ASCII.
func check(address string) error {
	if len(address) > longest {
		return fmt.Errorf("%w: too long", ErrRefused)
	}
	for i := range len(address) {
		if c := address[i]; c <= ' ' || c >= 0x7f || strings.IndexByte("\\\"<>^`{|}", c) >= 0 {
			return fmt.Errorf("%w: character that has to be escaped", ErrRefused)
		}
	}
	u, err := url.Parse(address)
	switch {
	case err != nil: // url.Error would repeat the address
		return fmt.Errorf("%w: cannot be read", ErrRefused)
	case u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("%w: neither http nor https", ErrRefused)
	case u.Hostname() == "" || u.Opaque != "":
		return fmt.Errorf("%w: without a host", ErrRefused)
	case u.User != nil:
		return fmt.Errorf("%w: with a user", ErrRefused)
	}
	return nil
}

// silence keeps what the opener prints, addresses among it, out of our output.
// A file and not io.Discard: with a writer of another kind the library would
// wait until the last program holding the pipe ends, which is the browser.
var silence = sync.OnceValue(func() error {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err == nil {
		pkgbrowser.Stdout, pkgbrowser.Stderr = null, null
	}
	return err
})

// explain says what went wrong in words of ours.
func explain(err error) error {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, exec.ErrNotFound):
		return ErrNoBrowser
	case errors.As(err, &exit) && exit.ExitCode() == 3: // xdg-open: no program for it
		return ErrNoBrowser
	}
	return fmt.Errorf("open browser: %w", err)
}
