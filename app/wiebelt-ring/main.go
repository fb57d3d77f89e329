//go:build linux || windows

// Command wiebelt-ring is what a phone starts at every call: it does what "wiebelt
// ring" and "wiebelt open-url" do, with the same arguments, and is ten times
// smaller, so that it has ended before the other has begun. It only hands the call
// to the Wiebelt that runs. Whatever else there is to do or to say – nobody runs,
// the arguments are wrong – is left to the whole program beside it.
package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

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

// handOver gives the call to the Wiebelt that runs and reports whether that is all
// there was to do. Where it is not, nothing has been done.
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
	r.Event.At = time.Now()
	if !r.Nothing && instance.HandOver(context.Background(), instance.Config{RunDir: dirs.Run}, r.Event, nil) != nil {
		return false
	}
	_, err = io.Copy(os.Stdout, strings.NewReader(r.Answer))
	return err == nil
}
