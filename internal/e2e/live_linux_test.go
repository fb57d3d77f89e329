package e2e

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/settings"
)

// TestSettingsAreFollowed: what is set while the program runs holds within 15
// seconds, from the very first credentials on, and nothing is started anew.
func TestSettingsAreFollowed(t *testing.T) {
	t.Parallel()
	o := prepare(t, "")
	path := filepath.Join(o.profile, "settings.toml")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("# nothing yet\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o.start()
	pid := o.at().PID
	ring := func(id string) {
		t.Helper()
		for _, state := range []string{"ringing", "ended"} {
			if out, err := o.wiebelt("ring", "--id", id, "--state", state, "--", "0698760011").CombinedOutput(); err != nil {
				t.Fatalf("ring: %v: %s", err, out)
			}
		}
	}
	// follows waits for what a change must bring, and says how long it took.
	follows := func(what string, done func() bool) {
		t.Helper()
		began := time.Now()
		o.Until(what, done)
		if took := time.Since(began); took > 15*time.Second {
			t.Errorf("%s: after %v", what, took)
		} else {
			t.Logf("%s: after %v", what, took.Round(100*time.Millisecond))
		}
	}
	ring("before")
	o.Until("a call without a lookup", func() bool { return len(callsOf(t, o)) == 1 })
	if c := callsOf(t, o)[0]; c.Name != "" {
		t.Fatal("a name without credentials")
	}

	dirs, err := profile.Find(o.profile)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	n := 0
	follows("credentials", func() bool {
		if calls := callsOf(t, o); calls[0].Name != "" {
			return true
		}
		n++
		ring("after-" + strconv.Itoa(n))
		o.Until("the call is kept", func() bool { return len(callsOf(t, o)) == n+1 })
		return callsOf(t, o)[0].Name != ""
	})

	other := ownPort(t)
	if err := settings.Set(dirs, map[string]any{"listener.port": other, "history.keep": "numbers"}); err != nil {
		t.Fatal(err)
	}
	follows("names leave the history", func() bool {
		for _, c := range callsOf(t, o) {
			if c.Name != "" || c.ContactID != "" {
				return false
			}
		}
		return true
	})
	follows("another port", func() bool {
		b, err := os.ReadFile(o.announced())
		return err == nil && strings.Contains(string(b), strconv.Itoa(other))
	})
	if o.at().PID != pid {
		t.Error("another process")
	}
}
