package secret

import (
	"context"
	"crypto/sha256"
	"errors"
	"sync"
	"time"
)

// retryNext is how long a refused new secret is not used: it may only become valid later.
const retryNext = 10 * time.Minute

// rotatingStore keeps up to two secrets for a client of the hub: the one that has worked and,
// after Renew, a new one. Get returns the new one first, and NoteAnswer reports the result.
// If accepted, it replaces the old one; if refused, the old one is used again, and the new
// one is retried after a while. It wraps every store, and rejects invalid requests.
type rotatingStore struct {
	Store
	now func() time.Time

	mu           sync.Mutex
	lastReturned map[Ref][32]byte // the new secret that Get returned last
	refused      map[Ref]refusal
}

type refusal struct {
	sum [32]byte
	at  time.Time
}

func newRotatingStore(s Store) *rotatingStore {
	return &rotatingStore{Store: s, now: time.Now, lastReturned: map[Ref][32]byte{}, refused: map[Ref]refusal{}}
}

// rotates reports whether a secret can rotate: only the hub's can.
func (r Ref) rotates() bool { return r.kind == "hub" }

func (r Ref) next() Ref {
	r.kind += "-next"
	return r
}

func (r *rotatingStore) Get(ctx context.Context, ref Ref) (string, error) {
	if err := check(ctx, ref); err != nil {
		return "", err
	}
	if !ref.rotates() {
		return r.Store.Get(ctx, ref)
	}
	next, err := r.Store.Get(ctx, ref.next())
	if err != nil && !errors.Is(err, ErrNotSet) {
		return "", err // the other one would not be readable either
	}
	if err == nil && !r.isSuspended(ref, next) {
		r.noteReturned(ref, next)
		return next, nil
	}
	old, err := r.Store.Get(ctx, ref)
	if next != "" && errors.Is(err, ErrNotSet) {
		r.noteReturned(ref, next)
		return next, nil // there is no other
	}
	return old, err
}

// Set stores a secret as the only one.
func (r *rotatingStore) Set(ctx context.Context, ref Ref, secret string) error {
	if err := checkSet(ctx, ref, secret); err != nil {
		return err
	}
	if err := r.Store.Set(ctx, ref, secret); err != nil || !ref.rotates() {
		return err
	}
	return r.Store.Delete(ctx, ref.next())
}

func (r *rotatingStore) Delete(ctx context.Context, ref Ref) error {
	if err := check(ctx, ref); err != nil {
		return err
	}
	err := r.Store.Delete(ctx, ref)
	if ref.rotates() {
		err = errors.Join(err, r.Store.Delete(ctx, ref.next()))
	}
	return err
}

// Pair returns the secret of ref that has worked and the new one beside it, "" for a
// missing one. ErrNotSet means that there is none at all.
func Pair(ctx context.Context, s Store, ref Ref) (old, next string, err error) {
	r, ok := s.(*rotatingStore)
	if !ok || !ref.rotates() {
		old, err = s.Get(ctx, ref)
		return old, "", err
	}
	if next, err = r.Store.Get(ctx, ref.next()); err != nil && !errors.Is(err, ErrNotSet) {
		return "", "", err
	}
	if old, err = r.Store.Get(ctx, ref); next != "" && errors.Is(err, ErrNotSet) {
		err = nil
	}
	return old, next, err
}

func (r *rotatingStore) isSuspended(ref Ref, secret string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	b, ok := r.refused[ref]
	return ok && b.sum == sha256.Sum256([]byte(secret)) && r.now().Sub(b.at) < retryNext
}

func (r *rotatingStore) noteReturned(ref Ref, secret string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lastReturned[ref] = sha256.Sum256([]byte(secret))
}

// Renew stores a new secret for a client of the hub. If there is none yet, or the
// same, it is simply set. Otherwise it is kept beside the old one until it has
// worked once (NoteAnswer), and waiting is true. works tests a new secret that is
// already waiting: if it works, it replaces the old one before the new one takes its
// place; nil stands for "no".
func Renew(ctx context.Context, s Store, ref Ref, secret string, works func(context.Context, string) bool) (waiting bool, err error) {
	r, ok := s.(*rotatingStore)
	if !ok || !ref.rotates() {
		return false, s.Set(ctx, ref, secret)
	}
	if err := checkSet(ctx, ref, secret); err != nil {
		return false, err
	}
	old, err := r.Store.Get(ctx, ref)
	switch StateOf(err) {
	case IsSet:
	case NotSet, Damaged, Exposed:
		return false, r.Set(ctx, ref, secret)
	default:
		return false, err
	}
	if old == secret {
		return false, r.Store.Delete(ctx, ref.next())
	}
	if next, err := r.Store.Get(ctx, ref.next()); err == nil && next != secret && works != nil && works(ctx, next) {
		if err := r.Store.Set(ctx, ref, next); err != nil {
			return false, err
		}
	}
	return true, r.Store.Set(ctx, ref.next(), secret)
}

// NoteAnswer records whether the hub accepted a secret that Get returned. again is true
// if it did not and Get now returns another one. A new secret that worked replaces the old
// one; if this user may not write the store, it stays beside it and is still used first.
func NoteAnswer(ctx context.Context, s Store, ref Ref, secret string, accepted bool) (again bool) {
	r, ok := s.(*rotatingStore)
	if !ok || !ref.rotates() {
		return false
	}
	sum := sha256.Sum256([]byte(secret))
	r.mu.Lock()
	if given, ok := r.lastReturned[ref]; !ok || given != sum {
		r.mu.Unlock()
		return !accepted && r.activate(ctx, ref, secret)
	}
	if accepted {
		delete(r.refused, ref)
	} else {
		r.refused[ref] = refusal{sum, r.now()}
	}
	r.mu.Unlock()
	if !accepted {
		old, err := r.Store.Get(ctx, ref)
		return err == nil && old != secret
	}
	r.takeOver(ctx, ref, secret)
	return false
}

// takeOver replaces the old secret by the new one, unless somebody has replaced both, or
// another program has done so. A still newer one stays beside it.
func (r *rotatingStore) takeOver(ctx context.Context, ref Ref, secret string) {
	next, err := r.Store.Get(ctx, ref.next())
	if err == nil { // in this order there is always a working one
		err = r.Store.Set(ctx, ref, secret)
		if err == nil && next == secret {
			_ = r.Store.Delete(ctx, ref.next()) // if it stays, the next success deletes it
		}
	}
	if err == nil || errors.Is(err, ErrNotSet) {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.lastReturned[ref] == sha256.Sum256([]byte(secret)) { // a still newer one may have been returned
			delete(r.lastReturned, ref)
		}
	}
}

// activate makes a resting new secret usable at once, because the hub has refused the old
// one: most likely the new one has taken effect.
func (r *rotatingStore) activate(ctx context.Context, ref Ref, refused string) bool {
	if old, err := r.Store.Get(ctx, ref); err != nil || old != refused {
		return false // the refused one has been replaced
	}
	next, err := r.Store.Get(ctx, ref.next())
	if err != nil || !r.isSuspended(ref, next) {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.refused, ref)
	return true
}
