//go:build !linux && !windows

package main

import (
	"fmt"
	"os"
	"runtime"
)

func main() {
	fmt.Fprintf(os.Stderr, "wiebelt-relay draait op Windows en Linux, niet op %[1]s.\nwiebelt-relay runs on Windows and Linux, not on %[1]s.\n", runtime.GOOS)
	os.Exit(1)
}
