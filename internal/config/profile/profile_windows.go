package profile

import (
	"path/filepath"

	"golang.org/x/sys/windows"
)

// Machine returns the path of a file of the whole computer, "" if its folder is unknown. It asks Windows:
// the user controls the environment.
func Machine(name string) string {
	dir, err := windows.KnownFolderPath(windows.FOLDERID_ProgramData, windows.KF_FLAG_DEFAULT)
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "Wiebelt", name)
}

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
