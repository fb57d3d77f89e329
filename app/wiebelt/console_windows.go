package main

import (
	"os"

	"golang.org/x/sys/windows"

	"wiebelt/internal/instance/installed"
)

// attachParentProcess names the console of whoever has started us (AttachConsole).
const attachParentProcess = ^uint32(0)

// console takes over the console of the small program that has started us in one, with
// its streams, which are not known for a console's before. It reports whether there is
// such a program; what we start ourselves has none.
func console() bool {
	if os.Getenv(installed.FromConsole) == "" {
		return false
	}
	_ = os.Unsetenv(installed.FromConsole)
	if r, _, _ := windows.NewLazySystemDLL("kernel32.dll").NewProc("AttachConsole").Call(uintptr(attachParentProcess)); r == 0 {
		return true // all streams are files or pipes
	}
	for _, s := range []**os.File{&os.Stdin, &os.Stdout, &os.Stderr} {
		before = append(before, *s)
		*s = os.NewFile((*s).Fd(), (*s).Name())
	}
	return true
}

// before are the streams as they were: the collector would close them, and ours with them.
var before []*os.File
