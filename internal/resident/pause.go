package resident

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"wiebelt/internal/config/profile"
)

// pausedName is the file that says until when the user has paused: a pause
// outlives a new version, a log-off and a start, and ends when it was to end.
const pausedName = "paused"

// longestPause is longer than any pause that can be asked for.
const longestPause = 48 * time.Hour

// pause stops cards until a moment; calls are still noted. The zero time ends it.
func (r *Resident) pause(until time.Time) {
	r.facts.pause(until)
	path := filepath.Join(r.o.Dirs.State, pausedName)
	var err error
	if until.IsZero() {
		if err = os.Remove(path); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	} else {
		err = profile.WriteFile(path, []byte(until.Format(time.RFC3339)+"\n"), 0o600)
	}
	if err != nil {
		r.o.Log.Warn("the pause does not outlive this program", "why", err)
	}
	r.look()
}

// pausedBefore is until when a pause holds that was asked for before this start,
// the zero time for none.
func pausedBefore(d profile.Dirs, now time.Time) time.Time {
	b, err := os.ReadFile(filepath.Join(d.State, pausedName))
	if err != nil || len(b) > 64 {
		return time.Time{}
	}
	until, err := time.Parse(time.RFC3339, strings.TrimSpace(string(b)))
	if err != nil || !until.After(now) || until.Sub(now) > longestPause {
		return time.Time{}
	}
	return until
}
