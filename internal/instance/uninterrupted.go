package instance

import (
	"os"
	"os/signal"
	"runtime"
	"syscall"
)

// Uninterrupted has the program go on when it is asked to end, until it has handed over
// its call: by Ctrl-C, or by the end of the session or of its console.
func Uninterrupted() {
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	signal.Ignore(ends...)
	if runtime.GOOS == "windows" { // where a program that ignores it is ended all the same
		signal.Notify(make(chan os.Signal, 1), ends...)
	}
}
