package secret

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/zalando/go-keyring"

	"wiebelt/internal/config/profile"
)

// callTimeout limits how long a caller waits for the system's store: users get an
// answer within two seconds.
const callTimeout = 1800 * time.Millisecond

// service prefixes the name under which the system's store lists our secrets; the
// profile's mark follows.
const service = "nl.wiebelt.companion"

// osStore calls the system's store, one call at a time.
type osStore struct {
	backend        keyring.Keyring
	checkReachable func() error // returns why the store cannot be called
	service        string
	busy           chan struct{} // holds one element during a call
	wait           time.Duration
}

// VaultName returns the name under which the system's store lists a profile's secrets.
func VaultName(dirs profile.Dirs) string {
	// Profiles do not share secrets: removing one leaves the others alone.
	sum := sha256.Sum256([]byte(dirs.State))
	return service + "/" + hex.EncodeToString(sum[:4])
}

func newOSStore(dirs profile.Dirs) *osStore {
	return &osStore{
		backend:        systemKeyring{},
		checkReachable: checkReachable,
		service:        VaultName(dirs),
		busy:           make(chan struct{}, 1),
		wait:           callTimeout,
	}
}

func (s *osStore) Get(ctx context.Context, ref Ref) (string, error) {
	return s.call(ctx, func() (string, error) { return s.backend.Get(s.service, ref.account()) })
}

func (s *osStore) Set(ctx context.Context, ref Ref, secret string) error {
	_, err := s.call(ctx, func() (string, error) { return "", s.backend.Set(s.service, ref.account(), secret) })
	return err
}

func (s *osStore) Delete(ctx context.Context, ref Ref) error {
	return s.forget(ctx, func() error { return s.backend.Delete(s.service, ref.account()) })
}

func (s *osStore) Clear(ctx context.Context) error {
	return s.forget(ctx, func() error { return s.backend.DeleteAll(s.service) })
}

// forget deletes; a missing entry is no error.
func (s *osStore) forget(ctx context.Context, f func() error) error {
	if _, err := s.call(ctx, func() (string, error) { return "", f() }); !errors.Is(err, ErrNotSet) {
		return err
	}
	return nil
}

// call runs f in a goroutine and waits for it as long as the context and the store's
// timeout allow. A call that takes longer keeps running; until it returns, further ones
// fail with ErrUnanswered, since the store is waiting to be unlocked.
func (s *osStore) call(ctx context.Context, f func() (string, error)) (string, error) {
	late := time.After(s.wait)
	select {
	case s.busy <- struct{}{}:
	case <-ctx.Done():
		return "", ctx.Err()
	case <-late:
		return "", fmt.Errorf("%w: it still waits for an earlier call", ErrUnanswered)
	}
	type result struct {
		secret string
		err    error
	}
	done := make(chan result, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil { // a store that answers nonsense
				done <- result{"", fmt.Errorf("%w: it gave an answer that makes no sense", ErrNoStore)}
			}
			<-s.busy
		}()
		err, v := s.checkReachable(), ""
		if err == nil {
			v, err = f()
		}
		done <- result{v, classify(err)}
	}()
	select {
	case r := <-done:
		return r.secret, r.err
	case <-ctx.Done():
		return "", ctx.Err()
	case <-late:
		return "", fmt.Errorf("%w: no answer within %v", ErrUnanswered, s.wait)
	}
}

// classify maps an error of the system's store to one of this package.
func classify(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, keyring.ErrNotFound):
		return ErrNotSet
	case errors.Is(err, keyring.ErrSetDataTooBig):
		return ErrTooLong
	case isNoSession(err):
		return ErrNoSession
	case isLocked(err):
		return ErrLocked
	}
	return fmt.Errorf("%w: %v", ErrNoStore, err)
}

// systemKeyring is the current platform's store. Calls may block for ever.
type systemKeyring struct{}

func (systemKeyring) Get(service, user string) (string, error) { return keyring.Get(service, user) }
func (systemKeyring) Set(service, user, password string) error {
	return keyring.Set(service, user, password)
}
func (systemKeyring) Delete(service, user string) error { return keyring.Delete(service, user) }
func (systemKeyring) DeleteAll(service string) error    { return keyring.DeleteAll(service) }
