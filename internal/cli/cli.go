// Package cli is the command line: it parses arguments, runs each command with the packages
// below and turns errors into one line and an exit code. It keeps no state.
//
// "ring" and "open-url" are run by softphones and browsers with text from outside. Both
// are recognised before the parser of the other commands, which would keep a ringing phone
// waiting for milliseconds.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"

	"wiebelt/internal/commandline"
	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/core/displaytext"
	"wiebelt/internal/instance"
	"wiebelt/internal/logfile"
	"wiebelt/internal/native/messagebox"
	"wiebelt/internal/softphone/ring"
	"wiebelt/internal/text"
)

// Exit codes.
const (
	exitDone       = 0
	exitFailed     = 1
	exitUsage      = 2
	exitNotFound   = 3
	exitNotRunning = 4
)

// Build describes what the program was built from and how it was started.
type Build struct {
	Version, Commit string
	Console         bool // on Windows, by the small console program
}

// env is the environment of every command.
type env struct {
	build      Build
	in         io.Reader
	out, err   io.Writer
	profileDir string
	language   text.Language // of this run; "" until it is asked for, see lang
	ctx        context.Context
}

type globalFlags struct {
	Profile  *string `placeholder:"DIR"` // nil without the flag
	Language string  `enum:"nl,en," default:"" placeholder:"nl|en"`
}

type commands struct {
	globalFlags

	Run     runCmd     `cmd:"" default:"1" hidden:""`
	Sweep   sweepCmd   `cmd:"" hidden:""`
	Ring    ringCmd    `cmd:"" group:"day"`
	OpenURL openURLCmd `cmd:"" name:"open-url" group:"day"`
	Lookup  lookupCmd  `cmd:"" group:"day"`
	Window  windowCmd  `cmd:"" group:"day"`
	Deliver deliverCmd `cmd:"" group:"day"`

	Recipe     recipeCmd     `cmd:"" group:"admin"`
	TeamsPage  teamsPageCmd  `cmd:"" name:"teams-page" group:"admin"`
	OpenFile   openFileCmd   `cmd:"" name:"open-file" group:"admin"`
	Provision  provisionCmd  `cmd:"" group:"admin"`
	Doctor     doctorCmd     `cmd:"" group:"admin"`
	Register   registerCmd   `cmd:"" group:"admin"`
	Unregister unregisterCmd `cmd:"" group:"admin"`
	Settings   settingsCmd   `cmd:"" group:"admin"`
	Secret     secretCmd     `cmd:"" group:"admin"`
	Join       joinCmd       `cmd:"" group:"admin"`
	Forget     forgetCmd     `cmd:"" group:"admin"`
	Version    versionCmd    `cmd:"" group:"admin"`

	Demo     demoCmd     `cmd:"" group:"try"`
	Hub      hubCmd      `cmd:"" group:"try"`
	Simulate simulateCmd `cmd:"" group:"try"`
}

// Commands returns all commands, as a struct with the parser's tags.
func Commands() any { return &commands{} }

// Main runs one command and returns the exit code. args is os.Args.
func Main(b Build, args []string, in io.Reader, out, errOut io.Writer) int {
	o := &commandline.Output{Writer: out}
	e := &env{build: b, in: in, out: o, err: errOut}
	if len(args) > 0 {
		args = args[1:]
	}
	if len(args) == 1 && (args[0] == "version" || args[0] == "--version") { // the parser prepares all commands, which takes longer
		return e.finish(versionCmd{}.Run(e))
	}
	var stop func()
	e.ctx, stop = commandContext(args)
	defer stop()
	if len(args) > 0 {
		switch args[0] {
		case "open-url":
			return e.finish(e.handOverLink(args[1:]))
		case "open-file":
			return e.finish(e.showToDesktop(e.openFile(args[1:])))
		case "help":
			args = append(args[1:len(args):len(args)], "--help")
		case "--version":
			args = append([]string{"version"}, args[1:]...)
		}
	}
	if rest, ok := ring.Args(args); ok {
		err := e.ring(rest)
		if !errors.Is(err, ring.ErrHelp) {
			return e.finish(err)
		}
		e.readGlobalFlags(args)
		args = []string{"ring", "--help"}
	}
	e.readGlobalFlags(args)
	var all commands
	k, err := commandline.Parse(&all, "wiebelt", e.lang, o, errOut, args, e)
	if err != nil {
		return e.finish(&failure{exitUsage, err})
	}
	if k == nil {
		return e.finish(nil)
	}
	e.language = text.Language(all.Language)
	if all.Profile != nil {
		if e.profileDir = *all.Profile; e.profileDir == "" { // as from an empty variable of a script: not the user's own
			return e.finish(usageError(text.RingProfile))
		}
	}
	if err := k.BindToProvider(e.dirs); err != nil {
		return e.finish(err)
	}
	return e.finish(k.Run(e))
}

