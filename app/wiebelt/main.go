//go:build linux || windows

// Command wiebelt is all of Wiebelt: the resident with tray and cards, the windows and
// all commands. It is pure Go.
package main

import (
	"io"
	"log"
	"os"

	"wiebelt/internal/cli"
)

// Set when linking: -X main.version=… -X main.commit=….
var (
	version = "dev"
	commit  = "unknown"
)

func main() {
	// net/http and others quote network input in package log's output; we have our own log.
	log.SetOutput(io.Discard)
	inConsole := attachConsole() // before the streams are used
	os.Exit(cli.Main(cli.Build{Version: version, Commit: commit, Console: inConsole}, os.Args, os.Stdin, os.Stdout, os.Stderr))
}
