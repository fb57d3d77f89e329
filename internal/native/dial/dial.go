// Package dial hands a telephone number to the program that calls: the one that
// opens tel: or sip: addresses, or a command of the settings. What it hands over
// holds nothing but digits and a plus, it starts programs without a shell, and
// one goroutine a call waits for the program and ends with it.
package dial

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"
)

// Place is where a command has the number.
const Place = "{number}"

var (
	// ErrNumber is returned for what is no number; nothing is started.
	ErrNumber = errors.New("not a number to call")
)

const (
	// patience is how long a program is waited for: one that fails does so at
	// once, one that is still there then is the phone.
	patience = 2 * time.Second
	// fresh is how long it is remembered who opens what.
	fresh   = time.Minute
	longest = 40 // digits of a number
)

// Address is the address by which other programs are asked to call a number:
// "tel:+31612345678". Scheme is "tel" or "sip".
func Address(scheme, number string) (string, error) {
	if scheme != "tel" && scheme != "sip" {
		return "", fmt.Errorf("no scheme to call with: %q", scheme)
	}
	if !plain(number) {
		return "", ErrNumber
	}
	return scheme + ":" + number, nil
}

// plain reports whether a number is digits, perhaps after a plus.
func plain(number string) bool {
	digits := strings.TrimPrefix(number, "+")
	return digits != "" && len(digits) <= longest && strings.Trim(digits, "0123456789") == ""
}

// Open calls a number through the program that opens addresses of a scheme.
func Open(ctx context.Context, scheme, number string) error {
	address, err := Address(scheme, number)
	if err != nil {
		return err
	}
	return open(ctx, address)
}

// Run calls a number with a program and its arguments. The number becomes part of
// the argument that holds its place, whatever it is.
func Run(ctx context.Context, argv []string, number string) error {
	if !plain(number) {
		return ErrNumber
	}
	argv = slices.Clone(argv)
	for i := range argv {
		argv[i] = strings.ReplaceAll(argv[i], Place, number)
	}
	return start(ctx, argv)
}

// start starts a program that goes on without us. Its name must say where it is,
// or lie in the search path; the working folder is never looked into.
func start(ctx context.Context, argv []string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	if err := cmd.Start(); err != nil {
		return errors.New("the program to call with does not start") // the error would hold the command
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	late := time.After(patience)
	select {
	case err := <-done:
		if err != nil {
			return errors.New("the program to call with failed")
		}
		return nil
	case <-late:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Owners knows which programs open addresses. The zero value is ready to use;
// safe for concurrent use.
type Owners struct {
	mu    sync.Mutex
	known map[string]known
}

type known struct {
	other bool
	at    time.Time
}

// Other reports whether another program than ours opens addresses of a scheme. It
// remembers that for a minute.
func (o *Owners) Other(ctx context.Context, scheme string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if k, ok := o.known[scheme]; ok && time.Since(k.at) < fresh {
		return k.other
	}
	program := owner(ctx, scheme)
	if o.known == nil {
		o.known = map[string]known{}
	}
	k := known{program != "" && !strings.Contains(strings.ToLower(program), "wiebelt"), time.Now()}
	o.known[scheme] = k
	return k.other
}
