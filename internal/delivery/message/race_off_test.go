//go:build !race

package message

const raced = false
