//go:build race

package hub

// generous is what a lookup may take at most of a bare request's time in the
// tests. The race detector watches our code and hardly the system calls.
const generous = 2.5
