package programfile

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"wiebelt/internal/testutil/must"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestAnotherVersion checks that only a different version that runs counts, that one that
// does not run is retried, and that the switch waits until no call is active.
func TestAnotherVersion(t *testing.T) { synctest.Test(t, testAnotherVersion) }

func testAnotherVersion(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "wiebelt")
	ran, ringing := filepath.Join(dir, "ran"), filepath.Join(dir, "ringing")
	install := func(script string) {
		t.Helper()
		next := filepath.Join(dir, "next")
		must.Do(t, os.WriteFile(next, []byte("#!/bin/sh\necho >> "+ran+"\n"+script+"\n"), 0o700))
		must.Do(t, os.Rename(next, path))
	}
	says := func(version, commit string) string {
		return fmt.Sprintf(`[ "$1" = version ] && printf 'wiebelt %s\ncommit %s\nfor you\n'`, version, commit)
	}
	install(says("1", "a"))
	p := watchFile(path)
	var calls atomic.Int64 // active
	asked := make(chan struct{}, 10)
	over := make(chan bool, 1)
	must.Run(t, func(ctx context.Context) {
		over <- p.WaitForUpdate(ctx, "1", "a", func() bool {
			asked <- struct{}{}
			_, err := os.Stat(ringing)
			return err == nil || calls.Load() > 0
		}, func(error) {})
	})
	runs := func(n int) { // checks how often it was run
		t.Helper()
		must.Soon(t, func() (bool, any) {
			if len(over) > 0 {
				t.Fatal("it is over")
			}
			b, _ := os.ReadFile(ran)
			return len(b) == n, len(b)
		})
	}
	p.TriggerCheck()                                                         // nothing has changed
	install(fmt.Sprintf("[ $(wc -l <%s) != 1 ] && %s", ran, says("1", "a"))) // does not run at first
	p.TriggerCheck()
	runs(2)
	if len(asked) != 2 {
		t.Errorf("asked %d times whether a call is on", len(asked))
	}
	calls.Store(1)
	install(says("2", "b"))
	for range 2 { // asking again proves it went no further
		for range len(asked) {
			<-asked
		}
		p.TriggerCheck()
		select {
		case <-asked:
		case <-over:
			t.Fatal("room is made while a call is on")
		case <-time.After(must.Patience):
			t.Fatal("nobody asks whether a call is on")
		}
	}
	if b, _ := os.ReadFile(ran); len(b) != 2 {
		t.Error("run while a call is on")
	}
	calls.Store(0)
	install(says("2", "b") + " && : >" + ringing) // a call rings during that check
	p.TriggerCheck()
	for range 2 {
		select {
		case <-asked:
		case <-over:
			t.Fatal("room is made while a call is on")
		}
	}
	must.Do(t, os.Remove(ringing))
	install(says("2", "b"))
	p.TriggerCheck()
	if !must.Receive(t, over, "the end of waiting for another version") {
		t.Error("another version, and it is not said")
	}
}

func idle() bool { return false }

// TestUnusableVersion checks that a file that cannot be run is reported once and run at growing
// intervals, however often a check is requested, that the next file is tried at once, and that
// one being copied in place is not run before it is complete.
func TestUnusableVersion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		path, ran := filepath.Join(dir, "wiebelt"), filepath.Join(dir, "ran")
		script := []byte("#!/bin/sh\necho >>" + ran + "\nexit 1\n")
		must.Do(t, os.WriteFile(path, nil, 0o700))
		p := watchFile(path)
		reports := 0
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan bool)
		go func() {
			ended <- p.WaitForUpdate(ctx, "1", "a", idle, func(error) { reports++ })
		}()
		look := func() {
			p.TriggerCheck()
			synctest.Wait()
		}
		check := func(what string, runs, reported int) {
			t.Helper()
			synctest.Wait()
			b, err := os.ReadFile(ran)
			if len(b) != runs || reports != reported || reported > 0 && err != nil {
				t.Errorf("%s: run %d times, reported %d times, want %d and %d; %v", what, len(b), reports, runs, reported, err)
			}
		}
		for range 5 {
			script = append(script, '#')
			must.Do(t, os.WriteFile(path, script, 0o700))
			look()
		}
		check("being copied", 0, 0)
		for range 3 {
			look()
		}
		check("copied", 1, 1)
		time.Sleep(4 * recheckEvery)
		check("later", 3, 1) // after once, and then twice, that interval
		must.Do(t, os.WriteFile(path+"-next", script, 0o700), os.Rename(path+"-next", path))
		for range 3 {
			look()
		}
		check("another one", 4, 2)
		cancel()
		if <-ended {
			t.Error("another version")
		}
	})
}

// TestWaitForUpdateEnds checks that WaitForUpdate ends with ctx, which does not count as another
// version, and neither does a missing file.
func TestWaitForUpdateEnds(t *testing.T) {
	p := watchFile(filepath.Join(t.TempDir(), "none"))
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan bool)
	go func() { over <- p.WaitForUpdate(ctx, "1", "a", idle, func(error) {}) }()
	p.TriggerCheck()
	cancel()
	if <-over {
		t.Error("another version")
	}
}
