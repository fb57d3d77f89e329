package listener

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/filetrust"
)

// AnnouncementName is the announcement's file in the runtime folder.
const AnnouncementName = "listener.json"

// Announcement is the content of listener.json, from which a plug-in of a
// softphone learns where to report.
type Announcement struct {
	Version int    `json:"version"`
	Port    int    `json:"port"`
	Token   string `json:"token"`
	PID     int    `json:"pid"`
}

// Announced reads the announcement in a profile's runtime folder. The error is
// fs.ErrNotExist where no listener runs.
func Announced(runDir string) (a Announcement, err error) {
	b, err := os.ReadFile(filepath.Join(runDir, AnnouncementName))
	if err != nil {
		return a, err
	}
	if err := json.Unmarshal(b, &a); err != nil || a.Port < 1 || a.Port > 65535 {
		return Announcement{}, fmt.Errorf("%s cannot be read", AnnouncementName)
	}
	return a, nil
}

// Announce writes listener.json to path, for the user only and by rename, so
// that a reader sees all of it or nothing. Close removes it. The folder is made
// (0700) if it is not there.
func (l *Listener) Announce(path string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stopping {
		return fmt.Errorf("announce listener: %w", ErrStopping)
	}
	err := filetrust.Make(filepath.Dir(path), filetrust.Alone)
	if err == nil {
		b := marshal(Announcement{Version: 1, Port: l.port, Token: l.cfg.SocketToken, PID: os.Getpid()})
		err = profile.WriteFile(path, append(b, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("announce listener: %w", err)
	}
	l.announced = path
	return nil
}

// withdraw removes the announced file, unless another instance has written its
// own there since.
func (l *Listener) withdraw() {
	l.mu.Lock()
	path := l.announced
	l.mu.Unlock()
	if a, err := Announced(filepath.Dir(path)); err != nil || a.PID != os.Getpid() || a.Port != l.port {
		return
	}
	if err := os.Remove(path); err != nil {
		l.cfg.Log.Warn("listener.json could not be removed", "error", err)
	}
}
