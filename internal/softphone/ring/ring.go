// Package ring reads what a softphone passes to the program it runs for a call (arguments,
// environment and standard input, all of it untrusted text) and hands the call over. It
// imports nothing large and has no state, so that it does not delay a ringing phone.
package ring

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"wiebelt/internal/core/call"
	"wiebelt/internal/instance"
	"wiebelt/internal/softphone/registry"
	"wiebelt/internal/softphone/scheme"
	"wiebelt/internal/softphone/twinkle"
	"wiebelt/internal/text"
)

// EnvPrefix is the prefix of the environment variables that hold a field:
// WIEBELT_NUMBER and so on.
const EnvPrefix = "WIEBELT_"

// Fields are what a phone can report about a call. Each is a flag of that name (except the
// number, which follows the flags), an environment variable, and a line of standard input.
var Fields = []string{"state", "id", "name", "line", "via", "direction", "number"}

// maxInput limits how much of standard input is read, in bytes.
const maxInput = 16 << 10

// Errors in how the command is used. What a phone fills in is never a reason to fail:
// the card says what it is.
var (
	ErrHelp           = errors.New("help is asked for")
	ErrFlag           = errors.New("no such flag")
	ErrState          = errors.New("state is ringing, answered or ended")
	ErrDirection      = errors.New("direction is incoming, outgoing or unknown")
	ErrProfile        = errors.New("profile is a folder of this computer")
	ErrInput          = errors.New("standard input cannot be read")
	ErrTwinkle        = twinkle.ErrNotTwinkle
	ErrSingleArgument = errors.New("one argument is taken, behind --")
)

// Request is one call to hand over.
type Request struct {
	Event    call.Event // without its time
	Profile  string     // as given; "" for the user's own
	Language string     // of the output; "" means the one in the settings
	NoStart  bool       // do not start Wiebelt
	NoCall   bool       // there is no call to hand over
	Answer   string     // what the phone expects to read, whatever the result
}

// ErrNoScreen means that Wiebelt cannot run here.
var ErrNoScreen = text.Errorf(text.RingNoScreen)

// HasScreen reports whether Wiebelt can run here.
func HasScreen() bool {
	return runtime.GOOS != "linux" || os.Getenv("DISPLAY") != "" || os.Getenv("WAYLAND_DISPLAY") != ""
}

// HandOver passes the call to the running Wiebelt, or else starts the whole program,
// which then takes the call; program returns its path and is only called then. Errors are
// those of instance.HandOver and of program; ErrNoScreen means that it was not started
// because it cannot run here.
func (r Request) HandOver(ctx context.Context, cfg instance.Config, program func() (string, error)) error {
	e := r.Event
	e.At = time.Now()
	if r.NoStart {
		return instance.HandOver(ctx, cfg, e, nil)
	}
	return instance.HandOver(ctx, cfg, e, func() error {
		if !HasScreen() {
			return ErrNoScreen
		}
		args := []string{"run", "--background"}
		if r.Profile != "" {
			dir, err := filepath.Abs(r.Profile)
			if err != nil {
				return err
			}
			args = append([]string{"--profile", dir}, args...)
		}
		path, err := program()
		if err != nil {
			return err
		}
		return instance.StartDetached(withoutCall(os.Environ()), path, args...)
	})
}

// Args returns the arguments after "ring", preceded by the global flags that stand before
// it. ok is false for another command.
func Args(args []string) (rest []string, ok bool) {
	for len(args) > 0 && args[0] != "ring" {
		flag, _, tied := strings.Cut(args[0], "=")
		n := 2
		if tied {
			n = 1
		}
		if flag != "--profile" && flag != "--language" || len(args) < n {
			return nil, false
		}
		rest, args = append(rest, args[:n]...), args[n:]
	}
	if len(args) == 0 {
		return nil, false
	}
	return append(rest, args[1:]...), true
}

// Parse parses a hand-over: args are the arguments after "ring", env is os.Getenv.
// Arguments take precedence over lines of in, which is read only for --stdin, and
// those over the environment.
//
// A name may look like a flag, and if a phone had nothing to fill in, the value
// may be missing altogether. A caller's choice of name must neither make the
// call fail nor be obeyed.
func Parse(args []string, env func(string) string, in io.Reader) (Request, error) {
	var r Request
	said, asked := map[string]string{}, map[string]bool{}
	args, err := flags(args, said, asked)
	if err != nil {
		return r, err
	}
	r.NoStart, r.Profile = asked["--no-start"], said["profile"]
	if l := said["language"]; l == "nl" || l == "en" {
		r.Language = l
	}
	if _, ok := said["profile"]; ok && (r.Profile == "" || IsRemote(r.Profile)) {
		return r, ErrProfile
	}
	if asked["--twinkle"] {
		return r, r.twinkle(env)
	}
	if len(args) > 0 {
		said["number"] = args[0]
		said["name"] = cmp.Or(said["name"], strings.Join(args[1:], " "))
	}
	if asked["--stdin"] {
		if err := lines(in, said); err != nil {
			return r, err
		}
	}
	for _, f := range Fields {
		said[f] = cmp.Or(said[f], env(EnvPrefix+strings.ToUpper(f)))
	}
	return r, r.event(said)
}

