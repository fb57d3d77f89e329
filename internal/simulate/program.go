package simulate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"wiebelt/internal/core/call"
)

// commandRun describes how to run the program for an event.
type commandRun struct {
	command    string
	args       []string
	env        []string
	wantOutput string // expected output; "" accepts anything
}

const (
	programTimeout = 20 * time.Second // Twinkle only rings after the program has answered
	maxOutput      = 4 << 10          // bytes of the program's output
)

// openProgram makes a phone that runs our own program for each event, like softphones that
// can run a program: with arguments, a link, or Twinkle's environment.
func openProgram(line func(Update) commandRun) opener {
	return func(_ context.Context, o Options) (Softphone, error) {
		if o.Exe == "" {
			return nil, errors.New("no program to run")
		}
		return sender(func(ctx context.Context, n Update) error { return line(n).run(ctx, o) }), nil
	}
}

// urlLine opens an address, which can only express a number and the state of the call.
func urlLine(n Update) commandRun {
	link := "wiebelt:call?number=" + url.QueryEscape(digits(n.Call.Number)) + "&state=" + state(n)
	return commandRun{command: "open-url", args: []string{"--", link}}
}

func twinkleCommand(n Update) commandRun {
	return commandRun{command: "ring", args: []string{"--twinkle"}, env: twinkleEnv(n), wantOutput: "action=continue\n"}
}

func commandLine(n Update) commandRun {
	args := []string{"--state", state(n)}
	for _, f := range [][2]string{{"--id", n.Call.ID}, {"--name", n.Call.Name}, {"--line", n.Call.Line}, {"--via", n.Call.Via}, {"--direction", n.Call.Direction}} {
		if f[1] != "" {
			args = append(args, f[0]+"="+f[1]) // a single argument, however the value begins
		}
	}
	args = append(args, "--")
	if n.Call.Number != "" {
		args = append(args, n.Call.Number)
	}
	return commandRun{command: "ring", args: args}
}

func state(n Update) string {
	switch {
	case n.Verb == End:
		return "ended"
	case n.Answered:
		return "answered"
	}
	return "ringing"
}

// digits returns a number as a phone dials it.
func digits(number string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("0123456789+*#", r) {
			return r
		}
		return -1
	}, number)
}

// run runs the program until it exits.
func (run commandRun) run(ctx context.Context, o Options) error {
	ctx, cancel := context.WithTimeout(ctx, programTimeout)
	defer cancel()
	all := []string{run.command}
	if o.Profile != "" {
		all = append(all, "--profile", o.Profile)
	}
	cmd := exec.CommandContext(ctx, o.Exe, append(all, run.args...)...)
	other := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "TWINKLE_") || strings.HasPrefix(v, "SIP") })
	cmd.Env = append(other, run.env...)
	cmd.WaitDelay = time.Second // it may have started Wiebelt, which keeps running
	out, said := &boundedBuffer{}, &boundedBuffer{}
	cmd.Stdout, cmd.Stderr = out, said
	err := cmd.Run()
	if o.ProgramOutput != nil && said.Len() > 0 {
		_, _ = o.ProgramOutput.Write(said.Bytes())
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return fmt.Errorf("wiebelt %s: %w", run.command, err)
	case run.wantOutput != "" && out.String() != run.wantOutput:
		return fmt.Errorf("wiebelt %s: the phone would not go on ringing after what it said", run.command)
	}
	return nil
}

type boundedBuffer struct{ bytes.Buffer }

func (b *boundedBuffer) Write(p []byte) (int, error) {
	if room := maxOutput - b.Len(); room > 0 {
		b.Buffer.Write(p[:min(len(p), room)])
	}
	return len(p), nil
}

// twinkleEnv returns the environment that Twinkle sets for the script of an event.
func twinkleEnv(n Update) []string {
	us, trigger := n.Call.dialled(), "in_call"
	from, to := nameAddr(n.Call), "<sip:"+us+"@127.0.0.1>"
	fromUser, toUser := sipUser(n.Call), us
	if n.Call.Direction == "outgoing" {
		trigger = "out_call"
		from, to, fromUser, toUser = to, from, toUser, fromUser
	}
	env := []string{"TWINKLE_USER_PROFILE=simulate", "TWINKLE_LINE=1", "SIP_CALL_ID=" + n.Call.ID + "@127.0.0.1",
		"SIP_FROM=" + from + ";tag=" + n.Call.ID, "SIP_FROM_USER=" + fromUser, "SIP_FROM_HOST=127.0.0.1",
		"SIP_TO=" + to, "SIP_TO_USER=" + toUser, "SIP_TO_HOST=127.0.0.1"}
	switch {
	case n.Verb == End && n.Answered:
		trigger = "remote_release"
	case n.Verb == End:
		trigger += "_failed"
		code := "SIPSTATUS_CODE=487"
		if n.Reason == call.Rejected {
			code = "SIPSTATUS_CODE=603"
		}
		env = append(env, code)
	case n.Verb == Answer:
		trigger += "_answered"
	}
	return append(env, "TWINKLE_TRIGGER="+trigger)
}

// sipUser returns the user part of a caller's SIP address. Of
// its characters, only "#" has to be escaped there.
func sipUser(c Call) string {
	if c.Number == "" {
		return "anonymous"
	}
	return strings.ReplaceAll(digits(c.Number), "#", "%23")
}

// sipURI returns the caller's address; for a withheld one, that of RFC 3323.
func sipURI(c Call) string {
	if c.Number == "" {
		return "sip:anonymous@anonymous.invalid"
	}
	return "sip:" + sipUser(c) + "@127.0.0.1:5070"
}

func nameAddr(c Call) string {
	if name := sipName(c); name != "" {
		return `"` + name + `" <` + sipURI(c) + ">"
	}
	return "<" + sipURI(c) + ">"
}

// sipName returns the display name as quoted in SIP; programs leave the backslashes in.
func sipName(c Call) string {
	if c.Number == "" {
		return "Anonymous"
	}
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(c.Name)
}
