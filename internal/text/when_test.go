package text

import (
	"testing"
	"time"
)

func TestDaysAndLengths(t *testing.T) {
	now := time.Date(2026, 9, 14, 12, 0, 0, 0, time.Local)
	for _, tt := range []struct {
		t      time.Time
		nl, en string
	}{
		{now, "ma 14 sep", "Mon 14 Sep"}, {now.AddDate(0, 0, -2), "za 12 sep", "Sat 12 Sep"},
		{time.Date(2026, 3, 1, 0, 0, 0, 0, time.Local), "zo 1 mrt", "Sun 1 Mar"},
		{time.Date(2025, 12, 31, 23, 59, 59, 0, time.Local), "31 dec 2025", "31 Dec 2025"},
	} {
		if nl, en := Dutch.Day(tt.t, now), English.Day(tt.t, now); nl != tt.nl || en != tt.en {
			t.Errorf("%v: %q and %q, want %q and %q", tt.t, nl, en, tt.nl, tt.en)
		}
	}
	for d, want := range map[time.Duration]string{-time.Second: "0:00", 0: "0:00", 9 * time.Second: "0:09", 134 * time.Second: "2:14",
		3599500 * time.Millisecond: "1:00:00", 3*time.Hour + 2*time.Minute + time.Second: "3:02:01"} {
		if got := Dutch.Duration(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
	for days, want := range map[int]string{0: "12:00", 1: "dinsdag 12:00", -1: "zondag 12:00", -6: "dinsdag 12:00", -7: "ma 7 sep 12:00", -300: "18 nov 2025 12:00"} {
		if got := Dutch.InWeek(now.AddDate(0, 0, days), now); got != want {
			t.Errorf("%d days away: %q, want %q", days, got, want)
		}
	}
	if got := English.Clock(now); got != "12:00" {
		t.Errorf("clock %q", got)
	}
}
