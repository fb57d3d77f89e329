package profile

import (
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// Machine returns the path of a file of the whole computer.
func Machine(name string) string { return filepath.Join("/etc/wiebelt", name) }

// runtimeRoot has the runtime folder of each user who is logged on.
var runtimeRoot = "/run/user"

// platformDirs follows the XDG base directories. If the variable of the runtime folder
// is unset, as in a cron job, or names another user's, as after "su", the folder that
// the system creates is used: every program of a user must find the one that runs.
func platformDirs(env func(string) string) (Dirs, error) {
	home := env("HOME")
	config, err := xdgDir(env("XDG_CONFIG_HOME"), home, ".config")
	if err != nil {
		return Dirs{}, err
	}
	state, err := xdgDir(env("XDG_STATE_HOME"), home, ".local", "state")
	if err != nil {
		return Dirs{}, err
	}
	d := Dirs{Config: filepath.Join(config, "wiebelt"), State: filepath.Join(state, "wiebelt")}
	d.Run = filepath.Join(d.State, "run")
	for _, run := range []string{env("XDG_RUNTIME_DIR"), filepath.Join(runtimeRoot, strconv.Itoa(os.Getuid()))} {
		if filepath.IsAbs(run) && ownFolder(run) {
			d.Run = filepath.Join(run, "wiebelt")
			break
		}
	}
	return d, nil
}

func ownFolder(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return false
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(owner.Uid) == os.Getuid()
}

// xdgDir returns the value of an XDG variable, or the fallback below home. Relative values
// are invalid and count as unset.
func xdgDir(value, home string, fallback ...string) (string, error) {
	if filepath.IsAbs(value) {
		return value, nil
	}
	if !filepath.IsAbs(home) {
		return "", ErrNoHome
	}
	return filepath.Join(append([]string{home}, fallback...)...), nil
}
