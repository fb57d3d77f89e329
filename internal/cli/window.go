package cli

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"

	"wiebelt/internal/config/fromsettings"
	"wiebelt/internal/config/profile"
	"wiebelt/internal/instance"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/text"
	"wiebelt/internal/ui/widgets"
	"wiebelt/internal/ui/windowapp"
)

type windowCmd struct {
	Name string `arg:""`
}

// Run shows a window and ends with the last one. The resident runs this command
// when asked for a window; if windows are open already, the new one opens beside
// them, in their process.
func (c *windowCmd) Run(e *env, d profile.Dirs) error {
	if all := windowapp.Names(); !slices.Contains(all, c.Name) {
		return usageError(text.WindowUnknown, strings.Join(all, ", "))
	}
	log := slog.New(slog.NewTextHandler(e.err, nil))
	cfg := e.instanceConfig(d, log)
	err := windowapp.Run(e.ctx, windowapp.Config{Window: c.Name, Dirs: d, Program: widgets.Program{Version: e.build.Version, Commit: e.build.Commit, ProfileDir: e.profileDir}, Log: log,
		Connect: func(ctx context.Context) (windowapp.Conn, error) {
			conn, hello, err := instance.Connect(ctx, cfg, instance.RoleWindows)
			if errors.Is(err, instance.ErrNotRunning) && windowapp.WithoutResident(c.Name) {
				return windowapp.NewLocalConn(e.localWelcome(d, c.Name))
			}
			if err == nil && hello.Build != e.build.Commit {
				log.Warn("the resident is of another build and decides what happens", "resident", hello.Build, "window", e.build.Commit)
			}
			return conn, err
		}})
	if errors.Is(err, instance.ErrNotRunning) {
		return exitError(exitNotRunning, text.WindowNeedsResident)
	}
	return err
}

// localWelcome returns what the resident would tell a window if it ran.
func (e *env) localWelcome(d profile.Dirs, window string) windowapi.Welcome {
	s := e.load(d)
	w := windowapi.Welcome{Language: string(e.lang()), Theme: s.UI.Theme, FileWord: s.UI.FileWord, Window: window, NoResident: true,
		Status: windowapi.Status{Sentence: e.T(text.Doctor("resident.off"))}}
	if s.History.Keep != "off" {
		w.History = fromsettings.HistoryFile(d)
	}
	return w
}
