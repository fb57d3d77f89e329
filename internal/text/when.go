package text

import (
	"fmt"
	"strings"
	"time"
)

// Clock writes a time of day: "10:42".
func (l Language) Clock(t time.Time) string { return t.Local().Format("15:04") }

// Day writes a day as people say it in a list, seen from now: "ma 14 sep", and
// with its year where that is another one.
func (l Language) Day(t, now time.Time) string {
	t, now = t.Local(), now.Local()
	days, months := strings.Fields(l.T(WindowDays)), strings.Fields(l.T(WindowMonths))
	if len(days) != 7 || len(months) != 12 {
		return t.Format(time.DateOnly)
	}
	s := fmt.Sprintf("%s %d %s", days[t.Weekday()], t.Day(), months[t.Month()-1])
	if t.Year() != now.Year() {
		s = fmt.Sprintf("%d %s %d", t.Day(), months[t.Month()-1], t.Year())
	}
	return s
}

// Length writes how long something took, to the second: "2:14", "1:05:00".
func (l Language) Length(d time.Duration) string {
	s := int(max(d, 0).Round(time.Second) / time.Second)
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

// Moment writes a time as people say it, seen from now: without the day if that is
// today.
func (l Language) Moment(t, now time.Time) string {
	if SameDay(t, now) {
		return l.Clock(t)
	}
	return l.Day(t, now) + " " + l.Clock(t)
}

// InWeek is Moment with the name of the day alone, as long as that can be no other day.
func (l Language) InWeek(t, now time.Time) string {
	if SameDay(t, now) || now.Sub(t).Abs() > 6*24*time.Hour {
		return l.Moment(t, now)
	}
	return l.T(StatusWeekday(int(t.Local().Weekday()))) + " " + l.Clock(t)
}

// Date writes a day in figures.
func (l Language) Date(day time.Time) string {
	if l == Dutch {
		return day.Format("02-01-2006")
	}
	return day.Format(time.DateOnly)
}

// SameDay tells whether two moments are on one day here.
func SameDay(a, b time.Time) bool {
	return a.Local().Format(time.DateOnly) == b.Local().Format(time.DateOnly)
}
