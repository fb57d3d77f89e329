package cli

import (
	"os"
	"os/user"
	"path/filepath"

	"wiebelt/internal/profile"
)

func administrator() bool { return os.Geteuid() == 0 }

// foldersOf are the folders of a user's Wiebelt.
func foldersOf(u *user.User) ([]userFolder, profile.Dirs) {
	f := userFolder{u.HomeDir, "Library/Application Support/Wiebelt"}
	return []userFolder{f}, profile.Dirs{Config: f.path(), State: filepath.Join(f.path(), "State"), Run: filepath.Join(f.path(), "run")}
}

func vaultHint(name string) string { return "security delete-generic-password -s " + name }
