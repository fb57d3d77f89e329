package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/secret"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/core/phone"
	"wiebelt/internal/core/wake"
	"wiebelt/internal/simulate"
	"wiebelt/internal/softphone/listener"
	"wiebelt/internal/softphone/registry"
	"wiebelt/internal/text"
)

type simulateCmd struct {
	List     bool
	Scenario string  `placeholder:"NAME|FILE"`
	Over     string  `default:"websocket" placeholder:"PROTOCOL"`
	Speed    float64 `default:"1"`
	Repeat   int     `default:"1"`

	Listen     string `placeholder:"ADDRESS"`
	Port       int
	TokenStdin bool `name:"token-stdin"`

	Name   string
	Line   string
	For    time.Duration `default:"10s"`
	Answer time.Duration `placeholder:"2s"`
	Number string        `arg:"" optional:""`
}

func (c *simulateCmd) Run(e *env, d profile.Dirs) error {
	if _, known := registry.Find(c.Over); !known {
		return usageError(text.OutputSimOver, strings.Join(registry.Names(), ", "))
	}
	if c.Speed < 0.01 || c.Speed > 1000 || c.Repeat < 0 || c.Repeat > simulate.MaxRepeat {
		return usageError(text.OutputSimSpeed)
	}
	if c.For < 0 || c.Answer < 0 || c.For+c.Answer > simulate.MaxTime {
		return usageError(text.OutputSimDay)
	}
	l := e.lang()
	if c.List {
		w := e.table()
		for _, s := range simulate.Builtin() {
			fmt.Fprintf(w, "%s\t%s\n", s.ID, s.Title[string(l)])
		}
		return w.Flush()
	}
	story, err := c.scenario(e)
	if err != nil {
		return err
	}
	o, err := c.options(e, d)
	if err != nil {
		return err
	}
	return ignoreCancelled(c.play(e, d, l, story, o))
}

func (c *simulateCmd) scenario(e *env) (*simulate.Scenario, error) {
	if c.Scenario == "" {
		return c.singleCall()
	}
	if c.Name != "" || c.Line != "" || c.Answer != 0 || c.Number != "" {
		return nil, usageError(text.OutputSimScenario)
	}
	if s, ok := simulate.Find(c.Scenario); ok {
		return s, nil
	}
	in := e.in
	if c.Scenario != "-" {
		f, err := os.Open(c.Scenario)
		if err != nil {
			return nil, usageError(text.OutputSimNone)
		}
		defer f.Close()
		in = f
	} else if c.TokenStdin {
		return nil, usageError(text.OutputSimInput)
	}
	b, err := io.ReadAll(io.LimitReader(in, simulate.MaxScenario+1))
	if err != nil {
		return nil, text.Errorf(text.OutputSimFile, err)
	}
	s, err := simulate.Parse(b)
	if err != nil {
		return nil, usageError(text.OutputSimFile, err)
	}
	return s, nil
}

// singleCall returns a scenario of one call. A number that means "none" is a withheld one.
func (c *simulateCmd) singleCall() (*simulate.Scenario, error) {
	one := simulate.Call{Number: strings.TrimSpace(c.Number), Name: c.Name, Line: c.Line}
	if phone.DefaultRules().Parse(one.Number, "").Kind == phone.Withheld {
		one.Number = ""
	} else if !simulate.IsNumber(one.Number) {
		return nil, usageError(text.OutputNoNumber)
	}
	return simulate.Single(one, c.For, c.Answer), nil
}

