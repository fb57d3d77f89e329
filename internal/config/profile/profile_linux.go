package profile

import (
	"os"
	"path/filepath"
)

// platformDirs follows the XDG base directories. A runtime folder that is not
// there (a shell of another user, a service) counts as unset.
func platformDirs(env func(string) string) (Dirs, error) {
	home := env("HOME")
	config, err := base(env("XDG_CONFIG_HOME"), home, ".config")
	if err != nil {
		return Dirs{}, err
	}
	state, err := base(env("XDG_STATE_HOME"), home, ".local", "state")
	if err != nil {
		return Dirs{}, err
	}
	d := Dirs{Config: filepath.Join(config, "wiebelt"), State: filepath.Join(state, "wiebelt")}
	d.Run = filepath.Join(d.State, "run")
	if run := env("XDG_RUNTIME_DIR"); filepath.IsAbs(run) {
		if info, err := os.Stat(run); err == nil && info.IsDir() {
			d.Run = filepath.Join(run, "wiebelt")
		}
	}
	return d, nil
}

// base is the value of an XDG variable, or the fallback below home. Relative
// values are invalid and count as unset.
func base(value, home string, fallback ...string) (string, error) {
	if filepath.IsAbs(value) {
		return value, nil
	}
	if !filepath.IsAbs(home) {
		return "", ErrNoHome
	}
	return filepath.Join(append([]string{home}, fallback...)...), nil
}
