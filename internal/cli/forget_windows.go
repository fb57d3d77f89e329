package cli

import (
	"os/user"
	"path/filepath"

	"golang.org/x/sys/windows"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/text"
)

func administrator() bool {
	sid, err := windows.CreateWellKnownSid(windows.WinBuiltinAdministratorsSid)
	if err != nil {
		return false
	}
	member, err := windows.Token(0).IsMember(sid)
	return err == nil && member
}

// foldersOf are the folders of a user's Wiebelt where they are not redirected to
// another computer.
func foldersOf(u *user.User) ([]userFolder, profile.Dirs) {
	f := []userFolder{{u.HomeDir, "AppData/Roaming/Wiebelt"}, {u.HomeDir, "AppData/Local/Wiebelt"}}
	return f, profile.Dirs{Config: f[0].path(), State: f[1].path(), Run: filepath.Join(f[1].path(), "run")}
}

func vaultHint(name string) any { return text.Errorf(text.SayVault, name) }
