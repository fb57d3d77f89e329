package fromsettings

import (
	"os"
	"path/filepath"
	"runtime"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/instance/installed"
)

// RingProgram returns the program of exe's version that phones and links start. It
// only hands calls over and opens no console window. If missing, exe is returned, which
// takes the same arguments.
func RingProgram(exe string) string {
	if runtime.GOOS == "windows" {
		return companion(exe, "wiebelt-ringw.exe")
	}
	return companion(exe, "wiebelt-ring")
}

// TerminalProgram returns what users type in a terminal to run exe.
func TerminalProgram(exe string) string {
	if runtime.GOOS == "windows" {
		return companion(exe, "wiebelt.exe")
	}
	return exe
}

// companion returns a program installed with exe, or exe itself if it is not installed.
func companion(exe, name string) string {
	dirs := []string{filepath.Dir(exe)}
	if programs, ok := installed.VersionsFolder(exe); ok {
		dirs = []string{programs, dirs[0]} // the stable place, independent of versions, first
	}
	for _, dir := range dirs {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path
		}
	}
	return exe
}

// HistoryFile returns the file with the stored calls.
func HistoryFile(d profile.Dirs) string { return filepath.Join(d.State, "history.db") }
