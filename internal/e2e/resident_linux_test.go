package e2e

import (
	"debug/elf"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"wiebelt/internal/simulate"
)

// TestTwentyRingsBeforeTheStart: twenty calls while nothing runs make one
// resident, and none is lost.
func TestTwentyRingsBeforeTheStart(t *testing.T) {
	t.Parallel()
	o := prepare(t, "")
	t.Cleanup(func() {
		if b, err := os.ReadFile(o.announced()); err == nil {
			var a struct{ PID int }
			if json.Unmarshal(b, &a) == nil && a.PID > 1 {
				end(a.PID)
			}
		}
	})
	var all sync.WaitGroup
	for n := range 20 {
		all.Go(func() {
			if out, err := o.wiebelt("ring", "--id", strconv.Itoa(n), "--", fmt.Sprintf("06987%05d", n)).CombinedOutput(); err != nil {
				t.Errorf("ring %d: %v: %s", n, err, out)
			}
		})
	}
	all.Wait()
	o.Until("twenty calls in the history", func() bool { return len(callsOf(t, o)) == 20 })
	o.Until("one resident", func() bool { return residents(o) == 1 })
	if files, _ := filepath.Glob(filepath.Join(o.profile, "run", "inbox", "*")); len(files) != 0 {
		t.Errorf("%d calls lie in the inbox", len(files))
	}
}

// residents counts the programs that run with the office's profile.
func residents(o *office) int { return len(o.running(false)) }

// TestIdle: the resident needs no library of the system and little
// memory; idle it does nothing, but give back once what the last card
// took.
func TestIdle(t *testing.T) {
	t.Parallel()
	o := prepare(t, "")
	f, err := elf.Open(o.bin)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if libs, _ := f.ImportedLibraries(); len(libs) != 0 {
		t.Errorf("needs %v", libs)
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			t.Error("needs a dynamic linker")
		}
	}
	o.start("env", "GODEBUG=gctrace=1")
	p := dial(o)
	if err := p.Ring(t.Context(), simulate.Call{ID: "1", Number: "+31698760011"}); err != nil {
		t.Fatal(err)
	}
	o.shows("a card", foundCard(t, "+31698760011", "", vries.Contact))
	if err := p.End(t.Context(), simulate.Call{ID: "1"}, "missed"); err != nil {
		t.Fatal(err)
	}
	o.Until("no card", o.empty)
	_ = p.Close()
	before := ticks(t, o.resident.Process.Pid)
	time.Sleep(60 * time.Second) // this is what is measured
	used := ticks(t, o.resident.Process.Pid) - before
	rss := memory(t, o.resident.Process.Pid)
	t.Logf("idle for 60 s: %d ticks of CPU, %d kB resident", used, rss)
	if used > 3 { // 0.05 % of a core
		t.Errorf("%d ticks of CPU in 60 s", used)
	}
	if rss > 64<<10 {
		t.Errorf("%d kB resident", rss)
	}
	given := func() int { return strings.Count(o.log.String(), "(forced)") }
	if given() != 0 {
		t.Error("memory was given back at once: somebody may call again")
	}
	for late := time.After(time.Minute); given() == 0; {
		select {
		case <-late:
			t.Fatal("memory is never given back")
		case <-time.After(100 * time.Millisecond):
		}
	}
	t.Logf("at rest: %d kB resident", memory(t, o.resident.Process.Pid))
}

func ticks(t testing.TB, pid int) int {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	f := strings.Fields(rest)
	u, _ := strconv.Atoi(f[11])
	s, _ := strconv.Atoi(f[12])
	return u + s
}

func memory(t testing.TB, pid int) int {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for l := range strings.Lines(string(b)) {
		if v, ok := strings.CutPrefix(l, "VmRSS:"); ok {
			n, _ := strconv.Atoi(strings.Fields(v)[0])
			return n
		}
	}
	t.Fatal("no VmRSS")
	return 0
}

// TestNothingInTheTempFolder: through one call the resident opens nothing in the
// folder that every user of the machine can write to.
func TestNothingInTheTempFolder(t *testing.T) {
	t.Parallel()
	o := prepare(t, "")
	tmp, trace := t.TempDir(), filepath.Join(t.TempDir(), "trace")
	o.start("env", "TMPDIR="+tmp, "strace", "-f", "-qq", "-e", "trace=openat,open,creat,mkdirat,mkdir,unlinkat,renameat", "-o", trace)
	if err := dial(o).Ring(t.Context(), simulate.Call{ID: "1", Number: "+31698760011"}); err != nil {
		t.Fatal(err)
	}
	o.shows("a card", foundCard(t, "+31698760011", "", vries.Contact))
	b, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for l := range strings.Lines(string(b)) {
		seen++
		if strings.Contains(l, `"`+tmp) || strings.Contains(l, `"/tmp/fyne`) {
			t.Errorf("%s", strings.TrimSpace(l))
		}
	}
	if seen < 10 {
		t.Errorf("only %d calls traced", seen)
	}
}
