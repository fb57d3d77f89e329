package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"wiebelt/internal/simulate"
	"wiebelt/internal/testutil/must"
	"wiebelt/internal/testutil/xtest"
)

// TestTwentyRingsBeforeTheStart checks that twenty calls handed over
// while nothing runs start one resident, and that none is lost.
func TestTwentyRingsBeforeTheStart(t *testing.T) {
	t.Parallel()
	o := prepare(t, "")
	t.Cleanup(func() { xtest.End(o.now().PID) })
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

// residents counts the running programs with the office's profile.
func residents(o *office) int { return len(o.running(false)) }

// TestQuietAfterLogOn starts the resident as at log-on, where no panel ever shows
// an icon, with one call and then nothing. The resident needs little memory,
// and stays idle; after a minute it says once how to get to
// the calls, and opens no window by itself; later it frees the card's memory.
func TestQuietAfterLogOn(t *testing.T) {
	t.Parallel()
	i := onBus(t, prepare(t, "[ui]\nlanguage = \"nl\""))
	notices := xtest.ServeNotices(t, i.bus, "actions")
	began := time.Now()
	i.start("env", "GODEBUG=gctrace=1")
	p := dial(i.office)
	must.Do(t, p.Ring(t.Context(), simulate.Call{ID: "1", Number: "+31698760011"}))
	i.shows("a card", foundCard(t, "+31698760011", "", vries.Contact))
	must.Do(t, p.End(t.Context(), simulate.Call{ID: "1"}, "missed"))
	i.Until("no card", i.empty)
	_ = p.Close()

	const idle = 40 * time.Second
	before := cpuTime(t, i.resident.Process.Pid)
	time.Sleep(idle) // this is what is measured
	used, rss := cpuTime(t, i.resident.Process.Pid)-before, memory(t, i.resident.Process.Pid)
	if used > before { // what it took to start and to show a card
		t.Errorf("%v of CPU in %v, and %v before", used, idle, before)
	}
	if rss > 64<<10 {
		t.Errorf("%d kB resident", rss)
	}
	given := func() int { return strings.Count(i.log.String(), "(forced)") }
	if n := given(); n != 1 { // the one at the start
		t.Errorf("memory was given back %d times: somebody may call again", n)
	}
	i.Until("somebody is told", func() bool { id, _ := notices.Now(); return id != 0 })
	said := fmt.Sprint(notices.All())
	if took := time.Since(began); took < 55*time.Second || !strings.Contains(said, "Start Wiebelt nogmaals om de oproepen te zien.") {
		t.Errorf("after %v it says %s", took, said)
	}
	if w := i.windows(); w != "" {
		t.Errorf("it opened %q by itself", w)
	}
	i.Until("memory is given back", func() bool { return given() > 1 })
	id, _ := notices.Now()
	notices.Emit("ActionInvoked", id, "default")
	i.FindWindow("^Oproepen")
	if id != 1 {
		t.Error("said more than once")
	}
}

// cpuTime returns a process's CPU time.
func cpuTime(t testing.TB, pid int) (used time.Duration) {
	t.Helper()
	all, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	for _, f := range all {
		b, _ := os.ReadFile(f)
		var n int64
		must.Get(fmt.Sscan(string(b), &n))(t)
		used += time.Duration(n)
	}
	return used
}

func ticks(t testing.TB, pid int) int {
	t.Helper()
	b := must.Get(os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)))(t)
	_, rest, _ := strings.Cut(string(b), ") ")
	f := strings.Fields(rest)
	u, _ := strconv.Atoi(f[11])
	s, _ := strconv.Atoi(f[12])
	return u + s
}

func memory(t testing.TB, pid int) int {
	t.Helper()
	kB := statusOf(pid, "VmRSS")
	if kB == 0 {
		t.Fatal("no VmRSS")
	}
	return kB
}

// statusOf returns a figure of /proc/PID/status, 0 if the process is gone.
func statusOf(pid int, name string) (n int) {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for l := range strings.Lines(string(b)) {
		if v, ok := strings.CutPrefix(l, name+":"); ok {
			n, _ = strconv.Atoi(strings.Fields(v)[0])
		}
	}
	return n
}
