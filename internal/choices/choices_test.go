package choices

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"wiebelt/internal/secret"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// vault is a secret store in memory, which may be locked or slow.
type vault struct {
	mu    sync.Mutex
	keys  map[secret.Ref]string
	err   error
	asked int
	block chan struct{}
}

func newVault() *vault { return &vault{keys: map[secret.Ref]string{}} }

func (v *vault) be(err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.err = err
}

func (v *vault) Get(ctx context.Context, r secret.Ref) (string, error) {
	if v.block != nil {
		select {
		case <-v.block:
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.asked++
	if v.err != nil {
		return "", v.err
	}
	if k, ok := v.keys[r]; ok {
		return k, nil
	}
	return "", secret.ErrNotSet
}

func (v *vault) Set(_ context.Context, r secret.Ref, k string) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.err == nil {
		v.keys[r] = k
	}
	return v.err
}

func (v *vault) Delete(_ context.Context, r secret.Ref) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.keys, r)
	return v.err
}

func (v *vault) Clear(context.Context) error { panic("not asked for") }

func (v *vault) len() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.keys)
}

const (
	anna = "+31612345678"
	piet = "+31201234567"
)

// rig is a profile with a Store that can be ended and started again.
type rig struct {
	*Store
	t     *testing.T
	path  string
	vault *vault
	keep  bool
	log   bytes.Buffer
	end   func()
}

func newRig(t *testing.T) *rig {
	r := &rig{t: t, path: filepath.Join(t.TempDir(), "state", FileName), vault: newVault(), keep: true, end: func() {}}
	t.Cleanup(func() { r.end() })
	return r
}

func (r *rig) start() {
	p := Params{Path: r.path, Keep: r.keep, Now: time.Now, Log: slog.New(slog.NewTextHandler(&r.log, nil))}
	if r.vault != nil {
		p.Secrets = r.vault
	}
	r.Store = New(p)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { r.Run(ctx); close(done) }()
	r.end = func() { cancel(); <-done }
}

func (r *rig) again() { r.end(); r.start() }

// rest lets everything that is due within a minute be done.
func (r *rig) rest() { time.Sleep(time.Minute); synctest.Wait() }

func (r *rig) is(number, want string) {
	r.t.Helper()
	if got, ok := r.Earlier(number); got != want || ok != (want != "") {
		r.t.Fatalf("remembered %q, %v; want %q", got, ok, want)
	}
}

func (r *rig) file() string {
	b, err := os.ReadFile(r.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.t.Fatal(err)
	}
	return string(b)
}

// in runs a test in a bubble whose time passes at once.
func in(t *testing.T, f func(*testing.T, *rig)) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		f(t, r)
		r.end()
		r.end = func() {}
	})
}

func TestRemembersAcrossARestart(t *testing.T) {
	in(t, func(t *testing.T, r *rig) {
		r.start()
		r.is(anna, "")
		r.Chose(anna, "c-1")
		r.Chose(piet, "c-2")
		r.Chose(piet, "c-3")
		r.is(anna, "c-1")
		r.rest()
		r.is(anna, "c-1")
		r.again()
		r.rest()
		r.is(anna, "c-1")
		r.is(piet, "c-3")
		r.NotThis(piet, "c-2") // that is not the one
		r.is(piet, "c-3")
		r.NotThis(piet, "c-3")
		r.is(piet, "")
		r.again()
		r.rest()
		r.is(anna, "c-1")
		r.is(piet, "")
	})
}

// TestFileGivesNothingAway: no number and no key in it, and only we can read it.
func TestFileGivesNothingAway(t *testing.T) {
	in(t, func(t *testing.T, r *rig) {
		r.start()
		r.Chose(anna, "c-1")
		r.rest()
		text := r.file()
		if !strings.Contains(text, `"contact":"c-1"`) || strings.Contains(text, "612345678") || strings.Contains(text, r.vault.keys[secret.Key(secretName)]) {
			t.Errorf("the file: %s", text)
		}
		if info, err := os.Stat(r.path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", info.Mode(), err)
		}
		// The same number under another key is another hash.
		first := text
		if err := r.ForgetAll(t.Context()); err != nil {
			t.Fatal(err)
		}
		r.Chose(anna, "c-1")
		r.rest()
		hash := func(s string) string {
			var c contents
			if err := json.Unmarshal([]byte(s), &c); err != nil || len(c.Choices) != 1 {
				t.Fatalf("%v: %s", err, s)
			}
			return c.Choices[0].Number
		}
		if hash(first) == hash(r.file()) {
			t.Error("the hash does not depend on the key")
		}
	})
}

