package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"text/tabwriter"

	"wiebelt/internal/commandline"
	"wiebelt/internal/config/fromsettings"
	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/config/templates"
	"wiebelt/internal/softphone/ring"
	"wiebelt/internal/text"
)

// lang is the one language of this run: as --language says, else as the settings
// of the profile do, else the system's. It is found out when there is something
// to say, which a ringing phone's command seldom has.
func (e *env) lang() text.Language {
	if e.language == "" {
		s := settings.Defaults()
		if d, err := profile.Find(e.profileDir); err == nil && !ring.Elsewhere(e.profileDir) {
			s, _ = settings.Load(d) // what is wrong in them is said by who uses them
		}
		e.language = fromsettings.Language(s)
	}
	return e.language
}

// say writes a line for people on standard output, note one on standard error.
func (e *env) say(key text.Key, args ...any) { fmt.Fprintln(e.out, e.T(key, args...)) }

func (e *env) note(key text.Key, args ...any) { fmt.Fprintln(e.err, "wiebelt:", e.T(key, args...)) }

// print writes a value for programs on standard output.
func (e *env) print(v any) error { return json.NewEncoder(e.out).Encode(v) }

// table lines up in columns what people read on standard output.
func (e *env) table() *tabwriter.Writer { return tabwriter.NewWriter(e.out, 0, 4, 2, ' ', 0) }

// T is a text in the language of the run; arguments that are errors or keys are
// put into it, too.
func (e *env) T(key text.Key, args ...any) string { return e.tell(text.Errorf(key, args...)) }

// tell is an error in the language of the run, on one line.
func (e *env) tell(err error) string {
	if bad, ok := errors.AsType[settings.Problem](err); ok {
		return oneLine(templates.Say(e.lang(), bad))
	}
	return oneLine(e.lang().Error(err))
}

// fail is an error that ends the command with an exit code, in the language of
// the run.
func fail(code int, key text.Key, args ...any) error {
	return &failure{code, text.Errorf(key, args...)}
}

// wrong is fail for a command line that is not as it should be.
func wrong(key text.Key, args ...any) error { return fail(exitUsage, key, args...) }

// failure is an error with an exit code; without an error nothing is said.
type failure struct {
	code int
	error
}

func (f *failure) Error() string {
	if f.error == nil {
		return ""
	}
	return f.error.Error()
}

func (f *failure) Unwrap() error { return f.error }

// ahead reads from a command line what decides about language and place before
// it is parsed: help and errors of the parser are in the language of the run, too.
func (e *env) ahead(args []string) {
	if dir, ok := commandline.Flag(args, "--profile"); ok {
		e.profileDir = dir
	}
	if l, _ := commandline.Flag(args, "--language"); l == string(text.Dutch) || l == string(text.English) {
		e.language = text.Language(l)
	}
}
