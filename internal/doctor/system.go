package doctor

import (
	"context"
	"log/slog"

	"wiebelt/internal/native/register"
	"wiebelt/internal/native/session"
	"wiebelt/internal/native/tray"
	"wiebelt/internal/profile"
	"wiebelt/internal/secret"
)

// system is what is asked of the computer. Tests have one of their own.
type system struct {
	store       func(kind string, dirs profile.Dirs) (secret.Store, error)
	register    func(register.Options) (register.Status, error)
	policy      func() (file, managed bool) // which of the administrator's sources are there
	desktop     func() bool                 // a screen that windows could be on
	trayHost    func(context.Context) bool
	lockSources func(context.Context) []string
	openGL      func() bool   // the library is there
	microSIP    func() string // path of its settings, "" where it cannot be
	free        func(dir string) (bytes uint64, err error)
	folder      func(path string) (rights, error) // of the profile
	installed   func(path string) (rights, error) // of the program
}

func theSystem() system {
	return system{
		store: secret.Open, register: register.State, policy: policySources, desktop: hasDesktop,
		trayHost: tray.HasHost, lockSources: lockSources, openGL: hasOpenGL, microSIP: microSIP,
		free: freeSpace, folder: folderRights, installed: programRights,
	}
}

// lockSources names who can tell of a locked screen.
func lockSources(ctx context.Context) []string {
	w, err := session.Watch(ctx, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil
	}
	defer w.Close()
	return w.Sources()
}
