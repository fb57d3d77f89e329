// Package must ends a test at an error that the test is not about.
package must

import "errors"

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
