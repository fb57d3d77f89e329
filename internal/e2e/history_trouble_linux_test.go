package e2e

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"wiebelt/internal/simulate"
	"wiebelt/internal/testutil/must"
)

// smallDisk moves the office's existing profile to a separate disk of a few megabytes.
func smallDisk(t *testing.T, o *office) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Fatal("only root can make a small disk; run this test as root")
	}
	all := map[string][]byte{}
	err := filepath.Walk(o.profile, func(p string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		all[p], err = os.ReadFile(p)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	must.Do(t, syscall.Mount("tmpfs", o.profile, "tmpfs", 0, "size=3m,mode=0700"))
	t.Cleanup(func() { _ = syscall.Unmount(o.profile, syscall.MNT_DETACH) })
	for p, b := range all {
		must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(p), 0o700), os.WriteFile(p, b, 0o600)))
	}
}

// TestHistoryInTrouble checks that with a full disk, cards appear anyway, the
// tray says what is wrong, and calls are stored again once there is room.
func TestHistoryInTrouble(t *testing.T) {
	t.Parallel()
	o := prepare(t, "[card]\nafter_call = \"0s\"\n")
	smallDisk(t, o)
	i := onBus(t, o)
	i.start()
	p := dial(o)
	n := 0
	ring := func(what string) {
		t.Helper()
		n++
		c := simulate.Call{ID: fmt.Sprint(n), Number: fmt.Sprintf("06987700%02d", n)}
		must.Do(t, p.Ring(t.Context(), c))
		o.Until("a card: "+what, func() bool { return !o.empty() })
		must.Do(t, p.End(t.Context(), c, "missed"))
		o.Until("no card: "+what, o.empty)
	}
	ring("all is well")
	o.Until("a call is kept", func() bool { return len(callsOf(t, o)) == 1 })
	filler := filepath.Join(o.profile, "filler")
	f := must.Get(os.Create(filler))(t)
	for _, size := range []int{64 << 10, 512} { // to the last page
		for {
			if _, err := f.Write(make([]byte, size)); err != nil {
				if !errors.Is(err, syscall.ENOSPC) {
					t.Fatal(err)
				}
				break
			}
		}
	}
	_ = f.Close()
	for range 12 { // SQLite first reuses the log written so far
		ring("a full disk")
	}
	says := func(full bool) {
		t.Helper()
		i.Until(fmt.Sprint("the tray says that the disk is full: ", full), func() bool {
			all := i.titles()
			return len(all) > 0 && strings.HasSuffix(all[0], "De schijf is vol: nieuwe oproepen worden nu niet bewaard.") == full
		}, func() []any { return []any{i.titles()} })
	}
	says(true)
	must.Do(t, os.Remove(filler))
	before := len(callsOf(t, o))
	ring("room again")
	o.Until("it is kept", func() bool { return len(callsOf(t, o)) == before+1 }, func() []any { return []any{len(callsOf(t, o))} })
	says(false)
}
