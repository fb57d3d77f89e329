//go:build linux || windows

// Command wiebelt-ring is what a phone starts at every call: it does what "wiebelt
// ring" and "wiebelt open-url" do, with the same arguments, and has ended before
// those have begun, for it is a tenth of the size. It hands the call over, and
// starts Wiebelt where none runs. Errors, such as wrong arguments, are
// reported by the whole program beside it.
package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/instance"
	"wiebelt/internal/softphone/ring"
)

func main() {
	signal.Ignore(os.Interrupt, syscall.SIGTERM) // it ends when the call is handed over
	args := os.Args[1:]
	if len(args) == 0 || args[0] != "open-url" {
		if _, is := ring.Args(args); !is {
			args = append([]string{"ring"}, args...)
		}
	}
	var input bytes.Buffer
	if handOver(args, io.TeeReader(os.Stdin, &input)) {
		return
	}
	os.Exit(whole(args, input.String()))
}

// handOver gives the call to Wiebelt and reports whether that is all there was to do.
// Where it is not, the call lies nowhere.
func handOver(args []string, in io.Reader) bool {
	r, err := ring.Request{}, error(nil)
	if args[0] == "open-url" {
		r, err = ring.ParseLink(args[1:])
	} else {
		rest, _ := ring.Args(args)
		r, err = ring.Parse(rest, os.Getenv, in)
	}
	if err != nil {
		return false
	}
	dirs, err := profile.Find(r.Profile)
	if err != nil {
		return false
	}
	program, err := wholeProgram()
	if err != nil {
		return false
	}
	r.NoStart = r.NoStart || !ring.Screen() // the call would wait for one that can run, and the whole program's beside it
	if !r.Nothing && r.HandOver(context.Background(), instance.Config{RunDir: dirs.Run}, program) != nil {
		return false
	}
	if r.Answer != "" { // a program without a console has nowhere to write to
		_, _ = io.WriteString(os.Stdout, r.Answer)
	}
	return true
}
