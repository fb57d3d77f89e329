// Package must ends a test at an error that the test is not about, or where what it waits for
// never comes, or too late.
package must

import (
	"crypto/sha256"
	"errors"
	"time"
)

// Test is what ends: of package testing, or of rapid.
type Test interface {
	Helper()
	Fatal(...any)
}

// Do ends the test if there is an error.
func Do(t Test, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// Get gives what a function returned, and ends the test where it failed instead.
func Get[T any](v T, err error) func(Test) T {
	return func(t Test) T {
		t.Helper()
		Do(t, err)
		return v
	}
}

// Patience is how long a test waits for what should come. A machine may be busy, and only
// a test that fails waits so long.
const Patience = 3 * time.Minute

// Soon waits until something is so, and tells how long that took. Where it is not within
// Patience, the test ends with what there is instead.
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

// Within ends the test where more than limit has passed since began. Where a fixed piece
// of work takes longer than on a quiet machine, the limit is as many times longer.
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
	usual = 50 * time.Millisecond // that so much work takes where nothing else runs
)
