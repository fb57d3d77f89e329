package instance

import (
	"os"
	"os/signal"
	"runtime"
	"syscall"
)

// IgnoreInterrupts keeps the program running until it has handed over its call, despite Ctrl-C
// or the end of the session or console.
func IgnoreInterrupts() {
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	signal.Ignore(ends...)
	if runtime.GOOS == "windows" { // where ignoring a signal does not keep the program alive
		signal.Notify(make(chan os.Signal, 1), ends...)
	}
}
