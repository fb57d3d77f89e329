package cli

import (
	"errors"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"wiebelt/internal/config/fromsettings"
	"wiebelt/internal/config/secret"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/delivery/outbox"
	"wiebelt/internal/filetrust"
	"wiebelt/internal/instance"
	"wiebelt/internal/instance/windowapi"
	"wiebelt/internal/native/register"
	"wiebelt/internal/store/callactions"
	"wiebelt/internal/text"
)

type forgetCmd struct {
	All        bool   `xor:"what" required:""`
	Number     string `xor:"what" required:"" placeholder:"N"`
	OlderThan  string `name:"older-than" xor:"what" required:"" placeholder:"30d"`
	Everything bool   `xor:"what" required:""`
	User       string `xor:"what" required:"" placeholder:"NAME"`
}

func (c *forgetCmd) Run(e *env) error {
	switch {
	case !c.All && !c.Everything && c.Number+c.OlderThan+c.User == "": // as from an empty variable of a script
		return usageError(text.AdminForgetNothing)
	case c.User == "" && !c.Everything:
	case e.profileDir != "":
		return usageError(text.AdminForgetProfile)
	case c.Everything:
		return forgetEverything(e)
	default:
		return forgetUser(e, c.User)
	}
	d, err := e.dirs()
	if err != nil {
		return err
	}
	what := windowapi.Forget{All: c.All, Number: c.Number}
	s := e.load(d)
	switch {
	case c.OlderThan != "":
		n, err := strconv.Atoi(strings.TrimSuffix(c.OlderThan, "d"))
		if err != nil || n < 0 || !strings.HasSuffix(c.OlderThan, "d") {
			return usageError(text.AdminForgetDays)
		}
		what.Days = &n
	case c.Number != "":
		rules, err := fromsettings.NumberRules(s)
		if err != nil {
			return err
		}
		if rules.Parse(c.Number, "").Digits == "" {
			return usageError(text.AdminForgetNumber)
		}
	}
	if err := callactions.Forget(e.ctx, e.instanceConfig(d, nil), d, s, what); err != nil {
		return err
	}
	e.printText(text.AdminForgotten)
	return nil
}

// forgetEverything deletes this user's data, unless Wiebelt runs or delivers: what a package
// leaves behind when removed.
func forgetEverything(e *env) error {
	d, err := e.dirs()
	if err != nil {
		return err
	}
	only, err := instance.Acquire(e.instanceConfig(d, nil))
	if errors.Is(err, instance.ErrRunning) {
		return exitError(exitFailed, text.AdminForgetRuns)
	}
	if err != nil {
		return err
	}
	defer only.Close()
	if outbox.Delivering(fromsettings.OutboxFolder(d)) { // it would recreate its files
		return exitError(exitFailed, text.AdminForgetRuns)
	}
	s, _ := settings.Load(d)                     // before they go; problems in them do not matter
	if s.Hub.SecretStore == secret.KindMachine { // the computer's secret is not this user's
		s.Hub.SecretStore = secret.KindOS
	}
	left := (&secretRemoveCmd{}).removeAll(e, d, s) != nil
	if left {
		e.printText(text.AdminVault, vaultHint(secret.VaultName(d)))
	}
	o, err := e.registration(false)
	if err == nil {
		err = register.Unregister(o)
	}
	for _, dir := range []string{d.Config, d.State, d.Run} {
		if _, gone := os.Lstat(dir); errors.Is(gone, fs.ErrNotExist) {
			continue
		}
		if failed := os.RemoveAll(dir); failed != nil {
			err = errors.Join(err, failed)
			continue
		}
		e.printText(text.AdminDeleted, dir)
	}
	if err == nil && left {
		return &failure{code: exitFailed}
	}
	return err
}

// userFolder is a folder of a user's Wiebelt: name, with slashes, below a folder that
// belongs entirely to the user.
type userFolder struct{ root, name string }

func (f userFolder) path() string { return filepath.Join(f.root, filepath.FromSlash(f.name)) }

// forgetUser deletes another user's files. It follows no links, which that user may
// have planted to lead elsewhere. The user's vault is out of reach: only the user's
// own session can open it.
func forgetUser(e *env, name string) error {
	if !secret.IsAdministrator() {
		return exitError(exitFailed, text.AdminOnly)
	}
	u, err := user.Lookup(name)
	if err != nil {
		return usageError(text.AdminNoUser)
	}
	if !filepath.IsAbs(u.HomeDir) {
		return exitError(exitFailed, text.AdminNoHome)
	}
	folders, dirs := foldersOf(u)
	if runsIn(u, folders) {
		return exitError(exitFailed, text.AdminUserRuns)
	}
	s, _ := settings.Load(dirs) // before they are deleted; problems in them do not matter
	found, left := false, false
	remains := func(key text.Key, args ...any) {
		left = true
		e.printText(key, args...)
	}
	for _, f := range folders {
		there, err := f.remove()
		found = found || there
		switch {
		case err != nil:
			remains(text.AdminLeftOf, f.path(), e.errorText(filetrust.WithoutPath(err)))
		case there:
			e.printText(text.AdminDeleted, f.path())
		}
	}
	if home, err := os.OpenRoot(u.HomeDir); err == nil {
		deleted, err := register.ForgetIn(home)
		_ = home.Close()
		for _, name := range deleted {
			found = true
			e.printText(text.AdminDeleted, filepath.Join(u.HomeDir, filepath.FromSlash(name)))
		}
		if err != nil {
			remains(text.AdminLeftOf, u.HomeDir, e.errorText(filetrust.WithoutPath(err)))
		}
	}
	if !found {
		e.printText(text.AdminNothingOf)
		return nil
	}
	if runtime.GOOS == "windows" {
		remains(text.AdminRegistry)
	}
	if s.Hub.SecretStore != secret.KindFile {
		remains(text.AdminVault, vaultHint(secret.VaultName(dirs)))
	}
	if left {
		return &failure{code: exitFailed}
	}
	return nil
}

func (f userFolder) remove() (there bool, err error) {
	root, err := os.OpenRoot(f.root)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return true, err
	}
	defer root.Close()
	if _, err := root.Lstat(f.name); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err := root.RemoveAll(f.name); err != nil {
		return true, err
	}
	if _, err := root.Lstat(f.name); !errors.Is(err, fs.ErrNotExist) {
		return true, text.Errorf(text.AdminMadeAnew)
	}
	return true, nil
}
