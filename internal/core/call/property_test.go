package call

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestTrackerProperties checks invariants of the tracker
// for any reports, in any order, from any sources.
func TestTrackerProperties(t *testing.T) {
	sources := []Source{
		{Kind: "baresip", Conn: "127.0.0.1:4444", ReportLevel: AllStates}, {Kind: KindWebSocket, Conn: "1", ReportLevel: AllStates},
		{Kind: KindWebSocket, Conn: "2", ReportLevel: RingOnly}, {Kind: KindURL, ReportLevel: RingOnly}, {Kind: KindCommand,
			ReportLevel: RingOnly},
	}
	rapid.Check(t, func(t *rapid.T) {
		tr := NewTracker()
		now := time.Unix(1e9, 0)
		var last ID
		owner := map[ID]Source{}         // of live calls
		level := map[ID]ReportLevel{}    // what their owners can report
		named := map[alias]ID{}          // (source, id) of live calls
		seen := map[ID]map[Source]bool{} // sources that reported a live call
		steps := rapid.IntRange(1, 120).Draw(t, "steps")
		for range steps {
			now = now.Add(time.Duration(rapid.IntRange(0, 20_000).Draw(t, "ms")) * time.Millisecond)
			from := rapid.SampledFrom(sources).Draw(t, "source")
			if rapid.IntRange(0, 19).Draw(t, "gone") == 0 {
				for _, c := range tr.SourceGone(from) {
					if c.Source != from || c.ReportLevel != RingOnly {
						t.Fatalf("a call of %+v went with %+v", c.Source, from)
					}
					level[c.ID] = RingOnly
				}
				continue
			}
			e := Event{Source: from, At: now,
				State:  State(rapid.IntRange(0, 2).Draw(t, "state")),
				ID:     rapid.SampledFrom([]string{"", "", "1", "2"}).Draw(t, "id"),
				Number: rapid.SampledFrom([]string{"", "0612345678", "0201234567", "101"}).Draw(t, "number"),
				Name:   rapid.SampledFrom([]string{"", "Anna", "Piet"}).Draw(t, "name"),
			}
			key := from.connection()
			before := tr.Len()
			c := tr.Apply(e, e.Number, now)
			id := c.Call.ID
			known, isKnown := named[alias{key, e.ID}]
			switch c.Kind {
			case Began:
				if id <= last {
					t.Fatalf("call %d after %d", id, last)
				}
				if last = id; e.State == Ended {
					t.Fatal("an end began a call")
				}
				if e.ID != "" && isKnown {
					t.Fatalf("%+v began a call, and means call %d", e, known)
				}
				owner[id], level[id], seen[id] = c.Call.Source, c.Call.ReportLevel, map[Source]bool{key: true}
				if c.Call.Number != e.Number || c.Call.Name != e.Name {
					t.Fatalf("%+v began as %+v", e, c.Call)
				}
			case SameCall, AnotherCaller, WasAnswered, WasEnded:
				own := owner[id] == c.Call.Source || c.Kind == SameCall // may have found a source that reports more
				if !own && !(seen[id][key] && c.Call.Source == from && c.Call.ReportLevel > level[id]) {
					t.Fatalf("call %d changed hands", id)
				}
				if c.Kind != SameCall && c.Call.Source.connection() != key {
					t.Fatalf("%+v changed a call of %+v", e, c.Call.Source)
				}
				if e.ID != "" && isKnown && known != id {
					t.Fatalf("%+v means call %d and changed %d", e, known, id)
				}
				if e.ID != "" && !isKnown && seen[id][key] {
					t.Fatalf("two ids of one way became call %d", id)
				}
				if c.Kind == SameCall && !seen[id][key] && (e.State != Ringing || from.Kind == owner[id].Kind && from.Conn == owner[id].Conn) {
					t.Fatalf("%+v joined call %d", e, id)
				}
				owner[id], level[id] = c.Call.Source, c.Call.ReportLevel
				seen[id][key] = true
			case TooOld:
				t.Fatal("nothing here is old")
			}
			switch {
			case c.Kind == WasEnded:
				if e.State != Ended || tr.Len() != before-1 {
					t.Fatal("ended, and still there")
				}
				delete(owner, id)
				delete(seen, id)
				for a, n := range named {
					if n == id {
						delete(named, a)
					}
				}
			case c.Kind != NoChange && e.ID != "":
				named[alias{key, e.ID}] = id
			}
			if tr.Len() != len(owner) {
				t.Fatalf("%d calls, %d expected", tr.Len(), len(owner))
			}
		}
	})
}
