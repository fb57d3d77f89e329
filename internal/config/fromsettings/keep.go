package fromsettings

import (
	"wiebelt/internal/config/settings"
	"wiebelt/internal/store/history"
)

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

// daysToKeep returns the days of a setting, or as many as it allows if it cannot be read:
// that deletes nothing.
func daysToKeep(s *settings.Settings, key string, days int) int {
	if s.Unsure(key) {
		return settings.MaxMessageDays
	}
	return days
}
