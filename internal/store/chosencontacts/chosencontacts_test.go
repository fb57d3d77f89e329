package chosencontacts

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"wiebelt/internal/testutil/must"
)

func TestNinetyDaysSinceTheLastUse(t *testing.T) {
	in(t, func(t *testing.T, r *fixture) {
		r.start()
		r.SetChoice(anna, "c-1")
		r.SetChoice(piet, "c-2")
		time.Sleep(60 * 24 * time.Hour)
		r.SetChoice(anna, "c-1")
		time.Sleep(31 * 24 * time.Hour)
		r.is(anna, "c-1")
		r.is(piet, "")
		synctest.Wait()
		if strings.Contains(r.file(), "c-2") || !strings.Contains(r.file(), "c-1") {
			t.Errorf("the file: %s", r.file())
		}
		r.end()
		time.Sleep(60 * 24 * time.Hour)
		r.start()
		r.rest()
		r.is(anna, "")
		if r.file() != "" {
			t.Errorf("the file: %s", r.file())
		}
	})
}

func TestBounds(t *testing.T) {
	in(t, func(t *testing.T, r *fixture) {
		r.start()
		r.SetChoice("first", "c")
		for i := range maxChoices {
			time.Sleep(time.Millisecond)
			r.SetChoice(fmt.Sprint(i), "c")
		}
		r.rest()
		r.is("first", "")
		r.is("0", "c")
		r.again()
		r.rest()
		r.is("first", "")
		r.is(fmt.Sprint(maxChoices-1), "c")
		for _, bad := range [][2]string{{"", "c"}, {"n", ""}, {"n", strings.Repeat("x", maxContact+1)}, {strings.Repeat("1", maxNumber+1), "c"}, {"n", "\xff"}} {
			r.SetChoice(bad[0], bad[1])
			r.is(bad[0], "")
		}
		var c contents
		if err := json.Unmarshal([]byte(r.file()), &c); err != nil || len(c.Choices) != maxChoices {
			t.Errorf("%d choices in the file (%v)", len(c.Choices), err)
		}
	})
}

func TestSwitchedOff(t *testing.T) {
	in(t, func(t *testing.T, r *fixture) {
		r.start()
		r.SetChoice(anna, "c-1")
		r.rest()
		r.Configure(false)
		r.is(anna, "")
		r.rest()
		if r.file() != "" || r.vault.len() != 0 {
			t.Errorf("left: %q, %d keys", r.file(), r.vault.len())
		}
		r.SetChoice(anna, "c-1")
		r.is(anna, "")
		r.Configure(true)
		r.is(anna, "")
		r.SetChoice(anna, "c-2")
		r.rest()
		r.end()
		r.keep = false // switched off while the program was not running
		r.start()
		r.rest()
		r.is(anna, "")
		if r.file() != "" || r.vault.len() != 0 {
			t.Errorf("left: %q, %d keys", r.file(), r.vault.len())
		}
	})
}

// TestPaused: as long as it cannot be read whether choices are kept, none is shown or made,
// and those that there are stay, even if the key seems to be gone.
func TestPaused(t *testing.T) {
	in(t, func(t *testing.T, r *fixture) {
		r.start()
		r.SetChoice(anna, "c-1")
		r.SetChoice(piet, "c-2")
		r.rest()
		file := r.file()
		r.Pause()
		r.is(anna, "")
		r.SetChoice(anna, "c-3")
		r.rest()
		r.Configure(true)
		r.is(anna, "c-1")
		r.end()
		vault := r.vault
		r.keep, r.paused, r.vault = false, true, newVault() // the store that the settings do not name
		r.start()
		r.rest()
		r.is(anna, "")
		if err := r.Forget(t.Context(), piet); err == nil {
			t.Error("forgotten, without the key")
		}
		if r.file() != file || r.vault.len() != 0 {
			t.Errorf("the file: %s, %d keys", r.file(), r.vault.len())
		}
		r.end()
		r.keep, r.paused, r.vault = true, false, vault
		r.start()
		r.ForgetChoice(piet, "c-2")
		r.rest()
		r.is(anna, "c-1")
		r.Pause()
		must.Do(t, r.Forget(t.Context(), anna))
		r.Configure(true)
		r.is(anna, "")
		r.is(piet, "")
	})
}

func TestForget(t *testing.T) {
	in(t, func(t *testing.T, r *fixture) {
		r.start()
		r.SetChoice(anna, "c-1")
		time.Sleep(48 * time.Hour)
		r.SetChoice(piet, "c-2")
		r.SetChoice("+31612300000", "c-3")
		must.Do(t, r.Forget(t.Context(), piet))
		must.Do(t, r.Forget(t.Context(), piet))
		r.is(piet, "")
		if strings.Contains(r.file(), "c-2") {
			t.Error("still in the file when Forget returned")
		}
		must.Do(t, r.ForgetOlder(t.Context(), time.Now().Add(-24*time.Hour)))
		r.is(anna, "")
		r.is("+31612300000", "c-3")
		must.Do(t, r.ForgetAll(t.Context()))
		r.is("+31612300000", "")
		if r.file() != "" || r.vault.len() != 0 {
			t.Errorf("left: %q, %d keys", r.file(), r.vault.len())
		}
		r.end()
		if err := r.ForgetAll(t.Context()); !errors.Is(err, ErrStopped) {
			t.Error(err)
		}
	})
}

// TestNobodyWaits checks that the engine's calls return while the secret store blocks Run.
func TestNobodyWaits(t *testing.T) {
	in(t, func(t *testing.T, r *fixture) {
		r.vault.block = make(chan struct{})
		r.start()
		r.SetChoice(anna, "c-1")
		synctest.Wait() // Run asks for the key and gets no answer
		for range 100 {
			r.SetChoice(piet, "c-2")
			r.is(anna, "c-1")
			r.ForgetChoice(piet, "c-2")
			r.is(piet, "")
		}
		close(r.vault.block)
		r.rest()
		r.is(anna, "c-1")
	})
}

func TestTogether(t *testing.T) {
	in(t, func(t *testing.T, r *fixture) {
		r.start()
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				for j := range 50 {
					n := fmt.Sprint(j % 7)
					r.SetChoice(n, "c")
					r.LastChoice(n)
					r.ForgetChoice(n, "d")
					r.Configure(i != 3 || j != 20)
					if i == 5 && j%10 == 0 {
						_ = r.Forget(t.Context(), n)
						_ = r.ForgetOlder(t.Context(), time.Now().Add(-time.Hour))
					}
				}
			})
		}
		all.Wait()
		r.Configure(true)
		r.SetChoice(anna, "c-1")
		r.again()
		r.rest()
		r.is(anna, "c-1")
	})
}

func BenchmarkEarlier(b *testing.B) {
	s := New(Params{Path: filepath.Join(b.TempDir(), FileName), Keep: true, Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	s.key = make([]byte, 32)
	for i := range maxChoices {
		s.SetChoice(fmt.Sprint(i), "c")
	}
	for b.Loop() {
		s.LastChoice(anna)
	}
}
