package profile

import "path/filepath"

// platformDirs uses the user's Library.
func platformDirs(env func(string) string) (Dirs, error) {
	config, err := base("", env("HOME"), "Library", "Application Support", "Wiebelt")
	if err != nil {
		return Dirs{}, err
	}
	return Dirs{Config: config, State: filepath.Join(config, "State"), Run: filepath.Join(config, "run")}, nil
}
