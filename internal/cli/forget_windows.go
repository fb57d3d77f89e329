package cli

import (
	"os/user"
	"path/filepath"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/text"
)

// foldersOf returns the folders of a user's Wiebelt, unless they are redirected
// to another computer.
func foldersOf(u *user.User) ([]userFolder, profile.Dirs) {
	f := []userFolder{{u.HomeDir, "AppData/Roaming/Wiebelt"}, {u.HomeDir, "AppData/Local/Wiebelt"}}
	return f, profile.Dirs{Config: f[0].path(), State: f[1].path(), Run: filepath.Join(f[1].path(), "run")}
}

// runsIn: files of a Wiebelt that runs cannot be deleted here, and are named.
func runsIn([]userFolder) bool { return false }

func vaultHint(name string) any { return text.Errorf(text.OutputVault, name) }