// flags parses the flags: said receives those with a value, asked those without. It returns
// the remaining arguments.
func flags(args []string, said map[string]string, asked map[string]bool) (rest []string, err error) {
	for ; len(args) > 0 && strings.HasPrefix(args[0], "-"); args = args[1:] {
		if args[0] == "--" {
			return args[1:], nil
		}
		flag, value, tied := strings.Cut(args[0], "=")
		name := strings.TrimPrefix(flag, "--")
		switch {
		case flag == "--profile", flag == "--language", name != "number" && slices.Contains(Fields, name):
			if !tied && len(args) > 1 && args[1] != "--" {
				value, args = args[1], args[1:]
			}
			said[name] = value
		case tied:
			return nil, ErrFlag
		case flag == "--stdin", flag == "--twinkle", flag == "--no-start":
			asked[flag] = true
		case flag == "--help", flag == "-h":
			return nil, ErrHelp
		default:
			return nil, ErrFlag
		}
	}
	return args, nil
}

func (r *Request) event(said map[string]string) error {
	state, ok := call.ParseState(said["state"])
	if !ok {
		return ErrState
	}
	direction := call.ParseDirection(said["direction"])
	if direction == call.DirectionUnknown && !strings.EqualFold(said["direction"], direction.String()) {
		return ErrDirection
	}
	r.Event = call.Event{Source: registry.Of(call.KindCommand).CallSource(""), State: state, Direction: direction,
		ID: said["id"], Number: said["number"], Name: said["name"], Line: said["line"], Via: said["via"]}.Clean()
	return nil
}

func (r *Request) twinkle(env func(string) string) error {
	e, ok, err := twinkle.Read(env)
	if err != nil {
		return err
	}
	e.Source = registry.Of(registry.Twinkle).CallSource("")
	r.Event, r.NoCall, r.Answer = e, !ok, twinkle.Answer
	return nil
}

// ParseLink parses the arguments after "open-url". Errors are ErrSingleArgument and
// those of package scheme.
func ParseLink(args []string) (r Request, err error) {
	var uri string
	if uri, r.Profile, err = SingleArgument(args); err != nil {
		return r, err
	}
	r.Event, err = scheme.Parse(uri)
	r.Event = r.Event.Clean()
	return r, err
}

// SingleArgument returns the single argument of a command that other programs fill in:
// args are exactly "-- ARGUMENT" or "--profile DIR -- ARGUMENT". A quote in a link adds
// arguments, so anything else is ErrSingleArgument.
func SingleArgument(args []string) (argument, profile string, err error) {
	switch {
	case len(args) == 2 && args[0] == "--":
		return args[1], "", nil
	case len(args) == 4 && args[0] == "--profile" && args[2] == "--" && filepath.IsAbs(args[1]) && !IsRemote(args[1]):
		return args[3], args[1], nil
	}
	return "", "", ErrSingleArgument
}

// lines adds fields from lines of the form field=value; the first line of a field counts,
// and a line without = before it is the number. An empty line or the end of input terminates them.
func lines(in io.Reader, said map[string]string) error {
	s := bufio.NewScanner(io.LimitReader(in, maxInput))
	for s.Scan() && strings.TrimSpace(s.Text()) != "" {
		name, value, ok := strings.Cut(strings.TrimPrefix(s.Text(), "\ufeff"), "=")
		if !ok || strings.ContainsAny(name, ":@;") { // or a SIP address with parameters
			name, value = "number", s.Text()
		}
		if name = strings.ToLower(strings.TrimSpace(name)); slices.Contains(Fields, name) && said[name] == "" {
			said[name] = value
		}
	}
	if s.Err() != nil {
		return ErrInput
	}
	return nil
}

// withoutCall removes the call from an environment, whichever phone put it there: otherwise
// the resident and everything it starts would keep it.
func withoutCall(env []string) []string {
	return slices.DeleteFunc(env, func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		field, ours := strings.CutPrefix(name, EnvPrefix)
		return ours && slices.Contains(Fields, strings.ToLower(field)) || strings.HasPrefix(name, "SIP_") || strings.HasPrefix(name, "TWINKLE_")
	})
}

// IsRemote reports whether a folder is on another computer. A command line assembled
// by a phone must not lead there: a caller whose name breaks out of it could make it
// access a computer of theirs.
func IsRemote(dir string) bool {
	return strings.HasPrefix(dir, `\\`) || strings.HasPrefix(dir, "//")
}
