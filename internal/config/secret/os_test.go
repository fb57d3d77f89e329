package secret

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zalando/go-keyring"
	"go.uber.org/goleak"

	"wiebelt/internal/testutil/must"
)

// fakeRing is a system store in memory. A call waits for gate if it is set.
type fakeRing struct {
	held sync.Map
	err  error
	gate chan struct{}
	mad  bool
}

func (r *fakeRing) enter() error {
	if r.gate != nil {
		<-r.gate
	}
	if r.mad {
		panic("nonsense")
	}
	return r.err
}

func (r *fakeRing) Get(service, user string) (string, error) {
	if err := r.enter(); err != nil {
		return "", err
	}
	if v, ok := r.held.Load(service + "\n" + user); ok {
		return v.(string), nil
	}
	return "", keyring.ErrNotFound
}

func (r *fakeRing) Set(service, user, password string) error {
	r.held.Store(service+"\n"+user, password)
	return r.enter()
}

func (r *fakeRing) Delete(service, user string) error {
	_, err := r.Get(service, user)
	r.held.Delete(service + "\n" + user)
	return err
}

func (r *fakeRing) DeleteAll(service string) error {
	r.held.Range(func(k, _ any) bool {
		if strings.HasPrefix(k.(string), service+"\n") {
			r.held.Delete(k)
		}
		return true
	})
	return r.enter()
}

func withRing(t *testing.T, r *fakeRing) *osStore {
	t.Helper()
	s := newOSStore(dirs(t))
	s.backend, s.checkReachable = r, func() error { return nil }
	return s
}

func TestOSStore(t *testing.T) { everyStore(t, newRotatingStore(withRing(t, &fakeRing{}))) }

func TestProfilesDoNotShare(t *testing.T) {
	r := &fakeRing{}
	a, b := withRing(t, r), withRing(t, r)
	ref := hub(t, "https://a.example", "c")
	must.Do(t, a.Set(t.Context(), ref, "x"))
	if _, err := b.Get(t.Context(), ref); !errors.Is(err, ErrNotSet) {
		t.Errorf("another profile: %v", err)
	}
	must.Do(t, b.Clear(t.Context()))
	if _, err := a.Get(t.Context(), ref); err != nil {
		t.Errorf("cleared with another profile: %v", err)
	}
}

// TestStatesAreTold checks that absent, locked, full and not set are four distinct states.
func TestStatesAreTold(t *testing.T) {
	ref := hub(t, "https://a.example", "c")
	for _, c := range []struct {
		ring *fakeRing
		want error
	}{
		{&fakeRing{}, ErrNotSet},
		{&fakeRing{err: keyring.ErrSetDataTooBig}, ErrTooLong},
		{&fakeRing{err: keyring.ErrUnsupportedPlatform}, ErrNoStore},
		{&fakeRing{err: errors.New("no session bus")}, ErrNoStore},
		{&fakeRing{mad: true}, ErrNoStore},
	} {
		s := withRing(t, c.ring)
		_, err := s.Get(t.Context(), ref)
		for _, state := range []error{ErrNotSet, ErrNoStore, ErrLocked, ErrTooLong} {
			if errors.Is(err, state) != (state == c.want) {
				t.Errorf("%v: is %v", err, state)
			}
		}
	}
}

// TestStoreThatWaits: the caller waits no longer than its limit, further calls do not pile
// up behind the first, and all is well once the store is back.
func TestStoreThatWaits(t *testing.T) {
	defer goleak.VerifyNone(t)
	ref := hub(t, "https://a.example", "c")
	ring := &fakeRing{gate: make(chan struct{})}
	s := withRing(t, ring)
	s.wait = 20 * time.Millisecond
	for range 3 {
		if _, err := s.Get(t.Context(), ref); !errors.Is(err, ErrLocked) {
			t.Errorf("%v", err)
		}
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Get(gone, ref); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	close(ring.gate) // somebody unlocked it
	s.wait = time.Minute
	if _, err := s.Get(t.Context(), ref); !errors.Is(err, ErrNotSet) {
		t.Errorf("afterwards: %v", err)
	}
	s.busy <- struct{}{} // the last call has ended
}
