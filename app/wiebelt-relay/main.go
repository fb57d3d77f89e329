//go:build linux || windows

// Command wiebelt-relay listens to the telephone exchange for a whole office and gives each
// user their own calls. It is pure Go.
package main

import (
	"io"
	"log"
	"os"

	"wiebelt/internal/relay/command"
)

// Set when linking: -X main.version=… -X main.commit=….
var (
	version = "dev"
	commit  = "unknown"
)

func main() {
	// net/http and others quote network input in package log's output; we have our own log.
	log.SetOutput(io.Discard)
	os.Exit(command.Main(command.Build{Version: version, Commit: commit}, os.Args, os.Stdin, os.Stdout, os.Stderr))
}
