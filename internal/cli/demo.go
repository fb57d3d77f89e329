package cli

import (
	"log/slog"
	"os"
	"time"

	"wiebelt/internal/demo"
)

type demoCmd struct {
	Play     bool
	Pictures string        `placeholder:"DIR"`
	Hold     time.Duration `default:"1500ms"`
	Theme    string        `enum:"light,dark,system," default:""`
}

func (c *demoCmd) Run(e *env) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	return demo.Run(e.ctx, demo.Options{Play: c.Play, Pictures: c.Pictures, Hold: c.Hold, ProfileDir: e.profileDir,
		Exe: exe, Version: e.build.Version, Commit: e.build.Commit, Language: e.lang(), Theme: c.Theme,
		Out: e.out, Log: slog.New(slog.NewTextHandler(e.err, &slog.HandlerOptions{Level: slog.LevelError}))})
}
