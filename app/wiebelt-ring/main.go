//go:build linux || windows

// Command wiebelt-ring is what a phone runs for every call: it does what "wiebelt ring" and
// "wiebelt open-url" do, with the same arguments, but is done before those have started,
// because it is a tenth of the size. It hands the call over, and starts Wiebelt if it is
// not running. The whole program beside it reports errors, such as wrong arguments.
package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/instance"
	"wiebelt/internal/softphone/ring"
	"wiebelt/internal/text"
)

func main() {
	instance.IgnoreInterrupts()
	args := os.Args[1:]
	if len(args) == 0 || args[0] != "open-url" {
		if _, is := ring.Args(args); !is {
			args = append([]string{"ring"}, args...)
		}
	}
	var input bytes.Buffer
	l, err := handOver(args, io.TeeReader(os.Stdin, &input))
	switch {
	case errors.Is(err, instance.ErrLeftInInbox): // the whole program could not be started
		fmt.Fprintln(os.Stderr, "wiebelt-ring:", l.Error(err))
		os.Exit(1)
	case err != nil:
		os.Exit(runMain(args, input.String()))
	}
}

// handOver hands the call over to Wiebelt. If it fails, the call is not kept anywhere,
// except with instance.ErrLeftInInbox, which must be reported in l.
func handOver(args []string, in io.Reader) (l text.Language, err error) {
	var r ring.Request
	if args[0] == "open-url" {
		r, err = ring.ParseLink(args[1:])
	} else {
		rest, _ := ring.Args(args)
		r, err = ring.Parse(rest, os.Getenv, in)
	}
	if err != nil {
		return l, err
	}
	dirs, err := profile.Find(r.Profile)
	if err != nil {
		return l, err
	}
	r.NoStart = r.NoStart || !ring.HasScreen() // the call would wait for one that can run, and the whole program's beside it
	if !r.NoCall {
		err = r.HandOver(context.Background(), instance.Config{RunDir: dirs.Run}, mainProgram)
	}
	if r.Answer != "" && (err == nil || errors.Is(err, instance.ErrLeftInInbox)) { // a program without a console cannot write
		_, _ = io.WriteString(os.Stdout, r.Answer)
	}
	return text.Language(cmp.Or(r.Language, "nl")), err
}
