package profile

import (
	"path/filepath"
)

// platformDirs: settings roam with the user, the rest stays on this computer.
func platformDirs(env func(string) string) (Dirs, error) {
	roaming, here := env("APPDATA"), env("LOCALAPPDATA")
	if !filepath.IsAbs(roaming) || !filepath.IsAbs(here) {
		return Dirs{}, ErrNoHome
	}
	d := Dirs{Config: filepath.Join(roaming, "Wiebelt"), State: filepath.Join(here, "Wiebelt")}
	d.Run = filepath.Join(d.State, "run")
	return d, nil
}
