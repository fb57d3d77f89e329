package health

import (
	"testing"
	"time"

	"wiebelt/internal/text"
)

// TestDoubtFrom: working time is Monday to Friday, nine to five; weekends and
// nights do not count. 20 November 2026 is a Friday.
func TestDoubtFrom(t *testing.T) {
	day := func(d, hour, minute int) time.Time { return time.Date(2026, 11, d, hour, minute, 0, 0, time.Local) }
	for _, tt := range []struct {
		name  string
		since time.Time
		usual int
		want  time.Time
	}{
		{"within a day", day(20, 10, 0), 6, day(20, 12, 0)},
		{"before work", day(20, 6, 30), 6, day(20, 11, 0)},
		{"up to the end of the day", day(20, 15, 0), 6, day(20, 17, 0)},
		{"over a night", day(19, 16, 0), 6, day(20, 10, 0)},
		{"after work", day(19, 22, 0), 6, day(20, 11, 0)},
		{"over a weekend", day(20, 16, 30), 6, day(23, 10, 30)},
		{"told by the clock of another zone", day(20, 15, 0).In(time.FixedZone("", 20*60*60)), 6, day(20, 17, 0)},
		{"at the weekend", day(21, 11, 0), 6, day(23, 11, 0)},
		{"five calls are not more than five", day(20, 10, 0), 5, time.Time{}},
	} {
		f := Facts{SetUp: true, UsualCalls: tt.usual, StartedAt: tt.since}
		if got := f.DoubtFrom(); !got.Equal(tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
		if tt.want.IsZero() {
			if f.tooQuiet(tt.since.AddDate(0, 0, 7)) {
				t.Errorf("%s: in doubt all the same", tt.name)
			}
			continue
		}
		for after, want := range map[time.Duration]State{-time.Minute: Ready, 0: Ready, time.Minute: Doubt} {
			if got := Assess(f, text.Dutch, "", tt.want.Add(after)); got.State != want || got.TooQuiet != (want == Doubt) {
				t.Errorf("%s, %v after: %+v, want %v", tt.name, after, got, want)
			}
		}
	}
}

// TestDoubtAfterACall checks that a call from any source removes the doubt and restarts the time.
func TestDoubtAfterACall(t *testing.T) {
	f := Facts{SetUp: true, UsualCalls: 40, StartedAt: at(8, 0), LastCall: &Call{At: at(11, 30), Kind: "http"}}
	if got := f.DoubtFrom(); !got.Equal(at(13, 30)) {
		t.Errorf("%v", got)
	}
	f.StartedAt = at(12, 0) // started after its last call
	if got := f.DoubtFrom(); !got.Equal(at(14, 0)) {
		t.Errorf("%v", got)
	}
}
