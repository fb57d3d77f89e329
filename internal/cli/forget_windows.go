package cli

import (
	"os/user"
	"path/filepath"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/instance"
	"wiebelt/internal/text"
)

// foldersOf returns the folders of a user's Wiebelt, unless they are redirected
// to another computer.
func foldersOf(u *user.User) ([]userFolder, profile.Dirs) {
	f := []userFolder{{u.HomeDir, "AppData/Roaming/Wiebelt"}, {u.HomeDir, "AppData/Local/Wiebelt"}}
	return f, profile.Dirs{Config: f[0].path(), State: f[1].path(), Run: filepath.Join(f[1].path(), "run")}
}

// runsIn reports whether a user's Wiebelt runs with the folders:
// files that it has open cannot be deleted, but the rest would be.
func runsIn(u *user.User, folders []userFolder) bool {
	return instance.Runs(u.Uid, instance.Config{RunDir: filepath.Join(folders[1].path(), "run")})
}

func vaultHint(name string) any { return text.Errorf(text.OutputVault, name) }
