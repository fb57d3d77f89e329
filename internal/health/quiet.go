package health

import "time"

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
	for day := from; ; day = oclock(day, 0).AddDate(0, 0, 1) {
		begin, end := oclock(day, dayBegins), oclock(day, dayEnds)
		if from.After(begin) {
			begin = from
		}
		if !Workday(day) || !end.After(begin) {
			continue
		}
		if at := begin.Add(long); !at.After(end) {
			return at
		}
		long -= end.Sub(begin)
	}
}

func oclock(day time.Time, hour int) time.Time {
	y, m, d := day.Date()
	return time.Date(y, m, d, hour, 0, 0, 0, time.Local)
}

// Workday reports whether the day is a working day in local time.
func Workday(day time.Time) bool {
	wd := day.Local().Weekday()
	return wd != time.Saturday && wd != time.Sunday
}
