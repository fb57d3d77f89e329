package listener

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/filetrust"
)

// AnnouncementName is the file name of the announcement in the runtime folder.
const AnnouncementName = "listener.json"

// Announcement is the content of listener.json, which tells a softphone's
// plug-in where to report.
type Announcement struct {
	Version int    `json:"version"`
	Port    int    `json:"port"`
	Token   string `json:"token"`
	PID     int    `json:"pid"`
}

// ReadAnnouncement reads the announcement from a profile's runtime folder. The error is
// fs.ErrNotExist if no listener runs.
func ReadAnnouncement(runDir string) (a Announcement, err error) {
	b, err := os.ReadFile(filepath.Join(runDir, AnnouncementName))
	if err != nil {
		return a, err
	}
	if err := json.Unmarshal(b, &a); err != nil || a.Port < 1 || a.Port > 65535 {
		return Announcement{}, fmt.Errorf("%s cannot be read", AnnouncementName)
	}
	return a, nil
}

// Announce writes listener.json to path, readable by the user only and by rename,
// so that readers never see a partial file. Close removes it. The folder is
// created (0700) if missing.
func (l *Listener) Announce(path string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stopping {
		return fmt.Errorf("announce listener: %w", ErrStopping)
	}
	err := filetrust.Make(filepath.Dir(path), filetrust.Private)
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

// withdraw removes the announcement unless another instance has replaced it since.
func (l *Listener) withdraw() {
	l.mu.Lock()
	path := l.announced
	l.mu.Unlock()
	if path == "" { // else a file of the current folder would be read
		return
	}
	if a, err := ReadAnnouncement(filepath.Dir(path)); err != nil || a.PID != os.Getpid() || a.Port != l.port {
		return
	}
	if err := os.Remove(path); err != nil {
		l.cfg.Log.Warn("listener.json could not be removed", "error", err)
	}
}
