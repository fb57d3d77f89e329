package main

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// wholeProgram is the program beside us.
func wholeProgram() (string, error) {
	exe, err := os.Executable()
	return filepath.Join(filepath.Dir(exe), "wiebelt"), err
}

// whole puts the whole program in our place, with the input that we have read. It
// comes back only if that fails.
func whole(args []string, input string) int {
	exe, err := wholeProgram()
	if err == nil {
		err = giveBack(input)
	}
	if err == nil {
		err = syscall.Exec(exe, append([]string{exe}, args...), os.Environ())
	}
	fmt.Fprintln(os.Stderr, "wiebelt-ring:", err)
	return 1
}

// giveBack makes what was read of the standard input the standard input. It is
// less than a pipe holds.
func giveBack(input string) error {
	if input == "" {
		return nil
	}
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	if _, err := w.WriteString(input); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return syscall.Dup3(int(r.Fd()), 0, 0)
}