func TestNinetyDaysSinceTheLastUse(t *testing.T) {
	in(t, func(t *testing.T, r *rig) {
		r.start()
		r.Chose(anna, "c-1")
		r.Chose(piet, "c-2")
		time.Sleep(60 * 24 * time.Hour)
		r.Chose(anna, "c-1")
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
	in(t, func(t *testing.T, r *rig) {
		r.start()
		r.Chose("first", "c")
		for i := range maxChoices {
			time.Sleep(time.Millisecond)
			r.Chose(fmt.Sprint(i), "c")
		}
		r.rest()
		r.is("first", "")
		r.is("0", "c")
		r.again()
		r.rest()
		r.is("first", "")
		r.is(fmt.Sprint(maxChoices-1), "c")
		for _, bad := range [][2]string{{"", "c"}, {"n", ""}, {"n", strings.Repeat("x", maxContact+1)}, {strings.Repeat("1", maxNumber+1), "c"}, {"n", "\xff"}} {
			r.Chose(bad[0], bad[1])
			r.is(bad[0], "")
		}
		var c contents
		if err := json.Unmarshal([]byte(r.file()), &c); err != nil || len(c.Choices) != maxChoices {
			t.Errorf("%d choices in the file (%v)", len(c.Choices), err)
		}
	})
}

func TestSwitchedOff(t *testing.T) {
	in(t, func(t *testing.T, r *rig) {
		r.start()
		r.Chose(anna, "c-1")
		r.rest()
		r.Configure(false)
		r.is(anna, "")
		r.rest()
		if r.file() != "" || r.vault.len() != 0 {
			t.Errorf("left: %q, %d keys", r.file(), r.vault.len())
		}
		r.Chose(anna, "c-1")
		r.is(anna, "")
		r.Configure(true)
		r.is(anna, "")
		r.Chose(anna, "c-2")
		r.rest()
		r.end()
		r.keep = false // switched off while the program did not run
		r.start()
		r.rest()
		r.is(anna, "")
		if r.file() != "" || r.vault.len() != 0 {
			t.Errorf("left: %q, %d keys", r.file(), r.vault.len())
		}
	})
}

func TestWithoutAStoreInMemoryOnly(t *testing.T) {
	for name, refuse := range map[string]func(*rig){
		"none at all":  func(r *rig) { r.vault = nil },
		"not here":     func(r *rig) { r.vault.be(secret.ErrNoStore) },
		"stays locked": func(r *rig) { r.vault.be(secret.ErrLocked) },
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, r *rig) {
				refuse(r)
				r.start()
				r.Chose(anna, "c-1")
				r.rest()
				r.is(anna, "c-1")
				r.NotThis(anna, "c-1")
				r.is(anna, "")
				r.Chose(anna, "c-2")
				if n, err := r.Forget(t.Context(), anna); r.vault == nil && (n != 1 || err != nil) {
					t.Errorf("forgot %d, %v", n, err)
				}
				r.Chose(anna, "c-3")
				r.again()
				r.rest()
				r.is(anna, "")
				if _, err := os.Stat(filepath.Dir(r.path)); !errors.Is(err, fs.ErrNotExist) {
					t.Error("something was written")
				}
			})
		})
	}
}

// TestUnlockedLater: what was chosen while the store was locked is kept, and what
// the file has from before is known again.
func TestUnlockedLater(t *testing.T) {
	in(t, func(t *testing.T, r *rig) {
		r.start()
		r.Chose(anna, "c-1")
		r.Chose(piet, "c-2")
		r.Chose("+31612300000", "c-3")
		r.rest()
		r.end()
		r.vault.be(secret.ErrLocked)
		r.start()
		r.rest()
		r.is(anna, "") // not known yet
		r.Chose(anna, "c-9")
		r.NotThis(piet, "c-2")
		r.is(anna, "c-9")
		if n, err := r.Forget(t.Context(), anna); !errors.Is(err, secret.ErrLocked) || n != 0 {
			t.Errorf("forgot %d, %v, without the key", n, err)
		}
		before := r.vault.asked
		r.rest()
		if r.vault.asked > before+1 {
			t.Errorf("a locked store was asked %d times in a minute", r.vault.asked-before)
		}
		r.vault.be(nil)
		time.Sleep(keyAgain)
		r.rest()
		r.is(anna, "c-9")
		r.is(piet, "")
		r.is("+31612300000", "c-3")
		r.again()
		r.rest()
		r.is(anna, "c-9")
		r.is(piet, "")
		r.is("+31612300000", "c-3")
	})
}

