package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"wiebelt/internal/instance/installed"
)

func mainProgram() (string, error) {
	exe, err := os.Executable()
	return installed.ProgramIn(filepath.Dir(exe), "wiebeltw.exe"), err
}

// runMain runs the whole program of our kind, with the input that we have read, and
// returns its exit code.
func runMain(args []string, input string) int {
	exe, err := os.Executable()
	if err == nil {
		name := "wiebelt.exe"
		if strings.EqualFold(filepath.Base(exe), "wiebelt-ringw.exe") {
			name = "wiebeltw.exe"
		}
		cmd := exec.Command(installed.ProgramIn(filepath.Dir(exe), name), args...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), os.Stdout, os.Stderr
		if input == "" {
			cmd.Stdin = os.Stdin
		}
		err = cmd.Run()
		if x := (*exec.ExitError)(nil); errors.As(err, &x) {
			return x.ExitCode()
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "wiebelt-ring:", err)
		return 1
	}
	return 0
}
