package memory

import (
	"io/fs"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"testing"

	"wiebelt/assets"
	"wiebelt/internal/testutil/must"
)

// TestRest checks that pages of the executable that were read once leave memory after a rest,
// and have the same content when read again.
func TestRest(t *testing.T) {
	read := func() (size int, sum uint32) {
		err := fs.WalkDir(assets.Text, ".", func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			all, err := assets.Text.ReadFile(path)
			for _, b := range all {
				sum = sum*31 + uint32(b)
			}
			size += len(all)
			return err
		})
		must.Do(t, err)
		return size, sum
	}
	size, sum := read()
	before := mapped(t)
	must.Do(t, Release())
	if after := mapped(t); after > before-size/2 {
		t.Errorf("%d bytes of files are mapped, %d before", after, before)
	}
	if _, again := read(); again != sum {
		t.Error("what is read after a rest is something else")
	}
}

// mapped returns how many bytes of mapped files this process has in memory.
func mapped(t *testing.T) (sum int) {
	t.Helper()
	status := must.Get(os.ReadFile("/proc/self/status"))(t)
	for _, m := range regexp.MustCompile(`Rss(?:File|Shmem):\s+(\d+) kB`).FindAllSubmatch(status, -1) {
		n := must.Get(strconv.Atoi(string(m[1])))(t)
		sum += 1024 * n
	}
	return sum
}

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
