package main

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

func mainProgram() (string, error) {
	exe, err := os.Executable()
	return filepath.Join(filepath.Dir(exe), "wiebelt"), err
}

// runMain replaces this process with the whole program, with the input that we have read. It
// only returns if that fails.
func runMain(args []string, input string) int {
	exe, err := mainProgram()
	if err == nil {
		err = restoreStdin(input)
	}
	if err == nil {
		err = syscall.Exec(exe, append([]string{exe}, args...), os.Environ())
	}
	fmt.Fprintln(os.Stderr, "wiebelt-ring:", err)
	return 1
}

// restoreStdin makes what was read from standard input available there again.
func restoreStdin(input string) error {
	if input == "" {
		return nil
	}
	fd, err := unix.MemfdCreate("input", unix.MFD_CLOEXEC)
	if err != nil {
		return err
	}
	if _, err := unix.Pwrite(fd, []byte(input), 0); err != nil {
		return err
	}
	return unix.Dup3(fd, 0, 0)
}
