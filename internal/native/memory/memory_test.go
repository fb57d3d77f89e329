package memory

import (
	"runtime"
	"testing"
)

var kept []byte

// TestCollect checks that Collect runs a collection only
// if there is enough garbage to be worth it.
func TestCollect(t *testing.T) {
	collected := func() uint32 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		before := m.NumForcedGC
		Collect()
		runtime.ReadMemStats(&m)
		return m.NumForcedGC - before
	}
	runtime.GC()
	if n := collected(); n != 0 {
		t.Errorf("%d collections of nothing", n)
	}
	kept = make([]byte, 3<<20) // Go waits for 4 MB
	if n := collected(); n != 1 {
		t.Errorf("%d collections, want 1", n)
	}
	kept = nil
}
