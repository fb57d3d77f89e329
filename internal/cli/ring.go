package cli

import (
	"errors"
	"fmt"
	"os"

	"wiebelt/internal/commandline"
	"wiebelt/internal/instance"
	"wiebelt/internal/softphone/ring"
	"wiebelt/internal/text"
)

// ringCmd is only for the help; ring does the work.
type ringCmd struct {
	State     string `default:"ringing"`
	ID        string `name:"id"`
	Name      string
	Line      string
	Via       string
	Direction string `default:"incoming"`
	Stdin     bool
	Twinkle   bool
	NoStart   bool     `name:"no-start"`
	Number    []string `arg:"" optional:"" passthrough:"partial"`
}

func (ringCmd) Run(*env) error { return usageError(text.RingFlag) }

// ring hands a call over; args are those after "ring".
func (e *env) ring(args []string) error {
	r, err := ring.Parse(args, os.Getenv, e.in)
	e.profileDir, e.language = r.Profile, text.Language(r.Language)
	if key, known := ringFaults[err]; known {
		return usageError(key)
	}
	if err == nil && !r.NoCall {
		err = e.handOver(r)
	}
	if r.Answer != "" { // Twinkle rings once it has read it, whatever becomes of the call here
		fmt.Fprint(e.out, r.Answer)
	}
	return err
}

var ringFaults = map[error]text.Key{ring.ErrFlag: text.RingFlag, ring.ErrState: text.RingState, ring.ErrDirection: text.RingDirection,
	ring.ErrProfile: text.RingProfile, ring.ErrInput: text.RingInput, ring.ErrTwinkle: text.RingTwinkle}

func (e *env) handOver(r ring.Request) error {
	d, err := e.dirs()
	if err != nil {
		return err
	}
	err = r.HandOver(e.ctx, e.instanceConfig(d, nil), newestProgram)
	for _, why := range []error{instance.ErrNotRunning, instance.ErrQuit, ring.ErrNoScreen} {
		if errors.Is(err, why) {
			return &failure{exitNotRunning, why}
		}
	}
	return err
}

// openURLCmd is only for the help; handOverLink does the work.
type openURLCmd struct{}

func (openURLCmd) Run(e *env) error { return e.argumentError("open-url", "URI") }

// handOverLink ignores everything that is not exactly one link.
func (e *env) handOverLink(args []string) error {
	r, err := ring.ParseLink(args)
	e.profileDir = r.Profile
	switch {
	case errors.Is(err, ring.ErrSingleArgument):
		return e.argumentError("open-url", "URI")
	case err != nil:
		return &failure{exitUsage, err}
	}
	return e.handOver(r)
}

func (e *env) argumentError(command, what string) error {
	return usageError(text.OutputUsageLone, command, commandline.Placeholder(e.lang(), what))
}
