package e2e

import (
	"testing"
	"time"
)

// BenchmarkReader measures what Orca costs while waiting for a number: it is notified after
// the card is painted. While it speaks the previous call, it needs a processor for about a
// second. It writes bin/bench-reader.json.
func BenchmarkReader(b *testing.B) {
	for range b.N {
		t := newTable(b)
		s := openStage(b, 1, "")
		s.quit()
		s.Bus()
		s.start()
		for i := range s.phones {
			s.phones[i] = dial(s.office)
		}
		const calls, said = 60, 1600 * time.Millisecond
		without, _, _ := s.painted(calls, said)
		s.orca()
		s.Until("Wiebelt can be explored", func() bool { return len(s.explore()) > 0 })
		with, _, _ := s.painted(calls, said)
		const alone, read = "event → number painted, with a bus", "  and with Orca"
		t.times(alone, without, limit{})
		t.times(read, with, limit{})
		t.figure("  which comes", t.value[read][0]-t.value[alone][0], 1, "ms later")
		t.print(b, "bench-reader.json")
	}
}
