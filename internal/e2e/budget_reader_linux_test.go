package e2e

import "testing"

// BenchmarkReader is what Orca costs whoever waits for a number: it is told after the
// card is painted. It writes bin/bench-reader.json.
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
		without, _, _ := s.painted(200)
		s.orca()
		s.Until("Wiebelt can be explored", func() bool { return len(s.explore()) > 0 })
		with, _, _ := s.painted(200)
		const alone, read = "event → number painted, with a bus", "  and with Orca"
		t.times(alone, without, limit{})
		t.times(read, with, limit{})
		t.figure("  which is later by", t.value[read][0]-t.value[alone][0], 1, "ms")
		t.print(b, "bench-reader.json")
	}
}
