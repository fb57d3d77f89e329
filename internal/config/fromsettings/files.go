package fromsettings

import (
	"os"
	"path/filepath"
	"runtime"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/instance/installed"
)

// WithoutConsole gives the program beside exe that opens no console window, exe
// itself where there is none.
func WithoutConsole(exe string) string {
	if runtime.GOOS != "windows" {
		return exe
	}
	w := filepath.Join(filepath.Dir(exe), "wiebeltw.exe")
	if info, err := os.Stat(w); err != nil || !info.Mode().IsRegular() {
		return exe
	}
	return w
}

// RingProgram gives the program beside exe that phones and links start, which only
// hands calls over and opens no console window; where there is none, exe without
// its console, which takes the same arguments.
func RingProgram(exe string) string {
	name := "wiebelt-ring"
	if runtime.GOOS == "windows" {
		name = "wiebelt-ringw.exe"
	}
	dirs := []string{filepath.Dir(exe)}
	if programs, ok := installed.Beside(exe); ok {
		dirs = append(dirs, programs) // where every version finds it, and so do phones
	}
	for _, dir := range dirs {
		small := filepath.Join(dir, name)
		if info, err := os.Stat(small); err == nil && info.Mode().IsRegular() {
			return small
		}
	}
	return WithoutConsole(exe)
}

// HistoryFile is the file with the calls that are kept.
func HistoryFile(d profile.Dirs) string { return filepath.Join(d.State, "history.db") }
