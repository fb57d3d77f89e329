package e2e

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"wiebelt/internal/simulate"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/xtest"
)

// TestAnotherVersionTakesOver: a new version on disk takes over at the next call that is
// handed over, not during a call, and no call is lost.
func TestAnotherVersionTakesOver(t *testing.T) {
	t.Parallel()
	o := prepare(t, "[card]\nafter_call = \"0s\"")
	dir := t.TempDir()
	next := filepath.Join(dir, "next")
	must.Do(t, build(next, "-s -w -X main.version=99.1 -X main.commit=abcdef", "./app/wiebelt", "CGO_ENABLED=0"))
	old := must.Get(os.ReadFile(o.bin))(t)
	o.bin = filepath.Join(dir, "wiebelt")
	must.Do(t, writeProgram(o.bin, old))
	o.start()
	before := o.at().PID
	t.Cleanup(func() {
		if now := o.now().PID; now != before { // started by the first one, not by us
			xtest.End(now)
		}
	})
	p := dial(o)
	must.Do(t, p.Ring(t.Context(), simulate.Call{ID: "live", Number: "+31698760011"}))
	o.shows("a card", foundCard(t, "+31698760011", "", vries.Contact))
	must.Do(t, os.Rename(next, o.bin))
	o.handOver("during", "0698760012")
	o.Until("the second call is kept", func() bool { return len(callsOf(t, o)) == 2 })
	if o.at().PID != before {
		t.Fatal("it went while a call was on")
	}
	must.Do(t, p.End(t.Context(), simulate.Call{ID: "live"}, "missed"))
	o.Until("no card", o.empty)
	o.handOver("after", "0698760013")
	o.Until("the new version runs", func() bool { now := o.now().PID; return now != 0 && now != before })
	now := o.at().PID
	exe, err := os.Readlink(filepath.Join("/proc", strconv.Itoa(now), "exe"))
	if err != nil || exe != o.bin {
		t.Errorf("runs %s: %v", exe, err)
	}
	o.handOver("at last", "0698760014")
	o.Until("all four calls are kept", func() bool { return len(callsOf(t, o)) == 4 })
	if o.at().PID != now {
		t.Error("and again another one")
	}
}
