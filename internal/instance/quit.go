package instance

import (
	"os"
	"path/filepath"

	"wiebelt/internal/filetrust"
)

// MarkQuit records that the user has quit: until the next manual start or log-on,
// calls do not start Wiebelt.
func MarkQuit(cfg Config) error {
	return os.WriteFile(quitFile(cfg), []byte(logonID()), 0o600)
}

// ClearQuit removes that record.
func ClearQuit(cfg Config) { _ = os.Remove(quitFile(cfg)) }

func quitFile(cfg Config) string { return filepath.Join(cfg.RunDir, "quit") }

// wasQuit reports whether the user has quit since this log-on.
func wasQuit(cfg Config) bool {
	noted, err := filetrust.ReadPlain(quitFile(cfg), 256)
	return err == nil && sameLogon(string(noted), logonID())
}
