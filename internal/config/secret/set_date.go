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

const maxSetDates = 100

// setDatesPath is the file with the days on which secrets were set; stores lack them.
func setDatesPath(dirs profile.Dirs) string { return filepath.Join(dirs.State, "secret-days.json") }

// RecordSetDate records the day on which a secret was set. It is for display only.
func RecordSetDate(dirs profile.Dirs, ref Ref, on time.Time) error {
	days := setDates(dirs)
	days[ref.digest()] = on.Format(time.DateOnly)
	if len(days) > maxSetDates { // of obsolete addresses
		byAge := slices.SortedFunc(maps.Keys(days), func(a, b string) int { return strings.Compare(days[a]+a, days[b]+b) })
		for _, k := range byAge[:len(byAge)-maxSetDates] {
			delete(days, k)
		}
	}
	b, _ := json.Marshal(days) // cannot fail: texts only
	return profile.WriteFile(setDatesPath(dirs), append(b, '\n'), 0o600)
}

// SetDate returns the day on which a secret was set, the zero time if not recorded.
func SetDate(dirs profile.Dirs, ref Ref) time.Time {
	day, err := time.ParseInLocation(time.DateOnly, setDates(dirs)[ref.digest()], time.Local)
	if err != nil {
		return time.Time{}
	}
	return day
}

func setDates(dirs profile.Dirs) map[string]string {
	days := map[string]string{}
	b, err := readPrivate(setDatesPath(dirs))
	if err != nil || json.Unmarshal(b, &days) != nil || days == nil {
		return map[string]string{}
	}
	return days
}
