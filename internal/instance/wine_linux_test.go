package instance

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"wiebelt/internal/testutil/winetest"
)

// TestWindows runs mutex, pipe and inbox under wine.
func TestWindows(t *testing.T) {
	p := winetest.New(t)
	if out, code := p.Run(winetest.BuildTests(t), "-test.v"); code != 0 || strings.Count(out, "--- PASS") != 1 {
		t.Errorf("code %d, %s", code, out)
	}
	exe := winetest.Build(t, "./testdata/wininstance")
	const dir = `C:\wiebelt`
	run := func(code int, args ...string) string {
		t.Helper()
		out, got := p.Run(exe, args...)
		if got != code {
			t.Fatalf("%s: code %d, %s", args, got, out)
		}
		return strings.TrimSpace(out)
	}
	if out := run(1, "ring-no-start", dir, "1"); out != ErrNotRunning.Error() {
		t.Errorf("%q", out)
	}

	one := p.Start(exe, "resident", dir)
	one.Wait("started")
	if out := run(1, "resident", dir); out != ErrRunning.Error() {
		t.Errorf("a second one: %q", out)
	}
	run(0, "ring-no-start", dir, "0201234567")
	one.Wait("heard 0201234567")
	t.Log(run(0, "desk", dir))
	one.Wait("peer windows")
	one.Wait("peer gone true false")
	one.Send("end")
	one.Wait("ended")

	// Twenty calls while nothing runs: one resident starts and receives them all.
	files := filepath.Join(p.Dir, "drive_c", "wiebelt")
	var all sync.WaitGroup
	t.Cleanup(func() { _ = os.WriteFile(filepath.Join(files, "end"), nil, 0o600) })
	for n := range 20 {
		all.Go(func() {
			if out, code := p.Run(exe, "ring", dir, strconv.Itoa(1000+n)); code != 0 {
				t.Errorf("ring %d: code %d, %s", n, code, out)
			}
		})
	}
	all.Wait()
	heard := func() map[string]int {
		b, _ := os.ReadFile(filepath.Join(files, "heard"))
		m := map[string]int{}
		for l := range strings.Lines(string(b)) {
			m[strings.TrimSpace(l)]++
			if strings.HasPrefix(l, "started") {
				m["started"]++
			}
		}
		return m
	}
	t.Cleanup(func() {
		if t.Failed() {
			waiting, _ := os.ReadDir(filepath.Join(files, "inbox"))
			t.Logf("heard %v; %d files wait", heard(), len(waiting))
		}
	})
	waitFor(t, "twenty calls", func() bool { return heard()["heard 1019"] > 0 && len(heard()) >= 22 })
	m := heard()
	for n := range 20 {
		if m["heard "+strconv.Itoa(1000+n)] != 1 {
			t.Errorf("call %d was heard %d times", n, m["heard "+strconv.Itoa(1000+n)])
		}
	}
	if m["started"] != 1 {
		t.Errorf("%d residents", m["started"])
	}
	run(0, "end", dir)
	waitFor(t, "its end", func() bool { return heard()["ended <nil>"] == 1 })
	run(0, "quit", dir)
	if out := run(1, "ring", dir, "1"); out != ErrQuit.Error() {
		t.Errorf("after quit: %q", out)
	}
}
