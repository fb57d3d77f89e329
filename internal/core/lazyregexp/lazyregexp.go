// Package lazyregexp delays compiling expressions until they are needed: compiling them
// when a package is loaded slows down every command.
package lazyregexp

import (
	"regexp"
	"sync"
)

// New returns a function that compiles the expression on first use, and
// panics if it is invalid.
func New(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
