package e2e

import (
	"fmt"
	"testing"
	"time"

	"wiebelt/internal/core/engine"
	"wiebelt/internal/simulate"
)

// BenchmarkHundred simulates a terminal server: a hundred residents on one machine, each
// with its own screen, and a call to each of them. It writes bin/bench-hundred.json.
func BenchmarkHundred(b *testing.B) {
	for range b.N {
		t := newTable(b)
		var all []*stage
		for range 100 {
			all = append(all, openStage(b, 1, ""))
		}
		memory := func() (mb float64) {
			for _, s := range all {
				mb += float64(rollup(s.resident.Process.Pid, "Pss:")) / 1024
			}
			return mb
		}
		t.figure("100 residents, ready: memory of all", memory(), 2200, "MB")
		var painted []time.Duration
		for i, s := range all {
			p := s.people[i]
			c := simulate.Call{ID: fmt.Sprint("h", i), Number: "+31" + p.Numbers[0][1:]}
			e := s.eye(p, c.Number, engine.OutcomeFound)
			began := time.Now()
			go func() { _ = s.phones[0].Ring(b.Context(), c) }()
			painted = append(painted, e.wait(b, "the contact").Sub(began))
			s.over(s.phones[0], c)
		}
		t.times("100 residents, a call to each: event → contact painted", painted, limit{p99: 150})
		t.figure("100 residents, each after a call: memory of all", memory(), 2200, "MB")
		t.print(b, "bench-hundred.json")
	}
}
