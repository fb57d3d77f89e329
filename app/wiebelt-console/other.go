//go:build !windows

package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "Dit programma is voor Windows.\nThis program is for Windows.")
	os.Exit(1)
}
