package chosencontacts

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"wiebelt/internal/config/secret"
)

const (
	saveAfter  = time.Second      // further choices are written with it
	keyRetry   = 10 * time.Minute // before asking the secret store again
	purgeEvery = time.Hour
)

const secretName = "choices"

// KeyRef is where the secret store keeps the key of the remembered choices.
func KeyRef() secret.Ref { return secret.KeyRef(secretName) }

// Run reads the file and writes changes until ctx ends and everything is written.
func (s *Store) Run(ctx context.Context) {
	defer close(s.done)
	s.load()
	s.purge()
	purge := time.Tick(purgeEvery)
	var write, again <-chan time.Time
	attend := func() {
		if again == nil && s.needsKey() {
			if err := s.findKey(ctx); err != nil {
				s.p.Log.Warn("choices are remembered until the program ends only", "why", err)
				again = time.After(keyRetry)
			}
		}
		if keep, _ := s.setting(); !keep {
			if err := s.removeAll(ctx); err != nil {
				s.p.Log.Warn("remembered choices not deleted", "why", err)
			}
		}
		if write == nil {
			write = time.After(saveAfter)
		}
	}
	attend()
	for {
		select {
		case <-ctx.Done():
			s.report(s.save())
			return
		case <-s.wake:
			attend()
		case <-again:
			again = nil
			attend()
		case f := <-s.commands:
			f(ctx)
		case <-write:
			write = nil
			s.report(s.save())
		case <-purge:
			s.purge()
		}
	}
}

func (s *Store) report(err error) {
	if err != nil {
		s.p.Log.Warn("remembered choices not written", "why", err)
	}
}

func (s *Store) setting() (keep, paused bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.keep, s.paused
}

// needsKey reports whether the key is missing although something needs it. Until
// something is chosen, the secret store is not used.
func (s *Store) needsKey() bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.key == nil && !s.paused && s.p.Secrets != nil && !s.file.keepAsIs && len(s.pendingOps)+len(s.choices) > 0
}

// ensureKey fetches the key if numbers cannot be found without it.
func (s *Store) ensureKey(ctx context.Context) (err error) {
	s.mu.RLock()
	need := s.key == nil && len(s.choices) > 0
	s.mu.RUnlock()
	switch {
	case need && s.p.Secrets == nil:
		err = secret.ErrNoStore
	case need:
		err = s.findKey(ctx)
	}
	if err != nil {
		return fmt.Errorf("the key of the remembered choices: %w", err)
	}
	return nil
}

// findKey gets or creates the key in the secret store, and applies what
// was done without it.
func (s *Store) findKey(ctx context.Context) error {
	text, err := s.p.Secrets().Get(ctx, KeyRef())
	key, ok := decodeKey(text)
	if _, paused := s.setting(); paused && (err != nil || !ok || markOf(key) != s.file.keyMark) {
		return cmp.Or(err, secret.ErrNotSet) // in which store the key is may be just as unreadable
	}
	switch {
	case errors.Is(err, secret.ErrNotSet) || err == nil && !ok:
		text = secret.RandomKey()
		if err := s.p.Secrets().Set(ctx, KeyRef(), text); err != nil {
			return err
		}
		key, _ = decodeKey(text)
	case err != nil:
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.key = key
	if mark := markOf(key); s.file.keyMark != mark {
		clear(s.choices) // useless without the key they were hashed with
		s.file.keyMark, s.dirty = mark, true
	}
	for _, o := range s.pendingOps {
		s.apply(o)
	}
	s.pendingOps = nil
	return nil
}

func decodeKey(text string) ([]byte, bool) {
	key, err := base64.RawURLEncoding.DecodeString(text)
	return key, err == nil && len(key) == 32
}

// markOf identifies a key and reveals nothing of it.
func markOf(key []byte) string {
	t := sum(key, "key")
	return base64.RawURLEncoding.EncodeToString(t[:8])
}

func (s *Store) purge() {
	limit := time.Now().Add(-KeepFor)
	err := s.deleteIf(func(_ tag, _ string, c choice) bool { return !c.used.After(limit) })
	if errors.Is(err, errLeftAsIs) {
		err = nil // already reported by load
	}
	s.report(err)
}

// removeAll deletes everything in memory, on disk and in the secret store.
func (s *Store) removeAll(ctx context.Context) error {
	s.mu.Lock()
	s.clear()
	s.key = nil
	s.mu.Unlock()
	had := s.file.keyMark != ""
	err := s.file.remove(s.p.Path)
	if had && s.p.Secrets != nil {
		err = errors.Join(err, s.p.Secrets().Delete(ctx, KeyRef()))
	}
	return err
}
