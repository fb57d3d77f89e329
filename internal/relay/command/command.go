// Package command implements the command line of wiebelt-relay: it parses arguments,
// runs each command with its sibling packages and turns errors into one line and an
// exit code. It is stateless.
package command

import (
	"context"
	"encoding/json"
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
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"wiebelt/internal/commandline"
	"wiebelt/internal/config/fromsettings"
	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/core/displaytext"
	"wiebelt/internal/core/phone"
	"wiebelt/internal/relay/node"
	"wiebelt/internal/relay/setup"
	"wiebelt/internal/relay/users"
	"wiebelt/internal/text"
)

// Exit codes, as those of wiebelt.
const (
	exitDone       = 0
	exitFailed     = 1
	exitUsage      = 2
	exitNotFound   = 3
	exitNotRunning = 4
)

// Build identifies what the program was built from.
type Build struct{ Version, Commit string }

// env is the environment shared by all commands.
type env struct {
	build    Build
	in       io.Reader
	out, err io.Writer
	data     string
	log      *slog.Logger // never logs numbers or names
	language text.Language
	ctx      context.Context
}

// globalFlags holds the flags of every command.
type globalFlags struct {
	Data     string `placeholder:"DIR"`
	Language string `enum:"nl,en," default:"" placeholder:"nl|en"`
}

type commands struct {
	globalFlags

	Init      initCmd      `cmd:""`
	Run       runCmd       `cmd:""`
	Status    statusCmd    `cmd:""`
	Doctor    doctorCmd    `cmd:""`
	User      userCmd      `cmd:""`
	Exchange  exchangeCmd  `cmd:""`
	Publisher publisherCmd `cmd:""`
	Secret    secretCmd    `cmd:""`
	Forget    forgetCmd    `cmd:""`
	Cluster   clusterCmd   `cmd:""`
	Service   serviceCmd   `cmd:""`
	Version   versionCmd   `cmd:""`
}

// Commands returns all commands, as a struct with the parser's tags.
func Commands() any { return &commands{} }

// program is the name used in help and errors.
const program = "wiebelt-relay"

// Main runs one command and returns the exit code. args is os.Args.
func Main(b Build, args []string, in io.Reader, out, errOut io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return run(ctx, b, args, in, out, errOut)
}

func run(ctx context.Context, b Build, args []string, in io.Reader, out, errOut io.Writer) int {
	o := &commandline.Output{Writer: out}
	e := &env{build: b, in: in, out: o, err: errOut, ctx: ctx, log: slog.New(slog.NewTextHandler(errOut, nil))}
	args = args[min(1, len(args)):]
	if len(args) == 0 {
		args = []string{"--help"}
	}
	if l, ok := commandline.Flag(args, "--language"); ok {
		e.language = text.Language(l)
	}
	var all commands
	k, err := commandline.Parse(&all, program, e.lang, o, errOut, args, e)
	if err != nil {
		return e.finish(o, &failure{exitUsage, err})
	}
	if k == nil {
		return e.finish(o, nil)
	}
	e.data, e.language = all.Data, text.Language(all.Language)
	if e.data == "" {
		e.data = defaultData()
	}
	if e.data, err = filepath.Abs(e.data); err != nil {
		return e.finish(o, err)
	}
	return e.finish(o, k.Run(e))
}

// failure is an error with an exit code; with a nil error, nothing is printed.
type failure struct {
	code int
	error
}

func (f *failure) Unwrap() error { return f.error }

// fail returns an error that ends the command with an exit code.
func fail(code int, key text.Key, args ...any) error {
	return &failure{code, text.Errorf(key, args...)}
}

// finish prints what went wrong, in one line, and returns the exit code.
func (e *env) finish(o *commandline.Output, err error) int {
	if err == nil && o.Err != nil {
		err = text.Errorf(text.ErrorOutput, o.Err)
	}
	if err == nil {
		return exitDone
	}
	code := exitFailed
	if f, ok := errors.AsType[*failure](err); ok {
		code, err = f.code, f.error
	}
	_, told := errors.AsType[*text.Error](err)
	_, refused := errors.AsType[*jetstream.APIError](err)
	if !told && (refused || errors.Is(err, nats.ErrConnectionClosed)) { // by a relay that reaches no other
		err = text.Errorf(text.RelayNoStorage, err)
	}
	if err != nil {
		fmt.Fprintln(e.err, program+":", displaytext.Truncate(e.lang().Error(err), 400))
	}
	return code
}

// lang returns the language of this run: that of --language, or else the system's.
func (e *env) lang() text.Language {
	if e.language != text.Dutch && e.language != text.English {
		e.language = fromsettings.Language(settings.Defaults())
	}
	return e.language
}

// printText prints a line for people.
func (e *env) printText(key text.Key, args ...any) {
	fmt.Fprintln(e.out, e.lang().Error(text.Errorf(key, args...)))
}

// printNotice prints a line for people on standard error.
func (e *env) printNotice(key text.Key, args ...any) {
	fmt.Fprintln(e.err, program+":", e.lang().Error(text.Errorf(key, args...)))
}

// print writes a value for programs, as JSON.
func (e *env) print(v any) error { return json.NewEncoder(e.out).Encode(v) }

func (e *env) folder() (*setup.Folder, error) {
	f, err := setup.Load(e.data)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fail(exitFailed, text.RelayNotMade, e.data)
	}
	return f, err
}

// settings returns the settings of the hub, exchanges and numbers in the relay's folder.
func (e *env) settings() (profile.Dirs, *settings.Settings, error) {
	dirs, err := profile.Find(e.data)
	if err != nil {
		return profile.Dirs{}, nil, err
	}
	s, _ := settings.Load(dirs) // status reports problems in them
	return dirs, s, nil
}

// rules returns the number rules from those settings.
func (e *env) rules() (*phone.Rules, error) {
	_, s, err := e.settings()
	if err != nil {
		return nil, err
	}
	return fromsettings.NumberRules(s)
}

// requestTimeout limits how long a command talks to the relay.
const requestTimeout = 30 * time.Second

// connect connects to the relay running with this data folder.
func (e *env) connect() (*nats.Conn, *setup.Folder, error) {
	f, err := e.folder()
	if err != nil {
		return nil, nil, err
	}
	roots, _, err := f.Authorities()
	if err != nil {
		return nil, nil, err
	}
	conn, err := node.Dial(f.URLs(), roots, f.Keys)
	if errors.Is(err, nats.ErrNoServers) || errors.Is(err, syscall.ECONNREFUSED) {
		err = fail(exitNotRunning, text.RelayNotRunning)
	}
	return conn, f, err
}

// directory opens that relay's users.
func (e *env) directory() (d *users.Directory, f *setup.Folder, stop func(), err error) {
	conn, f, err := e.connect()
	if err != nil {
		return nil, nil, nil, err
	}
	js, err := jetstream.New(conn)
	if err == nil {
		d, err = users.OpenExisting(e.ctx, js)
	}
	if errors.Is(err, jetstream.ErrStreamNotFound) { // no relay has run yet
		d, err = users.Open(e.ctx, js, f.Settings.Replicas())
	}
	if err != nil {
		conn.Close()
		return nil, nil, nil, err
	}
	return d, f, conn.Close, nil
}

type versionCmd struct{}

// Run implements the command.
func (versionCmd) Run(e *env) error {
	_, err := fmt.Fprintf(e.out, "%s %s\ncommit %s\n%s %s/%s\n", program, e.build.Version, e.build.Commit, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}
