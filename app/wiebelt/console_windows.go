package main

import (
	"os"

	"golang.org/x/sys/windows"

	"wiebelt/internal/instance/installed"
)

// attachParentProcess stands for the parent's console (AttachConsole).
const attachParentProcess = ^uint32(0)

// attachConsole attaches to the console of the small program that has started us, and reopens
// the streams, which were not recognised as a console's before. It reports whether there is
// such a program; processes that we start have none.
func attachConsole() bool {
	if os.Getenv(installed.FromConsoleVar) == "" {
		return false
	}
	_ = os.Unsetenv(installed.FromConsoleVar)
	if r, _, _ := windows.NewLazySystemDLL("kernel32.dll").NewProc("AttachConsole").Call(uintptr(attachParentProcess)); r == 0 {
		return true // all streams are files or pipes
	}
	for _, s := range []**os.File{&os.Stdin, &os.Stdout, &os.Stderr} {
		originalStreams = append(originalStreams, *s)
		*s = os.NewFile((*s).Fd(), (*s).Name())
	}
	return true
}

// originalStreams keeps the original streams: finalizers would close them, and with them ours.
var originalStreams []*os.File
