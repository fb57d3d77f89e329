package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"

	"wiebelt/internal/deskapi"
	"wiebelt/internal/instance"
	"wiebelt/internal/resident"
	"wiebelt/internal/secret"
	"wiebelt/internal/settings"
)

type forgetCmd struct {
	All       bool   `help:"Everything about callers." xor:"what" required:""`
	Number    string `help:"Everything about one number." xor:"what" required:"" placeholder:"N"`
	OlderThan string `name:"older-than" help:"What is older, such as 30d." xor:"what" required:"" placeholder:"30d"`
	User      string `help:"Every file of Wiebelt that this user has; for administrators. Says what it could not reach." xor:"what" required:"" placeholder:"NAME"`
}

func (c *forgetCmd) Run(e *env) error {
	if c.User != "" {
		if e.profileDir != "" {
			return &exitError{exitUsage, "--user and --profile do not go together"}
		}
		return forgetUser(e, c.User)
	}
	d, err := e.dirs()
	if err != nil {
		return err
	}
	what := deskapi.Forget{All: c.All, Number: c.Number}
	if c.OlderThan != "" {
		n, err := strconv.Atoi(strings.TrimSuffix(c.OlderThan, "d"))
		if err != nil || n < 0 || !strings.HasSuffix(c.OlderThan, "d") {
			return &exitError{exitUsage, "--older-than: a number of days such as 30d"}
		}
		what.Days = &n
	}
	// The resident owns the files while it runs.
	cfg, err := resident.Instance(d, e.build.Version, e.build.Commit, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	if _, err = resident.Forget(e.ctx, cfg, what); errors.Is(err, instance.ErrNotRunning) {
		err = resident.ForgetFiles(e.ctx, d, e.load(d), what)
	}
	if err != nil {
		return err
	}
	fmt.Fprintln(e.out, "Forgotten.")
	return nil
}

// userFolder is a folder of a user's Wiebelt: name, with slashes, below a folder
// that is the user's whole.
type userFolder struct{ below, name string }

func (f userFolder) path() string { return filepath.Join(f.below, filepath.FromSlash(f.name)) }

// forgetUser deletes another user's files. What that user may have put in the
// way, a link to somewhere else, is not followed. The user's vault is out of
// reach: only the user's own session opens it (corrections.md 36).
func forgetUser(e *env, name string) error {
	if !administrator() {
		return errors.New("only an administrator can delete another user's files")
	}
	u, err := user.Lookup(name)
	if err != nil {
		return &exitError{exitUsage, "there is no such user"}
	}
	if !filepath.IsAbs(u.HomeDir) {
		return errors.New("this user has no home folder here")
	}
	folders, dirs := foldersOf(u)
	s, _ := settings.Load(dirs) // before they go; what is wrong in them does not matter
	found, left := false, false
	for _, f := range folders {
		there, err := f.remove()
		found = found || there
		switch {
		case err != nil:
			left = true
			fmt.Fprintf(e.out, "left: %s: %s\n", f.path(), oneLine(reasonOf(err)))
		case there:
			fmt.Fprintln(e.out, "deleted:", f.path())
		}
	}
	if !found {
		fmt.Fprintln(e.out, "This user has no files of Wiebelt in the usual places.")
		return nil
	}
	if s.Hub.SecretStore != secret.KindFile {
		left = true
		fmt.Fprintf(e.out, "left: the secrets in the user's own vault, which only that user's session opens. There: %s\n", vaultHint(secret.VaultName(dirs)))
	}
	if left {
		return &exitError{exitFailed, ""}
	}
	return nil
}

// remove deletes the folder and tells whether it was there.
func (f userFolder) remove() (there bool, err error) {
	root, err := os.OpenRoot(f.below)
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
		return true, errors.New("it was made anew; end that user's Wiebelt first")
	}
	return true, nil
}

// reasonOf is an error without the path, which is printed beside it.
func reasonOf(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}
