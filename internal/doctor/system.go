package doctor

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"path/filepath"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/secret"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/filetrust"
	"wiebelt/internal/native/browser"
	"wiebelt/internal/native/eventlog"
	"wiebelt/internal/native/register"
	"wiebelt/internal/native/session"
	"wiebelt/internal/native/sound"
	"wiebelt/internal/native/tray"
	"wiebelt/internal/native/window"
	"wiebelt/internal/softphone/detect"
)

// system is the interface to the computer. Tests replace it.
type system struct {
	store       func(kind string, dirs profile.Dirs) secret.Store
	register    func(register.Options) (register.Status, error)
	policy      func() (file, managed bool)  // whether each of the administrator's sources exists
	desktop     func() bool                  // a screen that can show windows
	loggedOn    func(context.Context) bool   // the user is logged on at a screen
	screen      func(context.Context) string // a window.Kind, screenWayland or screenFailed
	trayHost    func(context.Context) bool
	player      func() string // of sound, "" for none
	lockSources func(context.Context) []string
	browser     func(context.Context) bool // there is a browser
	audit       func() error               // why the system's log cannot be written
	microSIP    func() string              // path of its settings, "" where it cannot be
	free        func(dir string) (bytes uint64, err error)
	folder      func(path string) error // what is wrong with a folder of the profile
	writable    func(path string) bool
	installed   func(path string) error // what is wrong with the program
}

func realSystem() system {
	return system{
		store: secret.Open, register: register.State, policy: settings.PolicySources, desktop: hasDesktop, loggedOn: loggedOn, screen: screenKind,
		trayHost: tray.HasHost, player: sound.Player, lockSources: lockSources, browser: browser.Available, audit: eventlog.Check, microSIP: func() string { return detect.ThisSystem().MicroSIP },
		free: freeSpace, folder: folderFault, writable: writable, installed: filetrust.CheckProgram,
	}
}

// folderFault returns a *filetrust.Error, also if others may read the folder, or
// fs.ErrPermission if we may not write to it. A link of the user's own is followed,
// as the program does.
func folderFault(path string) error {
	if err := filetrust.CheckFolder(path, filetrust.UserOwned); err != nil {
		return err
	}
	if !writable(path) {
		return fs.ErrPermission
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	if err := filetrust.CheckFolder(real, filetrust.Private); isReadFault(err) {
		return err
	}
	return nil
}

// isReadFault reports whether the only fault is that others may read a folder.
func isReadFault(err error) bool {
	e, ok := errors.AsType[*filetrust.Error](err)
	return ok && e.Fault == filetrust.FaultRead
}

// Results where cards have no screen: the desktop has none for them, or does not answer.
const (
	screenWayland = "wayland"
	screenFailed  = "failed"
)

func screenKind(context.Context) string {
	d, err := window.OpenCards()
	switch {
	case errors.Is(err, window.ErrWayland):
		return screenWayland
	case err != nil:
		return screenFailed
	}
	defer d.Close()
	return string(d.Kind())
}

// lockSources returns what can detect a locked screen.
func lockSources(ctx context.Context) []string {
	w, err := session.Watch(ctx, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil
	}
	defer w.Close()
	return w.Sources()
}
