package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"wiebelt/internal/demo"
	"wiebelt/internal/simulate"
	"wiebelt/internal/softphone/listener"
	"wiebelt/internal/text"
)

type demoCmd struct {
	Play     bool          `help:"Play every call once and exit."`
	Pictures string        `help:"Keep a picture of each card in DIR." placeholder:"DIR"`
	Hold     time.Duration `help:"How long each call rings with --play." default:"1500ms"`
	Language string        `help:"nl or en." enum:"nl,en," default:""`
	Theme    string        `help:"light or dark." enum:"light,dark,system," default:""`
}

func (c *demoCmd) Run(e *env) error {
	return demo.Run(e.ctx, demo.Options{Play: c.Play, Pictures: c.Pictures, Hold: c.Hold, ProfileDir: e.profileDir,
		Version: e.build.Version, Commit: e.build.Commit, Language: text.Language(c.Language), Theme: c.Theme,
		Out: e.out, Log: slog.New(slog.NewTextHandler(e.err, &slog.HandlerOptions{Level: slog.LevelError}))})
}

type simulateCmd struct {
	Name   string        `help:"Display name."`
	Line   string        `help:"Our number that is called."`
	For    time.Duration `help:"How long it rings." default:"10s"`
	Answer time.Duration `help:"Answer after this long." placeholder:"2s"`
	Number string        `arg:"" optional:"" help:"The caller's number; none is a withheld one."`
}

func (c *simulateCmd) Run(e *env) error {
	d, err := e.dirs()
	if err != nil {
		return err
	}
	b, err := os.ReadFile(filepath.Join(d.Run, "listener.json"))
	if err != nil {
		return &exitError{exitNotRunning, "wiebelt is not running, or its listener is switched off"}
	}
	var at listener.Announcement
	if err := json.Unmarshal(b, &at); err != nil {
		return fmt.Errorf("listener.json: %w", err)
	}
	p, err := simulate.Dial(e.ctx, at.Port, at.Token)
	if err != nil {
		return err
	}
	defer p.Close()
	call := simulate.Call{ID: fmt.Sprintf("sim-%d", os.Getpid()), Number: c.Number, Name: c.Name, Line: c.Line}
	if err := p.Ring(e.ctx, call); err != nil {
		return err
	}
	reason := "missed"
	if c.Answer > 0 && wait(e.ctx, c.Answer) == nil {
		if err := p.Answer(e.ctx, call); err != nil {
			return err
		}
		reason = "completed"
	}
	err = wait(e.ctx, c.For)
	end, cancel := context.WithTimeout(context.WithoutCancel(e.ctx), 2*time.Second)
	defer cancel()
	return errors.Join(p.End(end, call, reason), ignoreCancelled(err))
}

func ignoreCancelled(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
