package e2e

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"wiebelt/internal/simulate"
)

// TestAnotherVersionTakesOver: a new version on disk takes over at the next call
// that is handed over, not while a call is on, and no call is lost.
func TestAnotherVersionTakesOver(t *testing.T) {
	t.Parallel()
	o := prepare(t, "[card]\nafter_call = \"0s\"")
	dir := t.TempDir()
	next := filepath.Join(dir, "next")
	if err := build(next, "-s -w -X main.version=99.1 -X main.commit=abcdef", "./app/wiebelt", "CGO_ENABLED=0"); err != nil {
		t.Fatal(err)
	}
	old, err := os.ReadFile(o.bin)
	if err != nil {
		t.Fatal(err)
	}
	o.bin = filepath.Join(dir, "wiebelt")
	if err := writeProgram(o.bin, old); err != nil {
		t.Fatal(err)
	}
	o.start()
	before := o.at().PID
	t.Cleanup(func() {
		if a := o.at(); a.PID != before { // started by the first one, not by us
			end(a.PID)
		}
	})
	p := dial(o)
	if err := p.Ring(t.Context(), simulate.Call{ID: "live", Number: "+31698760011"}); err != nil {
		t.Fatal(err)
	}
	o.shows("a card", foundCard(t, "+31698760011", "", vries.Contact))
	if err := os.Rename(next, o.bin); err != nil {
		t.Fatal(err)
	}
	ring := func(id, number string) {
		t.Helper()
		for _, state := range []string{"ringing", "ended"} {
			if out, err := o.wiebelt("ring", "--id", id, "--state", state, "--", number).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
		}
	}
	ring("during", "0698760012")
	o.Until("the second call is kept", func() bool { return len(callsOf(t, o)) == 2 })
	if o.at().PID != before {
		t.Fatal("it went while a call was on")
	}
	if err := p.End(t.Context(), simulate.Call{ID: "live"}, "missed"); err != nil {
		t.Fatal(err)
	}
	o.Until("no card", o.empty)
	ring("after", "0698760013")
	o.Until("the new version runs", func() bool {
		b, err := os.ReadFile(o.announced())
		return err == nil && !strings.Contains(string(b), "\"pid\":"+strconv.Itoa(before))
	})
	now := o.at().PID
	exe, err := os.Readlink(filepath.Join("/proc", strconv.Itoa(now), "exe"))
	if err != nil || exe != o.bin {
		t.Errorf("runs %s: %v", exe, err)
	}
	ring("at last", "0698760014")
	o.Until("all four calls are kept", func() bool { return len(callsOf(t, o)) == 4 })
	if o.at().PID != now {
		t.Error("and again another one")
	}
}
