package chosencontacts

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"wiebelt/internal/config/secret"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// vault is an in-memory secret store that may be locked or slow.
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

// fixture is a profile with a Store that can be stopped and restarted.
type fixture struct {
	*Store
	t            *testing.T
	path         string
	vault        *vault
	keep, paused bool
	log          bytes.Buffer
	end          func()
}

func newFixture(t *testing.T) *fixture {
	r := &fixture{t: t, path: filepath.Join(t.TempDir(), "state", FileName), vault: newVault(), keep: true, end: func() {}}
	t.Cleanup(func() { r.end() })
	return r
}

func (r *fixture) start() {
	p := Params{Path: r.path, Keep: r.keep, Paused: r.paused, Log: slog.New(slog.NewTextHandler(&r.log, nil))}
	if r.vault != nil {
		p.Secrets = func() secret.Store { return r.vault }
	}
	r.Store = New(p)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { r.Run(ctx); close(done) }()
	r.end = func() { cancel(); <-done }
}

func (r *fixture) again() { r.end(); r.start() }

// rest lets everything due within a minute finish.
func (r *fixture) rest() { time.Sleep(time.Minute); synctest.Wait() }

func (r *fixture) is(number, want string) {
	r.t.Helper()
	if got, ok := r.LastChoice(number); got != want || ok != (want != "") {
		r.t.Fatalf("remembered %q, %v; want %q", got, ok, want)
	}
}

func (r *fixture) file() string {
	b, err := os.ReadFile(r.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.t.Fatal(err)
	}
	return string(b)
}

// in runs a test in a synctest bubble.
func in(t *testing.T, f func(*testing.T, *fixture)) {
	synctest.Test(t, func(t *testing.T) {
		r := newFixture(t)
		f(t, r)
		r.end()
		r.end = func() {}
	})
}