func TestKeyIsGone(t *testing.T) {
	in(t, func(t *testing.T, r *rig) {
		r.start()
		r.Chose(anna, "c-1")
		r.rest()
		r.end()
		clear(r.vault.keys)
		r.start()
		r.rest()
		r.is(anna, "")
		if strings.Contains(r.file(), "c-1") {
			t.Error("what nobody can read any more is still there")
		}
		r.Chose(anna, "c-2")
		r.again()
		r.rest()
		r.is(anna, "c-2")
	})
}

func TestForget(t *testing.T) {
	in(t, func(t *testing.T, r *rig) {
		r.start()
		r.Chose(anna, "c-1")
		time.Sleep(48 * time.Hour)
		r.Chose(piet, "c-2")
		r.Chose("+31612300000", "c-3")
		if n, err := r.Forget(t.Context(), piet); n != 1 || err != nil {
			t.Fatal(n, err)
		}
		if n, err := r.Forget(t.Context(), piet); n != 0 || err != nil {
			t.Fatal(n, err)
		}
		r.is(piet, "")
		if strings.Contains(r.file(), "c-2") {
			t.Error("still in the file when Forget returned")
		}
		if n, err := r.ForgetOlder(t.Context(), time.Now().Add(-24*time.Hour)); n != 1 || err != nil {
			t.Fatal(n, err)
		}
		r.is(anna, "")
		r.is("+31612300000", "c-3")
		if err := r.ForgetAll(t.Context()); err != nil {
			t.Fatal(err)
		}
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

// TestDamagedFileIsSetAside and the choices begin anew.
func TestDamagedFileIsSetAside(t *testing.T) {
	good := `{"version":1,"key":"AAAAAAAAAAA","choices":[{"number":"` + strings.Repeat("A", 43) + `","contact":"c","used":1}]}`
	for name, text := range map[string]string{
		"empty":        "",
		"cut off":      good[:len(good)/2],
		"not ours":     `[1,2]`,
		"no key":       strings.Replace(good, "AAAAAAAAAAA", "", 1),
		"short hash":   strings.Replace(good, "AAAA\",\"contact", "\",\"contact", 1),
		"no contact":   strings.Replace(good, `"c"`, `""`, 1),
		"long contact": strings.Replace(good, `"c"`, `"`+strings.Repeat("c", 300)+`"`, 1),
		"version 0":    strings.Replace(good, "1", "0", 1),
		"huge":         `{"version":1,"key":"k","choices":[` + strings.Repeat(" ", maxFile) + `]}`,
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, r *rig) {
				if err := os.MkdirAll(filepath.Dir(r.path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(r.path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				r.start()
				r.rest()
				if b, err := os.ReadFile(aside(r.path)); err != nil || string(b) != text {
					t.Fatalf("not put aside: %v", err)
				}
				r.Chose(anna, "c-1")
				r.again()
				r.rest()
				r.is(anna, "c-1")
				if err := os.Chtimes(aside(r.path), time.Now(), time.Now()); err != nil { // the bubble's time
					t.Fatal(err)
				}
				time.Sleep(KeepFor + 2*time.Hour)
				synctest.Wait()
				if _, err := os.Stat(aside(r.path)); !errors.Is(err, fs.ErrNotExist) {
					t.Error("what was put aside is there after its days")
				}
			})
		})
	}
}

func TestNewerFileIsLeftAlone(t *testing.T) {
	in(t, func(t *testing.T, r *rig) {
		text := `{"version":2,"other":true}`
		if err := os.MkdirAll(filepath.Dir(r.path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(r.path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		r.start()
		r.Chose(anna, "c-1")
		r.is(anna, "c-1")
		r.rest()
		r.end()
		if r.file() != text {
			t.Errorf("the file: %s", r.file())
		}
	})
}

// TestNobodyWaits: while the secret store makes Run wait, the engine's calls
// return.
func TestNobodyWaits(t *testing.T) {
	in(t, func(t *testing.T, r *rig) {
		r.vault.block = make(chan struct{})
		r.start()
		r.Chose(anna, "c-1")
		synctest.Wait() // Run asks for the key and gets no answer
		for range 100 {
			r.Chose(piet, "c-2")
			r.is(anna, "c-1")
			r.NotThis(piet, "c-2")
			r.is(piet, "")
		}
		close(r.vault.block)
		r.rest()
		r.is(anna, "c-1")
	})
}

func TestTogether(t *testing.T) {
	in(t, func(t *testing.T, r *rig) {
		r.start()
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				for j := range 50 {
					n := fmt.Sprint(j % 7)
					r.Chose(n, "c")
					r.Earlier(n)
					r.NotThis(n, "d")
					r.Configure(i != 3 || j != 20)
					if i == 5 && j%10 == 0 {
						_, _ = r.Forget(t.Context(), n)
						_, _ = r.ForgetOlder(t.Context(), time.Now().Add(-time.Hour))
					}
				}
			})
		}
		all.Wait()
		r.Configure(true)
		r.Chose(anna, "c-1")
		r.again()
		r.rest()
		r.is(anna, "c-1")
	})
}

// TestAgainstAModel plays anything that can happen to a Store beside a plain map.
func TestAgainstAModel(t *testing.T) {
	type step struct {
		Do   string
		N, C int
		Wait time.Duration
	}
	steps := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) step {
		return step{
			rapid.SampledFrom([]string{"chose", "chose", "chose", "not", "forget", "older", "restart", "lock", "unlock", "all"}).Draw(t, "do"),
			rapid.IntRange(0, 4).Draw(t, "n"), rapid.IntRange(0, 2).Draw(t, "c"),
			time.Duration(rapid.IntRange(0, 1000).Draw(t, "h")) * time.Hour,
		}
	}), 1, 40)
	rapid.Check(t, func(rt *rapid.T) {
		story := steps.Draw(rt, "story")
		var said string
		in(t, func(t *testing.T, r *rig) {
			type made struct {
				contact string
				at      time.Time
				disk    bool // it was or will be written: the store was open since
			}
			model := map[string]made{}
			locked := false
			r.start()
			r.rest()
			for i, s := range story {
				n, c := fmt.Sprint("+3120000000", s.N), fmt.Sprint("c", s.C)
				switch s.Do {
				case "chose":
					r.Chose(n, c)
					model[n] = made{c, time.Now(), false}
				case "not":
					r.NotThis(n, c)
					if model[n].contact == c {
						delete(model, n)
					}
				case "forget":
					if _, err := r.Forget(t.Context(), n); err == nil {
						delete(model, n)
					} else if !locked {
						said = fmt.Sprintf("step %d: %v", i, err)
						return
					}
				case "older":
					limit := time.Now().Add(-s.Wait)
					if _, err := r.ForgetOlder(t.Context(), limit); err != nil {
						said = fmt.Sprintf("step %d: %v", i, err)
						return
					}
					for n, m := range model {
						if m.at.Before(limit) {
							delete(model, n)
						}
					}
				case "all":
					if err := r.ForgetAll(t.Context()); err != nil && !locked {
						said = fmt.Sprintf("step %d: %v", i, err)
						return
					}
					clear(model)
				case "lock":
					locked = true
					r.vault.be(secret.ErrLocked)
				case "unlock", "restart":
					if s.Do == "restart" && !locked {
						r.again()
					}
					locked = false
					r.vault.be(nil)
					time.Sleep(keyAgain)
				}
				r.rest()
				time.Sleep(s.Wait)
				synctest.Wait()
				for n, m := range model {
					want := m.contact
					if time.Since(m.at) >= KeepFor {
						want = ""
					}
					if got, _ := r.Earlier(n); got != want {
						said = fmt.Sprintf("step %d %+v: %s is %q, want %q", i, s, n, got, want)
						return
					}
				}
			}
		})
		if said != "" {
			rt.Fatal(said)
		}
	})
}

func BenchmarkEarlier(b *testing.B) {
	s := New(Params{Path: filepath.Join(b.TempDir(), FileName), Keep: true, Now: time.Now, Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	s.key = make([]byte, 32)
	for i := range maxChoices {
		s.Chose(fmt.Sprint(i), "c")
	}
	for b.Loop() {
		s.Earlier(anna)
	}
}
