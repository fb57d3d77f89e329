package trial

import (
	"context"
	"errors"
	"io"
	"os"
	"reflect"
	"strings"
	"time"

	"wiebelt/internal/profile"
	"wiebelt/internal/secret"
	"wiebelt/internal/settings"
	"wiebelt/internal/settings/setup"
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

// AfterSetup is the hub as it would be with a set-up file's changes, and the keys
// of it that the policy forbids to change. What the policy sets is taken out of
// changes.
func AfterSetup(before *settings.Settings, office setup.Office, changes map[string]any) (h settings.Hub, refused []string) {
	h = before.Hub
	if before.Managed("hub") {
		for _, key := range setup.Keys() {
			if !strings.HasPrefix(key, "hub.") {
				continue
			}
			delete(changes, key)
			if !reflect.DeepEqual(before.Get(key), office.Settings.Get(key)) {
				refused = append(refused, key)
			}
		}
	} else {
		o := office.Settings.Hub
		o.SecretStore, o.Proxy, o.ExtraCAFile, o.LookupTimeout, o.OpenAtStart = h.SecretStore, h.Proxy, h.ExtraCAFile, h.LookupTimeout, h.OpenAtStart
		h = o
	}
	for key := range changes {
		if before.Source(key) == settings.Policy {
			delete(changes, key)
		}
	}
	return h, refused
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
