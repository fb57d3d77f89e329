package fromsettings

import (
	"os"
	"path/filepath"
	"runtime"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/instance/installed"
	"wiebelt/internal/store/history"
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

// HistoryKeep returns what is kept of calls, and for how many days. A setting that cannot be
// read deletes nothing.
func HistoryKeep(s *settings.Settings) (keep history.Keep, days int) {
	keep, days = history.Keep(s.History.Keep), s.History.Days
	if keep == history.KeepOff && s.Unsure("history.keep") {
		keep = history.KeepPaused
	}
	if s.Unsure("history.days") {
		days = history.AllDays
	}
	return keep, days
}

// ChoicesPaused reports whether choices are off only because their setting cannot be read,
// or the one that says where their key is.
func ChoicesPaused(s *settings.Settings) bool {
	return s.Unsure("history.choices") && !s.History.Choices || s.Unsure("hub.secret_store") && s.History.Choices
}
