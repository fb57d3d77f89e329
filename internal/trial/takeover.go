package trial

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"time"

	"wiebelt/internal/profile"
	"wiebelt/internal/secret"
	"wiebelt/internal/settings"
)

// ReadSetup reads a set-up file, at most a little more than such a file can be.
func ReadSetup(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("the set-up file is not a file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, 2<<20))
}

// ErrOtherHub: the policy decides which hub this computer asks, and the secret is
// for another one. It is sent nowhere and kept nowhere.
var ErrOtherHub = errors.New("the policy sets another hub")

// After is the hub as it would be with changes that come with a secret for the
// address and client in them. What the policy locks is taken out of changes and
// stays; left names what of it was to be otherwise. ErrOtherHub comes back where
// that is the address or the client.
func After(before *settings.Settings, changes map[string]any) (h settings.Hub, left []string, err error) {
	left = before.Unlocked(changes)
	if slices.Contains(left, "hub.base_url") || slices.Contains(left, "hub.client_id") {
		return before.Hub, left, ErrOtherHub
	}
	next, err := before.With(changes)
	if err != nil {
		return before.Hub, left, err
	}
	return next.Hub, left, nil
}

// StoreError is that the secret could not be kept; nothing has changed.
type StoreError struct{ Err error }

func (e *StoreError) Error() string { return e.Err.Error() }
func (e *StoreError) Unwrap() error { return e.Err }

// TakeSetup puts a tested set-up in place: the secret, which has just worked, and
// the settings. If the settings cannot be written, the secret is put back. Errors
// are *StoreError and those of settings.Set.
func TakeSetup(ctx context.Context, dirs profile.Dirs, store secret.Store, h settings.Hub, value string, changes map[string]any) error {
	if err := settings.Check(dirs, changes); err != nil {
		return err
	}
	ref, err := secret.Hub(h.BaseURL, h.ClientID)
	if err != nil {
		return err
	}
	old, err := store.Get(ctx, ref)
	if err != nil {
		old = ""
	}
	if old != value {
		if err := store.Set(ctx, ref, value); err != nil {
			return &StoreError{err}
		}
	}
	if err := dirs.Make(); err != nil {
		return err
	}
	_ = secret.NoteSet(dirs, ref, time.Now()) // for the settings window only
	err = settings.Set(dirs, changes)
	if err == nil || old == value {
		return err
	}
	if old == "" {
		return errors.Join(err, store.Delete(ctx, ref))
	}
	return errors.Join(err, store.Set(ctx, ref, old))
}
