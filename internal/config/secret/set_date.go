package secret

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"wiebelt/internal/config/profile"
)

const maxStoredDates = 100

// storedDatesPath is the file with the days on which secrets were set; stores lack them.
func storedDatesPath(dirs profile.Dirs) string { return filepath.Join(dirs.State, "secret-days.json") }

// RecordStoredDate records the day on which a secret was set. It is for display only.
func RecordStoredDate(dirs profile.Dirs, ref Ref, on time.Time) error {
	days := storedDates(dirs)
	days[ref.digest()] = on.Format(time.DateOnly)
	if len(days) > maxStoredDates { // of obsolete addresses
		byAge := slices.SortedFunc(maps.Keys(days), func(a, b string) int { return strings.Compare(days[a]+a, days[b]+b) })
		for _, k := range byAge[:len(byAge)-maxStoredDates] {
			delete(days, k)
		}
	}
	b, _ := json.Marshal(days) // cannot fail: texts only
	return profile.WriteFile(storedDatesPath(dirs), append(b, '\n'), 0o600)
}

// StoredDate returns the day on which a secret was set, the zero time if not recorded.
func StoredDate(dirs profile.Dirs, ref Ref) time.Time {
	day, _ := time.ParseInLocation(time.DateOnly, storedDates(dirs)[ref.digest()], time.Local) // zero with an error
	return day
}

func storedDates(dirs profile.Dirs) map[string]string {
	days := map[string]string{}
	b, err := readPrivate(storedDatesPath(dirs))
	if err != nil || json.Unmarshal(b, &days) != nil || days == nil {
		return map[string]string{}
	}
	return days
}
