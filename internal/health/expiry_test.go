package health

import (
	"testing"
	"time"

	"wiebelt/internal/testutil/must"
)

// TestExpiry counts calendar days, including across a clock change.
func TestExpiry(t *testing.T) {
	amsterdam := must.Get(time.LoadLocation("Europe/Amsterdam"))(t)
	at := func(s string) time.Time {
		return must.Get(time.ParseInLocation("2006-01-02 15:04", s, amsterdam))(t)
	}
	for _, c := range []struct {
		now, expires string
		want         ExpiryStage
		days         int
	}{
		{"2026-03-01 09:00", "2026-04-01 00:00", ExpiryFar, 31},
		{"2026-03-02 00:00", "2026-04-01 00:00", ExpirySoon, 30}, // across the switch to DST
		{"2026-03-02 23:59", "2026-04-01 00:00", ExpirySoon, 30},
		{"2026-10-24 23:00", "2026-10-26 00:00", ExpirySoon, 2}, // and back
		{"2026-03-31 23:59", "2026-04-01 00:00", ExpirySoon, 1},
		{"2026-04-01 00:00", "2026-04-01 00:00", ExpirySoon, 0},
		{"2026-04-01 23:59", "2026-04-01 00:00", ExpirySoon, 0},
		{"2026-04-02 00:00", "2026-04-01 00:00", ExpiryPast, -1},
		{"2027-04-01 12:00", "2026-04-01 00:00", ExpiryPast, -365},
		{"2026-12-31 12:00", "2028-02-29 00:00", ExpiryFar, 425},
	} {
		if e, days := Expiry(at(c.now), at(c.expires)); e != c.want || days != c.days {
			t.Errorf("on %s of %s: %d with %d days, want %d with %d", c.now, c.expires, e, days, c.want, c.days)
		}
	}
	if e, _ := Expiry(time.Now(), time.Time{}); e != ExpiryUnknown {
		t.Errorf("not set: %d", e)
	}
}
