//go:build race

package localhub_test

// raced: the race detector slows the database down many times.
const raced = true
