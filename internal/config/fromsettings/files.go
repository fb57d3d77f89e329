package fromsettings

import (
	"os"
	"path/filepath"
	"runtime"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/instance/installed"
)

// RingProgram gives the program of exe's version that phones and links start, which only
// hands calls over and opens no console window; where there is none, exe, which takes
// the same arguments.
func RingProgram(exe string) string {
	if runtime.GOOS == "windows" {
		return companion(exe, "wiebelt-ringw.exe")
	}
	return companion(exe, "wiebelt-ring")
}

// TerminalProgram gives what people type in a terminal to run exe.
func TerminalProgram(exe string) string {
	if runtime.GOOS == "windows" {
		return companion(exe, "wiebelt.exe")
	}
	return exe
}

// companion gives a program that is installed with exe, exe itself where it is not.
func companion(exe, name string) string {
	dirs := []string{filepath.Dir(exe)}
	if programs, ok := installed.Beside(exe); ok {
		dirs = []string{programs, dirs[0]} // first where it stays, whatever versions come and go
	}
	for _, dir := range dirs {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path
		}
	}
	return exe
}

// HistoryFile is the file with the calls that are kept.
func HistoryFile(d profile.Dirs) string { return filepath.Join(d.State, "history.db") }
