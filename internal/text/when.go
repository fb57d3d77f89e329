package text

import (
	"fmt"
	"strings"
	"time"
)

// Clock formats a time of day: "10:42".
func (l Language) Clock(t time.Time) string { return t.Local().Format("15:04") }

// Day formats a day for a list, relative to now: "ma 14 sep", with the year
// if it is another one.
func (l Language) Day(t, now time.Time) string {
	t, now = t.Local(), now.Local()
	days, months := strings.Fields(l.T(WindowDays)), strings.Fields(l.T(WindowMonths))
	s := fmt.Sprintf("%s %d %s", days[t.Weekday()], t.Day(), months[t.Month()-1])
	if t.Year() != now.Year() {
		s = fmt.Sprintf("%d %s %d", t.Day(), months[t.Month()-1], t.Year())
	}
	return s
}

// Duration formats a duration, to the second: "2:14", "1:05:00".
func (l Language) Duration(d time.Duration) string {
	s := int(max(d, 0).Round(time.Second) / time.Second)
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

// Moment formats a time relative to now: without the day if it is today.
func (l Language) Moment(t, now time.Time) string {
	if SameDay(t, now) {
		return l.Clock(t)
	}
	return l.Day(t, now) + " " + l.Clock(t)
}

// InWeek is like Moment, but names only the day of the week while that is unambiguous.
func (l Language) InWeek(t, now time.Time) string {
	if SameDay(t, now) || now.Sub(t).Abs() > 6*24*time.Hour {
		return l.Moment(t, now)
	}
	return l.T(StatusWeekday(int(t.Local().Weekday()))) + " " + l.Clock(t)
}

// Date formats a day in digits.
func (l Language) Date(day time.Time) string {
	if l == Dutch {
		return day.Format("02-01-2006")
	}
	return day.Format(time.DateOnly)
}

// SameDay reports whether two times are on the same local day.
func SameDay(a, b time.Time) bool {
	return a.Local().Format(time.DateOnly) == b.Local().Format(time.DateOnly)
}
