// Package dial passes a telephone number to the program that places calls: the one that
// opens tel: or sip: addresses, or a command from the settings. It passes only digits
// and a plus and starts programs without a shell. One goroutine per call waits for the
// program and ends with it.
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

// errNumber is returned for anything but a telephone number; nothing is started.
var errNumber = errors.New("not a number to call")

const (
	placeholder = "{number}" // stands for the number in a command
	// startTimeout is how long to wait for a program: failures are immediate, and one still
	// running then is the phone.
	startTimeout = 2 * time.Second
	// cacheFor is how long Owners caches which program opens a scheme.
	cacheFor  = time.Minute
	maxDigits = 40 // maximum digits of a number
)

// addressOf returns the address that asks other programs to call a number:
// "tel:+31612345678". Scheme is "tel" or "sip".
func addressOf(scheme, number string) (string, error) {
	if scheme != "tel" && scheme != "sip" {
		return "", fmt.Errorf("no scheme to call with: %q", scheme)
	}
	if !isNumber(number) {
		return "", errNumber
	}
	return scheme + ":" + number, nil
}

// isNumber reports whether a number is only digits, optionally after a plus.
func isNumber(number string) bool {
	digits := strings.TrimPrefix(number, "+")
	return digits != "" && len(digits) <= maxDigits && strings.Trim(digits, "0123456789") == ""
}

// Open calls a number through the program that opens addresses of a scheme.
func Open(ctx context.Context, scheme, number string) error {
	address, err := addressOf(scheme, number)
	if err != nil {
		return err
	}
	return open(ctx, address)
}

// Run calls a number with a program and its arguments. The number only ever becomes part of
// the argument that contains its placeholder. Run returns when the program has ended or,
// after two seconds, counts as started; ctx then no longer stops it. Errors contain neither
// number nor command.
func Run(ctx context.Context, argv []string, number string) error {
	if !isNumber(number) {
		return errNumber
	}
	argv = slices.Clone(argv)
	for i := range argv {
		argv[i] = strings.ReplaceAll(argv[i], placeholder, number)
	}
	return start(ctx, argv)
}

// start starts a program that runs independently of ours. Its name must be a path, or be
// found in the search path; the working folder is never searched.
func start(ctx context.Context, argv []string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	if err := cmd.Start(); err != nil {
		return errors.New("the program to call with does not start") // err would contain the command
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case err := <-done:
		if err != nil {
			return errors.New("the program to call with failed")
		}
		return nil
	case <-time.After(startTimeout):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Owners knows which programs open addresses. The zero value is ready to use;
// safe for concurrent use.
type Owners struct {
	mu    sync.Mutex
	known map[string]cachedOwner
}

type cachedOwner struct {
	other bool
	at    time.Time
}

// HasOther reports whether a program other than ours opens addresses of a scheme. It caches
// the result for a minute.
func (o *Owners) HasOther(ctx context.Context, scheme string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if k, ok := o.known[scheme]; ok && time.Since(k.at) < cacheFor {
		return k.other
	}
	program := owner(ctx, scheme)
	if o.known == nil {
		o.known = map[string]cachedOwner{}
	}
	k := cachedOwner{program != "" && !strings.Contains(strings.ToLower(program), "wiebelt"), time.Now()}
	o.known[scheme] = k
	return k.other
}
