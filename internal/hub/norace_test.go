//go:build !race

package hub

// generous is what a lookup may take at most of a bare request's time in the
// tests; the benchmark is strict.
const generous = 1.6
