// Package browser opens a web address in the user's browser. It is the only place where our
// programs do so; telephone numbers use package dial.
//
// The caller must have checked where the address leads. This package only verifies that it is
// a web address and that the program that opens it gets nothing from us but the address. One
// goroutine per call waits for that program and ends with it.
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

// ErrRefused is returned for anything but a plain web address; nothing is started.
var ErrRefused = errors.New("not a web address")

// ErrNoBrowser is returned if no program can open it.
var ErrNoBrowser = errors.New("no browser found")

const (
	// openTimeout is how long Open waits for the program that opens addresses. If it is
	// still running then, it is a browser in the foreground.
	openTimeout = 5 * time.Second
	// maxAddress is the maximum length of an address, as in the Windows shell.
	maxAddress = 2048
)

// Open passes an address to the user's browser and returns when that has succeeded or
// failed: usually within a second, after five at the latest. A program still running then
// counts as success, since without a desktop environment it is the browser itself. Errors
// never contain the address. Open may be called from any goroutine that may block. If ctx
// ends first, its error is returned and the program continues.
func Open(ctx context.Context, address string) error {
	if err := check(address); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := openerOutput(); err != nil {
		return fmt.Errorf("open browser: %w", err)
	}
	done := make(chan error, 1)
	go func() { done <- pkgbrowser.OpenURL(address) }()
	select {
	case err := <-done:
		return explain(err)
	case <-time.After(openTimeout):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// check accepts only absolute http or https addresses of printable ASCII.
func check(address string) error {
	if len(address) > maxAddress {
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
	case u.Hostname() == "":
		return fmt.Errorf("%w: without a host", ErrRefused)
	case u.User != nil:
		return fmt.Errorf("%w: with a user", ErrRefused)
	}
	return nil
}

// openerOutput keeps the opener's output, which includes addresses, out of ours. A file,
// not io.Discard: with any other writer the library would wait until the last program
// holding the pipe ends, which is the browser.
var openerOutput = sync.OnceValue(func() error {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err == nil {
		pkgbrowser.Stdout, pkgbrowser.Stderr = null, null
	}
	return err
})

// explain replaces an error with one in our own words.
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
