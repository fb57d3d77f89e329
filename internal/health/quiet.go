package health

import "time"

// tooQuiet reports whether a call should have come by now.
func (f Facts) tooQuiet(now time.Time) bool {
	from := f.DoubtFrom()
	return !from.IsZero() && now.After(from)
}

// DoubtFrom returns when the silence becomes suspicious if no call comes before
// then; zero if few calls are usual. Whatever shows the state must reassess it then.
func (f Facts) DoubtFrom() time.Time {
	if f.UsualCalls <= usualCalls {
		return time.Time{}
	}
	since := f.StartedAt
	if f.LastCall != nil && f.LastCall.At.After(since) {
		since = f.LastCall.At
	}
	return afterWorkTime(since, quietFor)
}

// afterWorkTime returns the time at which the given amount of working time has passed since from.
func afterWorkTime(from time.Time, long time.Duration) time.Time {
	from = from.Local()
	for day := from; ; day = midnight(day).AddDate(0, 0, 1) {
		begin, end, works := workHours(day)
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

// workHours returns the working hours of a day; works is false at weekends.
func workHours(day time.Time) (begin, end time.Time, works bool) {
	y, m, d := day.Date()
	begin, end = time.Date(y, m, d, dayBegins, 0, 0, 0, time.Local), time.Date(y, m, d, dayEnds, 0, 0, 0, time.Local)
	return begin, end, Workday(day)
}

// Workday reports whether the day is a working day in local time.
func Workday(day time.Time) bool {
	wd := day.Local().Weekday()
	return wd != time.Saturday && wd != time.Sunday
}
