// Package lazyregexp keeps expressions from being compiled before they are needed: what
// a package compiles while it is loaded holds up every command.
package lazyregexp

import (
	"regexp"
	"sync"
)

// New gives an expression that is compiled when it is first asked for, and panics
// then if it cannot be.
func New(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
