package health

import "time"

// Expiring is how far away the day is on which the hub's secret expires.
type Expiring uint8

// The stages. Only the last two are worth a warning, and only to administrators:
// doctor, settings window and the system's log. Cards and tray never mention it.
const (
	ExpiryUnknown Expiring = iota // nobody said when
	ExpiryFar
	ExpirySoon // within ExpiryWarning days, that day included
	ExpiryPast
)

// ExpiryWarning is from how many days before on administrators are warned.
const ExpiryWarning = 30

// ExpiryMessage marks the line about it in the program's log, once a day, as the
// field "id". Administrators filter by it: it never changes.
const ExpiryMessage = "secret-expires"

// Expiry judges hub.secret_expires, of which only the day counts; the zero time
// is not set. days is how many days are left, 0 on the day itself and negative
// afterwards, by the calendar of now's location.
func Expiry(now, expires time.Time) (e Expiring, days int) {
	if expires.IsZero() {
		return ExpiryUnknown, 0
	}
	day := func(t time.Time) time.Time { // days of UTC all have 24 hours
		y, m, d := t.Date()
		return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
	}
	days = int(day(expires).Sub(day(now)).Hours() / 24)
	switch {
	case days < 0:
		return ExpiryPast, days
	case days <= ExpiryWarning:
		return ExpirySoon, days
	}
	return ExpiryFar, days
}
