package health

import "time"

// quiet reports whether a call should have come by now.
func (f Facts) quiet(now time.Time) bool {
	from := f.DoubtFrom()
	return !from.IsZero() && now.After(from)
}

// DoubtFrom is the moment after which the silence is strange if no call comes
// before, zero where few calls are usual. Whoever shows the state looks again
// then.
func (f Facts) DoubtFrom() time.Time {
	if f.Usual <= usualCalls {
		return time.Time{}
	}
	since := f.Opened
	if f.Last != nil && f.Last.At.After(since) {
		since = f.Last.At
	}
	return worked(since, quietFor)
}

// worked is the moment at which, from a moment on, so much working time has gone
// by.
func worked(from time.Time, long time.Duration) time.Time {
	from = from.Local()
	for day := from; ; day = midnight(day).AddDate(0, 0, 1) {
		begin, end, works := hours(day)
		if from.After(begin) {
			begin = from
		}
		if !works || !end.After(begin) {
			continue
		}
		if at := begin.Add(long); !at.After(end) {
			return at
		}
		long -= end.Sub(begin)
	}
}

// hours are the working hours of a day; works is false at the weekend.
func hours(day time.Time) (begin, end time.Time, works bool) {
	y, m, d := day.Date()
	begin, end = time.Date(y, m, d, dayBegins, 0, 0, 0, time.Local), time.Date(y, m, d, dayEnds, 0, 0, 0, time.Local)
	return begin, end, Workday(day)
}

// Workday reports whether people work on that day in local time.
func Workday(day time.Time) bool {
	wd := day.Local().Weekday()
	return wd != time.Saturday && wd != time.Sunday
}
