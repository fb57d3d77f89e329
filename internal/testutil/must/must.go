// Package must ends a test on an error that is not its subject, or if something
// that it waits for does not happen in time.
package must

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"
)

// Test is a test of package testing or rapid.
type Test interface {
	Helper()
	Fatal(...any)
}

// Do ends the test if any error is not nil.
func Do(t Test, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// Get returns a function's value, or ends the test if it failed.
func Get[T any](v T, err error) func(Test) T {
	return func(t Test) T {
		t.Helper()
		Do(t, err)
		return v
	}
}

// Patience is how long a test waits for something to happen. It is long since machines may be
// busy, and only a failing test waits that long.
const Patience = 3 * time.Minute

// Soon waits until is returns true and returns how long that took. If that takes longer than
// Patience, it ends the test, which reports the last value of instead.
func Soon(t Test, is func() (so bool, instead any)) time.Duration {
	t.Helper()
	began := time.Now()
	for pause := time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
		so, instead := is()
		took := time.Since(began)
		if so {
			return took
		}
		if took > Patience {
			t.Fatal("it never came; there is ", instead)
		}
		time.Sleep(pause)
	}
}

// When is Soon for what a channel reports: it looks again after each value, for Patience in all.
// A closed channel reports nothing more, so it ends the test.
func When[T any](t Test, news <-chan T, what string, is func() (so bool, instead any)) {
	t.Helper()
	late := time.After(Patience)
	for {
		so, instead := is()
		if so {
			return
		}
		if _, ok := next(news, late); !ok {
			t.Fatal(fmt.Sprintf("never %s; last: %+v", what, instead))
		}
	}
}

// Until returns the first value from a channel that satisfies is, as When does.
func Until[T any](t Test, from <-chan T, what string, is func(T) bool) T {
	t.Helper()
	late := time.After(Patience)
	var seen []T
	for {
		v, ok := next(from, late)
		if !ok {
			t.Fatal(fmt.Sprintf("%s never came, but %+v", what, seen))
		}
		if is(v) {
			return v
		}
		seen = append(seen, v)
	}
}

// next returns the next value from a channel. It is not ok if the channel was closed, or if it
// became late first.
func next[T any](from <-chan T, late <-chan time.Time) (v T, ok bool) {
	select {
	case v, ok = <-from:
	case <-late:
	}
	return v, ok
}

// Receive returns the next value from a channel, which is what the test waits for, or ends the
// test if none comes. A closed channel has the zero value.
func Receive[T any](t Test, from <-chan T, what string) (v T) {
	t.Helper()
	select {
	case v = <-from:
	case <-time.After(Patience):
		t.Fatal(what + " never came")
	}
	return v
}

// Run calls run on a goroutine of its own. stop ends its context and waits for it; so does the
// end of the test.
func Run(t interface{ Cleanup(func()) }, run func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); run(ctx) }()
	stop = func() { cancel(); <-ended }
	t.Cleanup(stop)
	return stop
}

// Within ends the test if more than limit has passed since began. If the machine needs longer
// than usual for a fixed amount of work, the limit is multiplied accordingly.
func Within(t Test, began time.Time, limit time.Duration) {
	t.Helper()
	took := time.Since(began)
	if took <= limit {
		return
	}
	began = time.Now()
	for range work {
		sha256.Sum256(make([]byte, 1<<20))
	}
	if slower := float64(time.Since(began)) / float64(usual); float64(took) > float64(limit)*slower {
		t.Fatal("it took ", took, " where ", limit, " is allowed; the machine takes ", slower, " times as long as usual")
	}
}

const (
	work  = 50
	usual = 50 * time.Millisecond // for this work on an idle machine
)
