package health

import "time"

// ExpiryStage says how close the expiry of the hub's secret is.
type ExpiryStage uint8

// The stages. Only the last two deserve a warning, and only to administrators: in the
// doctor, the settings window and the system's log. Cards and tray never mention it.
const (
	ExpiryUnknown ExpiryStage = iota // no date is set
	ExpiryFar
	ExpirySoon // within ExpiryWarning days, inclusive
	ExpiryPast
)

// ExpiryWarning is how many days in advance administrators are warned.
const ExpiryWarning = 30

// ExpiryMessage is the field "id" of the line about it in the program's log, at the start
// and once a day.
// Administrators filter by it: it never changes.
const ExpiryMessage = "secret-expires"

// Expiry evaluates hub.secret_expires, of which only the day counts; the zero time
// means not set. days is how many days are left, 0 on the day itself and negative
// afterwards, in now's location.
func Expiry(now, expires time.Time) (e ExpiryStage, days int) {
	if expires.IsZero() {
		return ExpiryUnknown, 0
	}
	day := func(t time.Time) time.Time { // days in UTC always have 24 hours
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
