//go:build !race

package localhub_test

const raced = false
