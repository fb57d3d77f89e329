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

// lang returns the language of this run: that of --language, else of the profile's
// settings, else of the system. It is determined on first use, which a ringing phone's
// command seldom needs.
func (e *env) lang() text.Language {
	if e.language == "" {
		s := settings.Defaults()
		if d, err := profile.Find(e.profileDir); err == nil && !ring.IsRemote(e.profileDir) {
			s, _ = settings.Load(d) // problems are reported by those who use the settings
		}
		e.language = fromsettings.Language(s)
	}
	return e.language
}

// printText writes a line for users to standard output, printNotice one to standard error.
func (e *env) printText(key text.Key, args ...any) { fmt.Fprintln(e.out, e.T(key, args...)) }

func (e *env) printNotice(key text.Key, args ...any) {
	fmt.Fprintln(e.err, "wiebelt:", e.T(key, args...))
}

func (e *env) printJSON(v any) error { return json.NewEncoder(e.out).Encode(v) }

// table aligns columns for users on standard output.
func (e *env) table() *tabwriter.Writer { return tabwriter.NewWriter(e.out, 0, 4, 2, ' ', 0) }

// T returns a text in the language of the run; arguments that are errors or
// keys are translated too.
func (e *env) T(key text.Key, args ...any) string { return e.errorText(text.Errorf(key, args...)) }

// errorText returns an error in the language of the run, on one line.
func (e *env) errorText(err error) string {
	if bad, ok := errors.AsType[settings.Problem](err); ok {
		return oneLine(templates.DescribeProblem(e.lang(), bad))
	}
	return oneLine(e.lang().Error(err))
}

// exitError returns an error that ends the command with an exit code, in the
// language of the run.
func exitError(code int, key text.Key, args ...any) error {
	return &failure{code, text.Errorf(key, args...)}
}

// usageError is exitError for an invalid command line.
func usageError(key text.Key, args ...any) error { return exitError(exitUsage, key, args...) }

// failure is an error with an exit code; if the error is nil, nothing is printed.
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

// readGlobalFlags reads the language and the profile from a command line before it is
// parsed, so that help and parser errors are in the language of the run too.
func (e *env) readGlobalFlags(args []string) {
	if dir, ok := commandline.Flag(args, "--profile"); ok {
		e.profileDir = dir
	}
	if l, _ := commandline.Flag(args, "--language"); l == string(text.Dutch) || l == string(text.English) {
		e.language = text.Language(l)
	}
}
