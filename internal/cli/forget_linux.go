package cli

import (
	"os/user"
	"path/filepath"

	"wiebelt/internal/config/profile"
)

// foldersOf are the folders of a user's Wiebelt where no variable of the user's
// session says otherwise.
func foldersOf(u *user.User) ([]userFolder, profile.Dirs) {
	f := []userFolder{{u.HomeDir, ".config/wiebelt"}, {u.HomeDir, ".local/state/wiebelt"},
		{"/run/user/" + u.Uid, "wiebelt"}}
	return f, profile.Dirs{Config: f[0].path(), State: f[1].path(), Run: filepath.Join(f[1].path(), "run")}
}

func vaultHint(name string) any { return "secret-tool clear service " + name }