// commandContext returns the context of a command, which ends when the program is told to end.
//
// "ring" and "open-url" finish what they began, which takes no longer than the resident
// needs to answer, so their context never ends. A phone waits for them: they avoid what
// causes thread switches, namely catching signals and staying on the thread to which the
// tray's library locks the program when loaded. (SIGHUP is not ignored: a resident that
// they start would think that it was started with nohup.)
func commandContext(args []string) (ctx context.Context, stop func()) {
	if _, ok := ring.Args(args); ok || len(args) > 0 && args[0] == "open-url" {
		instance.IgnoreInterrupts()
		runtime.UnlockOSThread()
		return context.Background(), func() {}
	}
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // the session ends; nohup keeps us running
		ends = append(ends, syscall.SIGHUP)
	}
	return signal.NotifyContext(context.Background(), ends...)
}

// finish reports what went wrong, in one line, and returns the exit code. Output that could
// not be written is a failure of every command.
func (e *env) finish(err error) int {
	if o, ok := e.out.(*commandline.Output); ok && o.Err != nil && err == nil {
		err = text.Errorf(text.ErrorOutput, o.Err)
	}
	if err == nil {
		return exitDone
	}
	code := exitFailed
	if f, ok := errors.AsType[*failure](err); ok {
		code, err = f.code, f.error
	}
	if err != nil {
		fmt.Fprintln(e.err, "wiebelt:", e.errorText(notWritten(err)))
	}
	return code
}

// notWritten says that nothing was changed, if the settings file did not allow that: what is
// wrong in it was reported when it was read.
func notWritten(err error) error {
	bad, _ := errors.AsType[settings.Problem](err)
	switch {
	case bad.Kind == settings.BadSyntax, bad.Kind == settings.Unreadable:
		return text.Errorf(text.SettingsWindowNotWritable, settings.FileName)
	case errors.Is(err, settings.ErrNotEditable):
		return text.Errorf(text.SettingsWindowByHand, settings.FileName)
	}
	return err
}

// showToDesktop also shows an error in a message box if the desktop started us and nobody
// reads standard error.
func (e *env) showToDesktop(err error) error {
	f, ok := e.err.(*os.File)
	if err == nil || !ok || e.build.Console || isTerminal(f) {
		return err
	}
	if info, bad := f.Stat(); bad == nil && info.Mode()&fs.ModeNamedPipe != 0 {
		return err // a program reads it
	}
	_ = messagebox.Show(e.ctx, "Wiebelt", e.errorText(err)) // finish reports it in any case
	return err
}

// oneLine reduces an error with text from outside to one line.
func oneLine(s string) string { return displaytext.Truncate(s, 400) }

func (e *env) dirs() (profile.Dirs, error) {
	if e.profileDir != "" { // programs that we start may have another working directory
		abs, err := filepath.Abs(e.profileDir)
		if err != nil {
			return profile.Dirs{}, &failure{exitUsage, err}
		}
		e.profileDir = abs
	}
	d, err := profile.Find(e.profileDir)
	if err != nil {
		return d, &failure{exitUsage, err}
	}
	return d, nil
}

func (e *env) instanceConfig(d profile.Dirs, log *slog.Logger) instance.Config {
	return instance.Config{RunDir: d.Run, Version: e.build.Version, Build: e.build.Commit, Log: log}
}

// load reads the settings and reports their problems on standard error.
func (e *env) load(d profile.Dirs) *settings.Settings {
	s, _ := settings.Load(d)
	e.printProblems(s)
	return s
}

// printProblems reports the problems of settings on standard error.
func (e *env) printProblems(s *settings.Settings) {
	for _, p := range s.Problems() {
		fmt.Fprintln(e.err, "wiebelt:", e.errorText(p))
	}
}

// residentLog opens the resident's log: on standard error and, unless that fails, in the
// profile's log folder. closed closes it.
func (e *env) residentLog(d profile.Dirs, level string) (log *slog.Logger, file *logfile.File, closed func()) {
	shown := e.logger(level)
	file, err := logfile.Open(d.Log(), level)
	if err != nil {
		shown.Warn("no log is kept on disk", "why", err)
		return shown, nil, func() {}
	}
	if err := file.CatchCrashes(); err != nil {
		shown.Warn("a crash would not be kept", "why", err)
	}
	return slog.New(slog.NewMultiHandler(shown.Handler(), file.Handler())), file, func() { _ = file.Close() }
}

func (e *env) logger(level string) *slog.Logger {
	l := slog.LevelInfo
	_ = l.UnmarshalText([]byte(level)) // already validated; info otherwise
	return slog.New(slog.NewTextHandler(e.err, &slog.HandlerOptions{Level: l, ReplaceAttr: logfile.ScrubAttr}))
}
