package hubtrial

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"wiebelt/internal/config/profile"
	"wiebelt/internal/config/secret"
	"wiebelt/internal/config/settings"
	"wiebelt/internal/core/private"
	"wiebelt/internal/softphone/registry"
	"wiebelt/internal/text"
)

// SaveRequest is what to save.
type SaveRequest struct {
	private.Data
	Changes        map[string]any    // as for settings.Set
	Secret         string            // of the hub's client; "" for none
	SecretVerified bool              // the secret has just worked and replaces the old one
	LinkSecrets    map[string]string // link secrets by link name; names that will not exist are ignored
	// Open opens the store of a kind; nil means secret.Open.
	Open func(kind string) (secret.Store, error)
}

// StoreError reports that a secret could not be stored; nothing has changed.
type StoreError struct{ Err error }

func (e *StoreError) Error() string { return e.Err.Error() }
func (e *StoreError) Unwrap() error { return e.Err }

// In returns the text for users.
func (e *StoreError) In(l text.Language) string { return l.Error(secret.Explain(e.Err)) }

// LockedError reports that the policy sets keys that were to change; nothing has changed.
type LockedError struct {
	Keys []string
	By   string // where the policy is
}

func (e *LockedError) Error() string { return e.In(text.English) }

// In returns the text for users.
func (e *LockedError) In(l text.Language) string {
	return l.T(text.AdminLocked, strings.Join(e.Keys, ", "), e.By)
}

// ErrNoAddress reports a missing address or client: a secret belongs to both.
var ErrNoAddress = errors.New("a secret without an address and a client")

// Save saves all of w, or nothing. Secrets come first, bound to the settings' new values,
// since an address without its secret would be a broken set-up; they are restored if the
// settings cannot be written. waiting means that the hub's new secret is kept beside the
// old one until it has worked. Errors are *LockedError, *StoreError, ErrNoAddress, those of
// Open and of settings.Set. It can block as long as a store does.
func Save(ctx context.Context, d profile.Dirs, before *settings.Settings, w SaveRequest) (waiting bool, err error) {
	var locked []string
	for key := range w.Changes {
		if before.Locked(key) {
			locked = append(locked, key)
		}
	}
	if len(locked) > 0 {
		slices.Sort(locked)
		return false, &LockedError{locked, before.LockedBy(locked[0])}
	}
	if len(w.Changes) > 0 {
		if err := settings.Check(d, w.Changes); err != nil {
			return false, err
		}
		if err := d.Make(); err != nil {
			return false, err
		}
	}
	next, err := before.With(w.Changes)
	if err != nil {
		return false, err
	}
	k := saver{d: d, next: next}
	if w.Secret != "" || len(w.LinkSecrets) > 0 {
		if k.store, err = w.open(d, next.Hub.SecretStore); err != nil {
			return false, err
		}
		waiting, err = k.save(ctx, w)
	}
	if err == nil && len(w.Changes) > 0 {
		err = settings.Set(d, w.Changes)
	}
	if err != nil {
		return false, errors.Join(err, k.restore(ctx))
	}
	for _, was := range k.before {
		_ = secret.RecordStoredDate(d, was.ref, time.Now()) // only shown in the settings window
	}
	return waiting, nil
}

func (w SaveRequest) open(d profile.Dirs, kind string) (secret.Store, error) {
	if w.Open != nil {
		return w.Open(kind)
	}
	if err := d.Make(); err != nil {
		return nil, err
	}
	return secret.Open(kind, d), nil
}

// saver stores secrets and remembers the previous ones.
type saver struct {
	d      profile.Dirs
	next   *settings.Settings
	store  secret.Store
	before []storedSecret
}

// storedSecret is what a store had: the working secret and a pending one; "" for none. One
// that could not be read is neither restored nor deleted.
type storedSecret struct {
	ref        secret.Ref
	old, next  string
	unreadable bool
}

func (k *saver) save(ctx context.Context, w SaveRequest) (waiting bool, err error) {
	if w.Secret != "" {
		ref, err := secret.HubRef(k.next.Hub.BaseURL, k.next.Hub.ClientID)
		if err != nil {
			return false, ErrNoAddress
		}
		switch was := k.remember(ctx, ref); {
		case w.SecretVerified && was.old == w.Secret:
			if was.next != "" { // drop it, but readers may lack the right to write
				_ = k.store.Set(ctx, ref, w.Secret)
			}
		case w.SecretVerified:
			err = k.store.Set(ctx, ref, w.Secret)
		default:
			waiting, err = secret.Renew(ctx, k.store, ref, w.Secret, func(ctx context.Context, old string) bool { return SecretWorks(ctx, k.d, k.next.Hub, old) })
		}
		if err != nil {
			return false, &StoreError{err}
		}
	}
	for _, p := range k.next.Softphones {
		value := w.LinkSecrets[p.Name]
		if value == "" {
			continue
		}
		ref, err := secret.SoftphoneRef(p.Kind, p.Name, p.Address)
		if err != nil {
			return false, ErrNoAddress
		}
		k.remember(ctx, ref)
		if err := k.store.Set(ctx, ref, value); err != nil {
			return false, &StoreError{err}
		}
	}
	return waiting, nil
}

// remember records what a store has for a secret that is about to change.
func (k *saver) remember(ctx context.Context, ref secret.Ref) storedSecret {
	old, next, err := secret.Pair(ctx, k.store, ref)
	if err != nil {
		old, next = "", ""
	}
	was := storedSecret{ref, old, next, err != nil && !errors.Is(err, secret.ErrNotSet)}
	k.before = append(k.before, was)
	return was
}

// restore restores the previous secrets, even if the caller's context has ended.
func (k *saver) restore(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	for _, was := range slices.Backward(k.before) {
		now, _ := k.store.Get(ctx, was.ref)
		switch {
		case was.unreadable, now == was.old && was.next == "":
			continue
		case was.old == "":
			err = errors.Join(err, k.store.Delete(ctx, was.ref))
		default:
			err = errors.Join(err, k.store.Set(ctx, was.ref, was.old))
		}
		if was.next != "" {
			_, e := secret.Renew(ctx, k.store, was.ref, was.next, nil)
			err = errors.Join(err, e)
		}
	}
	return err
}

// SecretStates returns the states of the secrets that the settings need: the hub's, and
// those of links by name. It waits for the store as long as ctx allows.
func SecretStates(ctx context.Context, d profile.Dirs, s *settings.Settings) (hub secret.State, links map[string]secret.State) {
	store := secret.Open(s.Hub.SecretStore, d)
	look := func(ref secret.Ref, err error) secret.State {
		if err != nil {
			return secret.NotSet
		}
		return secret.Inspect(ctx, store, ref)
	}
	hub, links = look(secret.HubRef(s.Hub.BaseURL, s.Hub.ClientID)), map[string]secret.State{}
	for _, p := range s.Softphones {
		if registry.Of(p.Kind).Requires(registry.NeedsSecret) {
			links[p.Name] = look(secret.SoftphoneRef(p.Kind, p.Name, p.Address))
		}
	}
	return hub, links
}
