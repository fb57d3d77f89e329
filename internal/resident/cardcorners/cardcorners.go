// Package cardcorners stores the screen corners to which cards were
// dragged, for each monitor.
//
// It owns their file, written only by Run, its only goroutine; the state in memory may be
// used from any goroutine. The settings take precedence over it.
package cardcorners

import (
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"maps"
	"path/filepath"
	"sync"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/core/wake"
	"wiebelt/internal/filetrust"
	"wiebelt/internal/ui/card"
)

// cornersName is the file with the corners to which cards were dragged. They are not
// settings: nobody configured them deliberately, they belong to this desk's monitors, and
// an exported set-up must not contain them.
const cornersName = "corners.json"

// Bounds of that file.
const (
	maxCornersFile = 16 << 10
	maxMonitors    = 32  // with a corner of its own
	maxMonitorName = 200 // bytes
)

// cornersFile is the file's format. Setting is the card.corner that the user departed from:
// another setting is a newer choice and ends them all.
type cornersFile struct {
	Version  int                    `json:"version"`
	Setting  card.Corner            `json:"setting"`
	Monitors map[string]card.Corner `json:"monitors"`
}

// Corners are the corners of monitors to which cards were dragged. Run's goroutine writes
// them; the other methods return at once and are safe for concurrent use.
type Corners struct {
	path  string
	log   *slog.Logger
	dirty chan struct{}

	mu   sync.Mutex
	kept cornersFile
}

// Open reads the stored corners; an invalid file counts as none.
func Open(dirs profile.Dirs, log *slog.Logger) *Corners {
	c := &Corners{path: filepath.Join(dirs.State, cornersName), log: log, dirty: make(chan struct{}, 1)}
	b, err := filetrust.ReadPlain(c.path, maxCornersFile)
	if errors.Is(err, fs.ErrNotExist) {
		return c
	}
	var read cornersFile
	if json.Unmarshal(b, &read) != nil || read.Version != 1 {
		log.Warn("the corners of the monitors are not known")
		return c
	}
	maps.DeleteFunc(read.Monitors, func(name string, to card.Corner) bool { return len(name) > maxMonitorName || !isCorner(to) })
	if len(read.Monitors) <= maxMonitors {
		c.kept = read
	}
	return c
}

func isCorner(c card.Corner) bool {
	return c == card.BottomRight || c == card.BottomLeft || c == card.TopRight || c == card.TopLeft
}

// Effective returns the corners in effect with these settings: none if an administrator set the
// corner, or the setting has changed since.
func (c *Corners) Effective(s *settings.Settings) map[string]card.Corner {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.Locked("card.corner") || c.kept.Setting != card.Corner(s.Card.Corner) {
		return nil
	}
	return maps.Clone(c.kept.Monitors)
}

// Moved records that the user dragged a monitor's cards to a corner.
func (c *Corners) Moved(s *settings.Settings, monitor string, to card.Corner) {
	if s.Locked("card.corner") || monitor == "" || len(monitor) > maxMonitorName {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	setting := card.Corner(s.Card.Corner)
	if c.kept.Setting != setting || len(c.kept.Monitors) >= maxMonitors {
		c.kept.Monitors = nil
	}
	next := maps.Clone(c.kept.Monitors)
	if next == nil {
		next = map[string]card.Corner{}
	}
	next[monitor] = to
	c.kept = cornersFile{Version: 1, Setting: setting, Monitors: next}
	wake.Up(c.dirty)
}

// Run writes changes until done is closed, and then the remaining ones.
func (c *Corners) Run(done <-chan struct{}) {
	for {
		select {
		case <-c.dirty:
			c.write()
		case <-done:
			select {
			case <-c.dirty:
				c.write()
			default:
			}
			return
		}
	}
}

func (c *Corners) write() {
	c.mu.Lock()
	b, _ := json.Marshal(c.kept) // texts and a number cannot fail
	c.mu.Unlock()
	if err := profile.WriteFile(c.path, append(b, '\n'), 0o600); err != nil {
		c.log.Warn("the corners of the monitors are not kept", "why", err)
	}
}
