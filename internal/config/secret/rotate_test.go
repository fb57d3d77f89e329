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
	renew := func(value string, wait bool, works bool) {
		t.Helper()
		waiting, err := Renew(ctx, s, ref, value, func(_ context.Context, _ string) bool { return works })
		if err != nil || waiting != wait {
			t.Fatalf("renewed: waiting %v, %v", waiting, err)
		}
	}
	renew("first", false, false)
	at("first", IsSet)
	if NoteAnswer(ctx, s, ref, "first", false) {
		t.Error("there is no other secret to go on with")
	}
	renew("first", false, false) // the same
	at("first", IsSet)

	// The hub does not know the new one yet.
	renew("second", true, false)
	at("second", IsWaiting)
	if v, err := s.Get(ctx, hub(t, "https://other.example", "rotated")); v != "" || !errors.Is(err, ErrNotSet) {
		t.Errorf("another address got %q, %v", v, err)
	}
	if !NoteAnswer(ctx, s, ref, "second", false) {
		t.Error("the old one is not tried")
	}
	at("first", IsWaiting)
	if NoteAnswer(ctx, s, ref, "first", true) {
		t.Error("again after a success")
	}
	if v, err := s.(*rotatingStore).Store.Get(ctx, ref.next()); v != "second" || err != nil {
		t.Error("the new one is gone before it worked")
	}
	// The old one expires: the new one is tried at once.
	if !NoteAnswer(ctx, s, ref, "first", false) {
		t.Error("the new one is not tried although the old one is refused")
	}
	at("second", IsWaiting)
	if !NoteAnswer(ctx, s, ref, "second", false) {
		t.Error("the old one is not tried")
	}
	if NoteAnswer(ctx, s, ref, "something else", false) {
		t.Error("again for a secret that is not there")
	}
	at("first", IsWaiting)
	// Later the hub accepts it.
	now := time.Now()
	s.(*rotatingStore).now = func() time.Time { return now.Add(retryNext) }
	at("second", IsWaiting)
	if NoteAnswer(ctx, s, ref, "second", true) {
		t.Error("again after a success")
	}
	at("second", IsSet)
	if v, err := s.(*rotatingStore).Store.Get(ctx, ref); v != "second" || err != nil {
		t.Error("the new one did not take the old one's place")
	}
	if _, err := s.(*rotatingStore).Store.Get(ctx, ref.next()); !errors.Is(err, ErrNotSet) {
		t.Errorf("still waiting: %v", err)
	}
	// From then on it is the old one, whatever the hub answers.
	if NoteAnswer(ctx, s, ref, "second", false) {
		t.Error("the only secret is sent twice")
	}
	if len(s.(*rotatingStore).lastReturned) > 0 {
		t.Error("the store is written at every success")
	}
	renew("third", true, false)
	if NoteAnswer(ctx, s, ref, "second", true) {
		t.Error("again after a success")
	}
	at("third", IsWaiting)

	// A third one before the second was used: the waiting one is tried first.
	renew("third", true, true)
	renew("fourth", true, true)
	at("fourth", IsWaiting)
	if v, _ := s.(*rotatingStore).Store.Get(ctx, ref); v != "third" {
		t.Errorf("%q is kept", v)
	}
	renew("fifth", true, false)
	if v, _ := s.(*rotatingStore).Store.Get(ctx, ref); v != "third" {
		t.Errorf("%q is kept", v)
	}
	// The fourth works after all: the fifth goes on waiting.
	if NoteAnswer(ctx, s, ref, "fourth", true) {
		t.Error("again after a success")
	}
	at("fifth", IsWaiting)
	if v, _ := s.(*rotatingStore).Store.Get(ctx, ref); v != "fourth" {
		t.Errorf("%q is kept", v)
	}
	// Set is final, and a deletion removes everything.
	must.Do(t, s.Set(ctx, ref, "sixth"))
	if NoteAnswer(ctx, s, ref, "fifth", true) {
		t.Error("again after a success")
	}
	at("sixth", IsSet)
	renew("seventh", true, false)
	at("seventh", IsWaiting)
	// Without the old one, even a refused new one is used.
	must.Do(t, s.(*rotatingStore).Store.Delete(ctx, ref))
	if NoteAnswer(ctx, s, ref, "seventh", false) {
		t.Error("there is no other secret to go on with")
	}
	at("seventh", IsWaiting)
	if old, next, err := Pair(ctx, s, ref); old != "" || next != "seventh" || err != nil {
		t.Errorf("%q, %q, %v", old, next, err)
	}
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