func (c *simulateCmd) options(e *env, d profile.Dirs) (simulate.Options, error) {
	o := simulate.Options{Listen: c.Listen, Profile: e.profileDir, ProgramOutput: e.err}
	kind := registry.Of(c.Over)
	if c.Listen != "" && !kind.IsLink() {
		return o, usageError(text.OutputSimListen)
	}
	asked := kind.Reach == registry.ByListener || kind.ReportsToRelay()
	if given := c.Port != 0 || c.TokenStdin || kind.ReportsToRelay(); given && (!asked || c.Port < 1 || c.Port > 65535 || !c.TokenStdin) {
		return o, usageError(text.OutputSimPort)
	}
	switch {
	case c.TokenStdin:
		token, err := secret.ReadSecret(e.in)
		if err != nil {
			return o, usageError(text.OutputSimToken, err)
		}
		o.Port, o.Token, o.PathToken = c.Port, token, token
	case kind.Reach == registry.ByListener:
		at, err := awaitAnnouncement(e.ctx, d.Run)
		if errors.Is(err, fs.ErrNotExist) {
			return o, exitError(exitNotRunning, text.OutputSimNotRunning)
		}
		if err != nil {
			return o, text.Errorf(text.OutputSimAnnounced)
		}
		tokens, err := secret.EnsureTokens(d)
		if err != nil {
			return o, text.Errorf(text.OutputTokens, err)
		}
		o.Port, o.Token, o.PathToken = at.Port, at.Token, tokens.Path
	case kind.Reach == registry.ByProgram:
		exe, err := os.Executable()
		if err != nil {
			return o, err
		}
		o.Exe = exe
	}
	return o, nil
}

// announceTimeout is how long to wait for a Wiebelt that is just starting.
const announceTimeout = 3 * time.Second

func awaitAnnouncement(ctx context.Context, dir string) (a listener.Announcement, err error) {
	for began := time.Now(); ; {
		a, err = listener.ReadAnnouncement(dir)
		if !errors.Is(err, fs.ErrNotExist) || time.Since(began) > announceTimeout || wake.Pause(ctx, announceTimeout/60) != nil {
			return a, err
		}
	}
}

// play plays the scenario and reports progress on standard error.
func (c *simulateCmd) play(e *env, d profile.Dirs, l text.Language, story *simulate.Scenario, o simulate.Options) (err error) {
	// Interrupting us ends the scenario; the phone is closed after its
	// calls have been hung up.
	p, err := simulate.Open(context.WithoutCancel(e.ctx), c.Over, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	if s, ok := p.(simulate.Server); ok {
		if err := e.printJSON(s.Address()); err != nil {
			return err
		}
		printInstructions(e.err, l, s.Address(), settings.Path(d), e.profileDir)
	}
	if left := simulate.Omissions(story, registry.Of(c.Over).Capabilities); len(left) > 0 {
		var words []string
		for _, x := range left {
			words = append(words, l.T(text.SimulateLeftOut(x)))
		}
		fmt.Fprintln(e.err, l.T(text.SimulateLeft, strings.Join(words, ", ")))
	}
	if err := p.Ready(e.ctx); err != nil {
		return err
	}
	play := simulate.Play{Capabilities: registry.Of(c.Over).Capabilities, Speed: c.Speed, Repeat: c.Repeat,
		Prefix: fmt.Sprintf("sim-%d-", os.Getpid())}
	if c.Scenario != "" {
		fmt.Fprintln(e.err, l.T(text.SimulatePlays, cmp.Or(story.Title[string(l)], l.T(text.SimulateScenario))))
		play.OnStep = func(s simulate.Step) {
			fmt.Fprintf(e.err, "%7.1f  %s %s\n", s.At.Seconds(), l.T(text.SimulateStep(s.Verb.String())), s.Name)
		}
	}
	if err := play.Run(e.ctx, p, story); err != nil {
		return err
	}
	if c.Scenario != "" {
		fmt.Fprintln(e.err, l.T(text.SimulateDone))
	}
	return nil
}

// printInstructions prints how to connect Wiebelt to a phone that waits for it.
func printInstructions(w io.Writer, l text.Language, a simulate.Address, file, profileDir string) {
	fmt.Fprintf(w, "%s\n\n[[softphone]]\nkind = %q\nname = \"simulate-%s\"\naddress = %q\n", l.T(text.SimulateSettings, file), a.Protocol, a.Protocol, a.Address)
	if a.Extension != "" {
		fmt.Fprintf(w, "extension = %q\nuser = %q\n", a.Extension, a.User)
	}
	if a.Secret != "" {
		at := ""
		if profileDir != "" {
			at = fmt.Sprintf(" --profile %q", profileDir)
		}
		fmt.Fprintf(w, "\n%s\n\necho %s | wiebelt provision%s --softphone simulate-%s --secret-stdin\n", l.T(text.SimulateSecret), a.Secret, at, a.Protocol)
	}
	fmt.Fprintf(w, "\n%s\n", l.T(text.SimulateWaits))
}

// ignoreCancelled drops the error of a command that was stopped.
func ignoreCancelled(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}
