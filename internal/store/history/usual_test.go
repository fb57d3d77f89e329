package history

import (
	"path/filepath"
	"testing"
	"time"

	"wiebelt/internal/testutil/clocktest"
	"wiebelt/internal/testutil/must"
)

// TestIncomingAndLastByKind checks the queries over whole days: how many
// calls came in, and when the last one did for each kind of source.
// Outgoing calls do not count, as they do not show that calls reach us.
func TestIncomingAndLastByKind(t *testing.T) {
	c := clocktest.New(time.Date(2026, 11, 20, 18, 0, 0, 0, time.Local))
	s := open(t, filepath.Join(t.TempDir(), "history.db"), KeepNumbers, c)
	at := func(day, hour int) time.Time { return time.Date(2026, 11, day, hour, 0, 0, 0, time.Local) }
	for _, e := range []Entry{
		{Rang: at(18, 10), Kind: "http"}, {Rang: at(19, 0), Kind: "http"}, {Rang: at(19, 11), Kind: "baresip"},
		{Rang: at(19, 12), Kind: "baresip", Outgoing: true}, {Rang: at(19, 23), Kind: "http"}, {Rang: at(20, 0), Kind: "command"},
	} {
		e.Number, e.Result = "+31612345678", ResultUnknown
		must.Get(s.Put(t.Context(), e))(t)
	}
	for day, want := range map[int]int{17: 0, 18: 1, 19: 3, 20: 1} {
		if n, err := s.Incoming(t.Context(), at(day, 0), at(day+1, 0)); n != want || err != nil {
			t.Errorf("day %d: %d calls, %v; want %d", day, n, err, want)
		}
	}
	last, err := s.LastByKind(t.Context())
	if err != nil || len(last) != 3 || !last["http"].Equal(at(19, 23)) || !last["baresip"].Equal(at(19, 11)) || !last["command"].Equal(at(20, 0)) {
		t.Errorf("%v, %v", last, err)
	}
}
