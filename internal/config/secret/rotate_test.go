package secret

import (
	"context"
	"errors"
	"testing"
	"time"

	"wiebelt/internal/testutil/must"
)

// rotation renews a secret as an administrator does, with a hub that accepts the old one,
// both, or the new one.
func rotation(t *testing.T, s Store) {
	t.Helper()
	ctx := t.Context()
	ref := hub(t, "https://hub.example", "rotated")
	at := func(want string, state State) {
		t.Helper()
		got, err := s.Get(ctx, ref)
		if err != nil || got != want || Inspect(ctx, s, ref) != state {
			t.Fatalf("%q %v, %v; want %q, %v", got, err, Inspect(ctx, s, ref), want, state)
		}
	}
	renew := func(value string, wait, works bool) {
		t.Helper()
		waiting, err := Renew(ctx, s, ref, value, func(_ context.Context, _ string) bool { return works })
		if err != nil || waiting != wait {
			t.Fatalf("renewed: waiting %v, %v", waiting, err)
		}
	}
	answer := func(value string, accepted, again bool) {
		t.Helper()
		if NoteAnswer(ctx, s, ref, value, accepted) != again {
			t.Errorf("%s, accepted %v: another one is tried: %v", value, accepted, !again)
		}
	}
	// kept checks both secrets, "" for none.
	kept := func(old, next string) {
		t.Helper()
		if a, b, err := Pair(ctx, s, ref); a != old || b != next || err != nil {
			t.Errorf("%q and %q are kept, %v; want %q and %q", a, b, err, old, next)
		}
	}
	renew("first", false, false)
	at("first", IsSet)
	answer("first", false, false) // there is no other secret to go on with
	renew("first", false, false)  // the same
	at("first", IsSet)

	// The hub does not know the new one yet.
	renew("second", true, false)
	at("second", IsWaiting)
	if v, err := s.Get(ctx, hub(t, "https://other.example", "rotated")); v != "" || !errors.Is(err, ErrNotSet) {
		t.Errorf("another address got %q, %v", v, err)
	}
	answer("second", false, true)
	at("first", IsWaiting)
	answer("first", true, false)
	kept("first", "second")
	// The old one expires: the new one is tried at once.
	answer("first", false, true)
	at("second", IsWaiting)
	answer("second", false, true)
	answer("something else", false, false)
	at("first", IsWaiting)
	// Later the hub accepts it.
	now := time.Now()
	s.(*rotatingStore).now = func() time.Time { return now.Add(retryNext) }
	at("second", IsWaiting)
	answer("second", true, false)
	at("second", IsSet)
	kept("second", "")
	// From then on it is the old one, whatever the hub answers.
	answer("second", false, false)
	if len(s.(*rotatingStore).lastReturned) > 0 {
		t.Error("the store is written at every success")
	}
	renew("third", true, false)
	answer("second", true, false)
	at("third", IsWaiting)

	// A third one before the second was used: the waiting one is tried first.
	renew("third", true, true)
	renew("fourth", true, true)
	at("fourth", IsWaiting)
	kept("third", "fourth")
	renew("fifth", true, false)
	kept("third", "fifth")
	// The fourth works after all: the fifth goes on waiting.
	answer("fourth", true, false)
	at("fifth", IsWaiting)
	kept("fourth", "fifth")
	// Set is final, and a deletion removes everything.
	must.Do(t, s.Set(ctx, ref, "sixth"))
	answer("fifth", true, false)
	at("sixth", IsSet)
	renew("seventh", true, false)
	at("seventh", IsWaiting)
	// Without the old one, even a refused new one is used.
	must.Do(t, s.(*rotatingStore).Store.Delete(ctx, ref))
	answer("seventh", false, false)
	at("seventh", IsWaiting)
	kept("", "seventh")
	must.Do(t, s.Delete(ctx, ref))
	if _, err := s.Get(ctx, ref); !errors.Is(err, ErrNotSet) || Inspect(ctx, s, ref) != NotSet {
		t.Errorf("deleted: %v", err)
	}
}

func TestRotation(t *testing.T) { rotation(t, Open(KindFile, dirs(t))) }

// TestRotationOfOthers: secrets other than the hub's are simply set.
func TestRotationOfOthers(t *testing.T) {
	s := Open(KindFile, dirs(t))
	ref := must.Get(SoftphoneRef("ari", "ari", "http://127.0.0.1:8088"))(t)
	for _, v := range []string{"a", "b"} {
		if waiting, err := Renew(t.Context(), s, ref, v, nil); waiting || err != nil {
			t.Fatal(waiting, err)
		}
		if got, _ := s.Get(t.Context(), ref); got != v {
			t.Errorf("%q", got)
		}
	}
}
