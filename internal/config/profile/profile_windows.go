package profile

import (
	"path/filepath"
)

// platformDirs returns roaming folders for settings and local ones for the rest.
func platformDirs(env func(string) string) (Dirs, error) {
	roaming, here := env("APPDATA"), env("LOCALAPPDATA")
	if !filepath.IsAbs(roaming) || !filepath.IsAbs(here) {
		return Dirs{}, ErrNoHome
	}
	d := Dirs{Config: filepath.Join(roaming, "Wiebelt"), State: filepath.Join(here, "Wiebelt")}
	d.Run = filepath.Join(d.State, "run")
	return d, nil
}
